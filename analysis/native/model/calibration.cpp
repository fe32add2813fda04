// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "model/differences.hpp"

namespace strata {
namespace {

constexpr int64_t kLeastVotes = 8;
constexpr int64_t kNearest = 10;
constexpr int64_t kBaseNs = 50'000;
constexpr double kClearly = 2.0;
constexpr double kFloorNs = 1'000;
constexpr int64_t kFar = int64_t{1} << 62U;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Offsets with at least half the votes of the best.
struct Run {
  int64_t low;
  int64_t high;
  std::vector<size_t> pairs;  // that meet it, alone of their question
  size_t sure = 0;
  double unsteady = std::numeric_limits<double>::infinity();
  double period = kNan;
  double jitter = kNan;
};

// The pairs of one bin.
class Bin {
 public:
  Bin(std::span<const Pair> pairs, int64_t within_ns)
      : pairs_(pairs), within_ns_(static_cast<double>(within_ns)) {
    const double lasts = static_cast<double>(minus(pairs.back().stamp, pairs.front().stamp));
    loose_ = whole(static_cast<double>(kBaseNs) + lasts * kSlew / 2);
  }

  void choose(Offset& offset);

 private:
  int64_t low(size_t pair) const { return minus(pairs_[pair].low, loose_); }
  int64_t high(size_t pair) const { return plus(pairs_[pair].high, loose_); }
  void vote();
  void meet();
  void measure(Run& run) const;
  const Run* winner();

  std::span<const Pair> pairs_;
  double within_ns_;
  int64_t loose_;
  std::vector<Run> runs_;
  size_t asked_ = 0;
};

void Bin::vote() {
  struct Step {
    int64_t point;
    int64_t votes;
  };
  std::vector<Step> steps;
  steps.reserve(2 * pairs_.size());
  for (size_t pair = 0; pair < pairs_.size(); ++pair) {
    steps.push_back({low(pair), 1});
    steps.push_back({high(pair), -1});
  }
  std::ranges::sort(steps, [](const Step& a, const Step& b) {
    return a.point != b.point ? a.point < b.point : a.votes > b.votes;
  });
  int64_t votes = 0, best = 0;
  for (const Step& step : steps) best = std::max(best, votes += step.votes);
  const double enough = std::max(static_cast<double>(best) / 2, static_cast<double>(kLeastVotes));
  votes = 0;
  bool is_run = false;
  for (const Step& step : steps) {
    votes += step.votes;
    const bool is_high = static_cast<double>(votes) >= enough;
    if (is_high && !is_run) runs_.push_back({.low = step.point, .high = step.point, .pairs = {}});
    if (!is_high && is_run) runs_.back().high = step.point;
    is_run = is_high;
  }
}

// Runs are apart: those that a pair meets are neighbours. A question that a run answers twice says
// nothing about it. Pairs of a question follow each other.
void Bin::meet() {
  for (size_t begin = 0; begin < pairs_.size();) {
    size_t end = begin;
    while (end < pairs_.size() && pairs_[end].question == pairs_[begin].question) ++end;
    ++asked_;
    for (size_t pair = begin; pair < end; ++pair) {
      const auto first = std::ranges::lower_bound(runs_, low(pair), {}, &Run::high);
      for (auto run = first; run != runs_.end() && run->low <= high(pair); ++run) {
        run->pairs.push_back(pair);
      }
    }
    for (Run& run : runs_) {
      size_t own = 0;
      while (own < run.pairs.size() && run.pairs[run.pairs.size() - 1 - own] >= begin) ++own;
      if (own > 1) run.pairs.resize(run.pairs.size() - own);
    }
    begin = end;
  }
}

void Bin::measure(Run& run) const {
  std::vector<size_t> order = run.pairs;
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    const Pair &one = pairs_[a], &other = pairs_[b];
    return one.group != other.group ? one.group < other.group : one.stamp < other.stamp;
  });
  std::vector<double> unsteady, periods, jitters;
  double last_period = kNan;
  for (size_t i = 0; i < order.size(); ++i) {
    const Pair& pair = pairs_[order[i]];
    run.sure += pair.sure ? 1 : 0;
    if (i == 0 || pairs_[order[i - 1]].group != pair.group) {
      last_period = kNan;
      continue;
    }
    const Pair& before = pairs_[order[i - 1]];
    const auto residual = [](const Pair& of) {
      return static_cast<double>(minus(of.stamp, of.publish_ns));
    };
    unsteady.push_back(std::abs(residual(pair) - residual(before)));
    const double period =
        static_cast<double>(pair.publish_ns) - static_cast<double>(before.publish_ns);
    periods.push_back(std::abs(period));
    if (!std::isnan(last_period)) jitters.push_back(std::abs(period - last_period));
    last_period = period;
  }
  if (!unsteady.empty()) run.unsteady = median(unsteady);
  run.period = median(periods);
  run.jitter = median(jitters);
}

