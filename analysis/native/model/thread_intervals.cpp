// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/thread_intervals.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>

namespace strata {
namespace {

// Spans of threads in order of thread and begin; equal ones keep their order.
class SpansByThread {
 public:
  explicit SpansByThread(const Spans& spans) : spans_(spans) {
    const auto key = [&](size_t row) { return std::tie(spans.group[row], spans.begin_ns[row]); };
    for (size_t row = 1; row < spans.size() && is_ordered_; ++row) {
      is_ordered_ = key(row - 1) <= key(row);
    }
    if (is_ordered_) return;
    rows_.resize(spans.size());
    std::iota(rows_.begin(), rows_.end(), size_t{0});
    std::ranges::stable_sort(rows_, {}, key);
  }

  size_t size() const { return spans_.size(); }
  int64_t thread(size_t place) const { return spans_.group[row(place)]; }
  int64_t begin_ns(size_t place) const { return spans_.begin_ns[row(place)]; }
  int64_t end_ns(size_t place) const { return spans_.end_ns[row(place)]; }
  // The first place of a thread that is not less.
  size_t first_of(int64_t thread) const {
    size_t low = 0, high = size();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (this->thread(middle) < thread) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

 private:
  size_t row(size_t place) const { return is_ordered_ ? place : rows_[place]; }

  const Spans& spans_;
  bool is_ordered_ = true;
  Many<size_t> rows_;
};

// Which spans of a thread an instant lies in; asked mostly in order of time.
class Within {
 public:
  Within(const SpansByThread& spans, size_t thread)
      : spans_(spans),
        first_(spans.first_of(static_cast<int64_t>(thread))),
        end_(spans.first_of(static_cast<int64_t>(thread) + 1)),
        next_(first_) {}

  bool contains(int64_t at_ns) {
    while (next_ < end_ && spans_.begin_ns(next_) <= at_ns) ++next_;
    while (next_ > first_ && spans_.begin_ns(next_ - 1) > at_ns) --next_;
    return next_ > first_ && spans_.end_ns(next_ - 1) > at_ns;
  }

 private:
  const SpansByThread& spans_;
  size_t first_, end_;
  size_t next_;  // the first span that begins after the instant that was asked for last
};

}  // namespace

void ThreadIntervals::add(size_t thread, const Interval& only) {
  own_.emplace_back().add(only);
  of_[thread].push_back(&own_.back());
}

size_t ThreadIntervals::count(size_t thread) const {
  size_t count = 0;
  for (const IntervalLog* log : of_[thread]) count += log->size();
  return count;
}

int64_t ThreadIntervals::length_ns(size_t thread) const {
  int64_t length_ns = 0;
  for (const IntervalLog* log : of_[thread]) length_ns = plus(length_ns, log->length_ns());
  return length_ns;
}

int64_t ThreadIntervals::within(size_t thread, int64_t begin_ns, int64_t end_ns) const {
  int64_t length_ns = 0;
  for (const IntervalLog* log : of_[thread]) {
    length_ns = plus(length_ns, log->within(begin_ns, end_ns));
  }
  return length_ns;
}

int64_t ThreadIntervals::first_ns(size_t thread) const {
  int64_t first_ns = kNone;
  for (const IntervalLog* log : of_[thread]) {
    if (first_ns == kNone || log->first_ns() < first_ns) first_ns = log->first_ns();
  }
  return first_ns;
}

int64_t ThreadIntervals::last_ns(size_t thread) const {
  int64_t last_ns = kNone;
  for (const IntervalLog* log : of_[thread]) last_ns = std::max(last_ns, log->last_ns());
  return last_ns;
}

Clock ThreadIntervals::clock(Ints lane_of) const {
  std::map<int64_t, std::vector<size_t>> lanes;
  size_t count = 0;
  for (size_t thread = 0; thread < std::min(threads(), lane_of.size()); ++thread) {
    if (of_[thread].empty()) continue;
    lanes[lane_of[thread]].push_back(thread);
    count += this->count(thread);
  }
  Clock clock;
  clock.reserve(count);
  for (const auto& [lane, own] : lanes) add_lane(clock, lane, own);
  return clock;
}

// Logs of a lane merged by begin; of one instant in the order of their threads.
void ThreadIntervals::add_lane(Clock& clock, int64_t lane,
                               const std::vector<size_t>& threads) const {
  std::vector<IntervalLog::Cursor> cursors;
  for (const size_t thread : threads) {
    for (const IntervalLog* log : of_[thread]) cursors.emplace_back(*log);
  }
  if (cursors.size() == 1) {
    while (!cursors[0].is_over()) {
      const Interval next = cursors[0].next();
      clock.add(lane, next.start_ns, next.end_ns);
    }
    return;
  }
  using Next = std::tuple<int64_t, size_t, int64_t>;  // start, cursor, end
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  const auto push = [&](size_t number) {
    if (cursors[number].is_over()) return;
    const Interval next = cursors[number].next();
    queue.emplace(next.start_ns, number, next.end_ns);
  };
  for (size_t number = 0; number < cursors.size(); ++number) push(number);
  while (!queue.empty()) {
    const auto [start_ns, number, end_ns] = queue.top();
    queue.pop();
    clock.add(lane, start_ns, end_ns);
    push(number);
  }
}

ThreadIntervals ThreadIntervals::outside(const Spans& spans) const {
  require_one_length({{spans.group, spans.begin_ns, spans.end_ns}});
  const SpansByThread ordered(spans);
  ThreadIntervals found(threads());
  for (size_t thread = 0; thread < threads(); ++thread) {
    for (const IntervalLog* log : of_[thread]) {
      IntervalLog kept;
      Within own(ordered, thread);
      size_t passed = 0;  // that are outside, before the first that is not
      bool all = true;
      for (IntervalLog::Cursor cursor(*log); !cursor.is_over();) {
        const Interval next = cursor.next();
        const bool is_inside = own.contains(next.start_ns);
        if (all && !is_inside) {
          ++passed;
          continue;
        }
        if (all) {
          IntervalLog::Cursor again(*log);
          for (size_t row = 0; row < passed; ++row) kept.add(again.next());
          all = false;
        }
        if (!is_inside) kept.add(next);
      }
      if (all) {
        found.add(thread, *log);
      } else if (kept.size() > 0) {
        found.own_.push_back(std::move(kept));
        found.of_[thread].push_back(&found.own_.back());
      }
    }
  }
  return found;
}

}  // namespace strata
