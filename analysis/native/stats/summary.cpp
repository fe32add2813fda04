// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "stats/summary.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "stats/ascending.hpp"

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

// Type 7, from values in ascending order.
template <typename Value>
double quantile(std::span<const Value> ordered, double fraction) {
  const auto last = static_cast<double>(ordered.size() - 1);
  const double place = last * fraction;
  if (place >= last) return static_cast<double>(ordered.back());
  const auto below = static_cast<size_t>(place);
  const Value low = ordered[below], high = ordered[below + 1];
  const double part = place - std::floor(place), step = distance(low, high);
  return part >= 0.5 ? static_cast<double>(high) - step * (1 - part)
                     : static_cast<double>(low) + step * part;
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

}  // namespace

template <typename Value>
Summary<Value> summarize(const Groups& groups, const Values<Value>& of,
                         std::span<const double> fractions) {
  for (const double fraction : fractions) {
    if (!(fraction >= 0 && fraction <= 1)) throw std::invalid_argument("a fraction outside 0..1");
  }
  const size_t count = groups.count();
  Gatherer<Value> gatherer(groups, of);
  Sorter sorter;
  Summary<Value> out{
      std::vector<int64_t>(count, 0),   std::vector<Value>(count, 0),
      std::vector<Value>(count, 0),     std::vector<Value>(count, 0),
      std::vector<double>(count, kNan), std::vector<double>(count, kNan),
      std::vector<double>(count, kNan), {fractions.size(), std::vector<double>(count, kNan)}};
  for (size_t group = 0; group < count; ++group) {
    const std::span<Value> values = gatherer.gather(group);
    if (values.empty()) continue;
    out.count[group] = static_cast<int64_t>(values.size());
    out.mean[group] = mean(std::span<const Value>(values), out.sum[group]);
    out.deviation[group] = deviation<Value>(values, out.mean[group]);
    sorter.sort(values);
    const std::span<const Value> ordered = values;
    out.low[group] = ordered.front();
    out.high[group] = ordered.back();
    out.mad[group] = median_distance(ordered, quantile(ordered, 0.5));
    for (size_t i = 0; i < fractions.size(); ++i) {
      out.quantiles[i][group] = quantile(ordered, fractions[i]);
    }
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