// The run that is the true offset; null where none is clearly.
const Run* Bin::winner() {
  std::vector<const Run*> ranked;
  for (Run& run : runs_) {
    measure(run);
    ranked.push_back(&run);
  }
  if (ranked.empty()) return nullptr;
  std::ranges::stable_sort(ranked, [](const Run* a, const Run* b) {
    return a->sure != b->sure ? a->sure > b->sure : a->unsteady < b->unsteady;
  });
  const Run& best = *ranked.front();
  const double limit = kClearly * (best.unsteady + kFloorNs);
  bool is_good = best.sure > 0;
  if (ranked.size() > 1 && ranked[1]->sure == 0) {
    // A rival that the period's jitter does not make unsteady is so by chance.
    const bool is_by_chance = ranked[1]->jitter < best.unsteady + kFloorNs;
    is_good = is_good || (ranked[1]->unsteady >= limit && !is_by_chance);
  }
  const bool is_steady = best.jitter >= limit;
  const bool is_apart = !(best.period <= within_ns_);
  is_good = is_good || (ranked.size() == 1 && (is_steady || is_apart));
  const double enough = std::max(static_cast<double>(asked_) / 2, static_cast<double>(kLeastVotes));
  return is_good && static_cast<double>(best.pairs.size()) >= enough ? &best : nullptr;
}

void Bin::choose(Offset& offset) {
  vote();
  meet();
  const Run* won = winner();
  if (won == nullptr) return;
  std::vector<double> highs;
  for (const size_t pair : won->pairs) highs.push_back(static_cast<double>(pairs_[pair].high));
  if (highs.empty()) return;
  const int64_t usual = whole(median(highs));
  for (const size_t pair : won->pairs) {
    const Pair& own = pairs_[pair];
    // Far above the others it is a pair whose true publication was lost, with the one before that.
    if (minus(own.high, usual) <= loose_) offset.add({own.stamp, own.low, own.high});
  }
}

}  // namespace

double median(std::vector<double>& values) {
  if (values.empty()) return kNan;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::pair<int64_t, int64_t> Offset::at(int64_t stamp) const {
  const auto last = static_cast<int64_t>(bounds_.size()) - 1;
  const auto place = static_cast<int64_t>(
      std::ranges::lower_bound(bounds_, stamp, {}, &Bound::stamp) - bounds_.begin());
  int64_t low = -kFar, high = kFar, least = kFar, greatest = -kFar;
  for (int64_t step = -kNearest; step < kNearest; ++step) {
    const Bound& near = bounds_[static_cast<size_t>(std::clamp<int64_t>(place + step, 0, last))];
    const int64_t apart = minus(near.stamp, stamp);
    const int64_t slew = slewed(apart < 0 ? minus(0, apart) : apart);
    low = std::max(low, minus(near.low, slew));
    high = std::min(high, plus(near.high, slew));
    least = std::min(least, minus(minus(near.high, slew), kBaseNs));
    greatest = std::max(greatest, plus(near.high, slew));
  }
  return low <= high ? std::pair{low, high} : std::pair{least, greatest};
}

void calibrate(std::vector<Pair>& pairs, int64_t within_ns, Offset& offset) {
  std::ranges::stable_sort(pairs, {}, &Pair::stamp);
  const auto is_new = [&](size_t pair) {
    return pair == 0 || pairs[pair].question != pairs[pair - 1].question;
  };
  size_t count = 0;
  for (size_t pair = 0; pair < pairs.size(); ++pair) count += is_new(pair) ? 1 : 0;
  size_t begin = 0, question = 0;
  for (size_t pair = 0; pair < pairs.size(); ++pair) {
    if (!is_new(pair)) continue;
    if (pair > 0 && bin_of(question, count) != bin_of(question - 1, count)) {
      Bin({pairs.data() + begin, pair - begin}, within_ns).choose(offset);
      begin = pair;
    }
    ++question;
  }
  if (begin < pairs.size()) {
    Bin({pairs.data() + begin, pairs.size() - begin}, within_ns).choose(offset);
  }
}

}  // namespace strata
