// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "stats/summary.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "stats/ascending.hpp"
#include "stats/selection.hpp"

namespace strata::stats {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// NumPy sums blocks of so many with eight accumulators, and halves what is longer.
constexpr size_t kBlock = 128;

template <typename Item>
double pairwise_sum(size_t begin, size_t count, const Item& item) {
  if (count < 8) {
    double sum = 0;
    for (size_t i = begin; i < begin + count; ++i) sum += item(i);
    return sum;
  }
  if (count <= kBlock) {
    double part[8];
    for (size_t k = 0; k < 8; ++k) part[k] = item(begin + k);
    const size_t whole = count - count % 8;
    for (size_t i = 8; i < whole; i += 8) {
      for (size_t k = 0; k < 8; ++k) part[k] += item(begin + i + k);
    }
    double sum =
        ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    for (size_t i = whole; i < count; ++i) sum += item(begin + i);
    return sum;
  }
  const size_t half = count / 2 - count / 2 % 8;
  return pairwise_sum(begin, half, item) + pairwise_sum(begin + half, count - half, item);
}

// The 128 bits of a sum of at most 2^32 int64.
__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

// The quotient rounded once to the nearest, ties to even.
double exact_mean(Wide sum, size_t count) {
  constexpr Wide kExact = Wide{1} << 53;
  if (-kExact <= sum && sum <= kExact) {
    return static_cast<double>(static_cast<int64_t>(sum)) / static_cast<double>(count);
  }
  // 60 bits of the quotient or more, and in the last bit whether anything is left: what is rounded
  // off is never taken for a tie.
  auto rest = static_cast<UnsignedWide>(sum < 0 ? -sum : sum);
  const auto high = static_cast<uint64_t>(rest >> 64);
  const int bits = high ? 64 + static_cast<int>(std::bit_width(high))
                        : static_cast<int>(std::bit_width(static_cast<uint64_t>(rest)));
  const int shift = std::max(0, 60 - bits + static_cast<int>(std::bit_width(count)));
  rest <<= shift;
  auto quotient = static_cast<uint64_t>(rest / count);
  if (rest % count != 0) quotient |= 1;
  const double size = std::ldexp(static_cast<double>(quotient), -shift);
  return sum < 0 ? -size : size;
}

double distance(int64_t low, int64_t high) {
  // Beyond 64 bits it wraps around, as NumPy's does.
  return static_cast<double>(
      static_cast<int64_t>(static_cast<uint64_t>(high) - static_cast<uint64_t>(low)));
}
double distance(double low, double high) { return high - low; }

// Type 7; `at` gives the value of a rank, of `count` values.
template <typename At>
double quantile(size_t count, double fraction, const At& at) {
  const auto last = static_cast<double>(count - 1);
  const double place = last * fraction;
  if (place >= last) return static_cast<double>(at(count - 1));
  const auto below = static_cast<size_t>(place);
  const auto low = at(below), high = at(below + 1);
  const double part = place - std::floor(place), step = distance(low, high);
  return part >= 0.5 ? static_cast<double>(high) - step * (1 - part)
                     : static_cast<double>(low) + step * part;
}

// The ranks that quantiles of `count` values are made of, ascending; those of the median, too.
std::vector<size_t> ranks_of(size_t count, std::span<const double> fractions) {
  std::vector<size_t> ranks;
  const auto note = [&](size_t rank) {
    ranks.push_back(rank);
    return int64_t{0};
  };
  quantile(count, 0.5, note);
  for (const double fraction : fractions) quantile(count, fraction, note);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// The median of the distances from `middle`, of values in ascending order: from the middle outwards
// the distances to either side ascend.
template <typename Value>
double median_distance(std::span<const Value> ordered, double middle) {
  const auto first_above =
      std::partition_point(ordered.begin(), ordered.end(),
                           [middle](Value value) { return static_cast<double>(value) < middle; });
  auto above = static_cast<size_t>(first_above - ordered.begin());
  size_t below = above;
  const auto next = [&] {
    const double up = above < ordered.size() ? static_cast<double>(ordered[above]) - middle
                                             : std::numeric_limits<double>::infinity();
    if (below > 0) {
      const double down = std::abs(static_cast<double>(ordered[below - 1]) - middle);
      if (down < up || above == ordered.size()) {
        --below;
        return down;
      }
    }
    ++above;
    return up;
  };
  const size_t count = ordered.size();
  double before = 0, found = 0;
  for (size_t i = 0; i <= count / 2; ++i) {
    before = found;
    found = next();
  }
  return count % 2 ? found : (before + found) / 2;
}

template <typename Value>
void require_length(const Groups& groups, const Values<Value>& of) {
  const bool fits =
      of.values.size() == groups.rows() && (of.there.empty() || of.there.size() == groups.rows());
  if (!fits) throw std::invalid_argument("a column has another length than its groups");
}

template <typename Value>
class Gatherer {
 public:
  Gatherer(const Groups& groups, const Values<Value>& of) : groups_(groups), of_(of) {
    require_length(groups, of);
    buffer_.resize(groups.largest());
  }

  // The values of a group in the order of its rows.
  std::span<Value> gather(size_t group) {
    size_t count = 0;
    groups_.each(group, [&](size_t row) {
      const Value value = of_.values[row];
      if (of_.absent && value == *of_.absent) return;
      if (!of_.there.empty() && !of_.there[row]) return;
      if constexpr (std::is_floating_point_v<Value>) {
        if (std::isnan(value)) return;
      }
      buffer_[count++] = value;
    });
    return {buffer_.data(), count};
  }

 private:
  const Groups& groups_;
  const Values<Value>& of_;
  std::vector<Value> buffer_;
};

double mean(std::span<const int64_t> values, int64_t& total) {
  Wide sum = 0;
  for (const int64_t value : values) sum += value;
  total = static_cast<int64_t>(static_cast<uint64_t>(static_cast<UnsignedWide>(sum)));
  return exact_mean(sum, values.size());
}

double mean(std::span<const double> values, double& total) {
  total = pairwise_sum(0, values.size(), [&](size_t i) { return values[i]; });
  return total / static_cast<double>(values.size());
}

template <typename Value>
double deviation(std::span<const Value> values, double mean) {
  if (values.size() < 2) return kNan;
  const double squares = pairwise_sum(0, values.size(), [&](size_t i) {
    const double apart = static_cast<double>(values[i]) - mean;
    return apart * apart;
  });
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// Writes what the order of one group's values tells.
template <typename Value>
class Orderly {
 public:
  Orderly(Summary<Value>& out, std::span<const double> fractions)
      : out_(out), fractions_(fractions) {}

  // Reorders `values`.
  void write(size_t group, std::span<Value> values) {
    if constexpr (std::is_same_v<Value, int64_t>) {
      const bool few = 2 * fractions_.size() + 2 <= Selector::kMostRanks;
      if (values.size() >= kManyValues && few) return select(group, values);
    }
    selector_.sorter().sort(values);
    const std::span<const Value> ordered = values;
    const auto at = [ordered](size_t rank) { return ordered[rank]; };
    out_.low[group] = ordered.front();
    out_.high[group] = ordered.back();
    const double median = write_quantiles(group, ordered.size(), at);
    out_.mad[group] = median_distance(ordered, median);
  }

 private:
  void select(size_t group, std::span<const int64_t> values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const auto least = static_cast<uint64_t>(*low);
    out_.low[group] = *low;
    out_.high[group] = *high;
    const size_t count = values.size();
    const std::vector<size_t> ranks = ranks_of(count, fractions_);
    const std::vector<int64_t> found = selector_.template select<int64_t>(
        count, ranks, [&](size_t i) { return static_cast<uint64_t>(values[i]) - least; },
        [&](size_t i) { return values[i]; });
    const double median = write_quantiles(group, count, [&](size_t rank) {
      const auto place = std::lower_bound(ranks.begin(), ranks.end(), rank);
      return found[static_cast<size_t>(place - ranks.begin())];
    });
    const auto apart = [&](size_t i) { return std::abs(static_cast<double>(values[i]) - median); };
    const std::array<size_t, 2> middle{(count - 1) / 2, count / 2};
    const std::vector<double> of = selector_.template select<double>(count, middle, apart, apart);
    out_.mad[group] = count % 2 ? of[0] : (of[0] + of[1]) / 2;
  }

  // Returns the median.
  template <typename At>
  double write_quantiles(size_t group, size_t count, const At& at) {
    for (size_t i = 0; i < fractions_.size(); ++i) {
      out_.quantiles[i][group] = quantile(count, fractions_[i], at);
    }
    return quantile(count, 0.5, at);
  }

  Summary<Value>& out_;
  std::span<const double> fractions_;
  Selector selector_;
};

}  // namespace

template <typename Value>
Summary<Value> summarize(const Groups& groups, const Values<Value>& of,
                         std::span<const double> fractions) {
  for (const double fraction : fractions) {
    if (!(fraction >= 0 && fraction <= 1)) throw std::invalid_argument("a fraction outside 0..1");
  }
  const size_t count = groups.count();
  Gatherer<Value> gatherer(groups, of);
  Summary<Value> out{
      std::vector<int64_t>(count, 0),   std::vector<Value>(count, 0),
      std::vector<Value>(count, 0),     std::vector<Value>(count, 0),
      std::vector<double>(count, kNan), std::vector<double>(count, kNan),
      std::vector<double>(count, kNan), {fractions.size(), std::vector<double>(count, kNan)}};
  Orderly<Value> orderly(out, fractions);
  for (size_t group = 0; group < count; ++group) {
    const std::span<Value> values = gatherer.gather(group);
    if (values.empty()) continue;
    out.count[group] = static_cast<int64_t>(values.size());
    out.mean[group] = mean(std::span<const Value>(values), out.sum[group]);
    out.deviation[group] = deviation<Value>(values, out.mean[group]);
    orderly.write(group, values);
  }
  return out;
}

template <typename Value>
std::vector<Value> ascending(const Groups& groups, const Values<Value>& of,
                             std::vector<int64_t>& sizes) {
  Gatherer<Value> gatherer(groups, of);
  Sorter sorter;
  std::vector<Value> out;
  out.reserve(groups.rows());
  sizes.assign(groups.count(), 0);
  for (size_t group = 0; group < groups.count(); ++group) {
    const std::span<Value> values = gatherer.gather(group);
    sorter.sort(values);
    sizes[group] = static_cast<int64_t>(values.size());
    out.insert(out.end(), values.begin(), values.end());
  }
  return out;
}

template Summary<int64_t> summarize(const Groups&, const Values<int64_t>&, std::span<const double>);
template Summary<double> summarize(const Groups&, const Values<double>&, std::span<const double>);
template std::vector<int64_t> ascending(const Groups&, const Values<int64_t>&,
                                        std::vector<int64_t>&);
template std::vector<double> ascending(const Groups&, const Values<double>&, std::vector<int64_t>&);

}  // namespace strata::stats
