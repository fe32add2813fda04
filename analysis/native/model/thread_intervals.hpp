// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What threads spent their time with, as intervals of each: waits for work, for a mutex.
//
//   thread 0   [----]   [--]      [------]     of one log or several; those of a log do not overlap
//   thread 1        [--------]
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "model/clocks.hpp"
#include "model/interval_log.hpp"

namespace strata {

// The logs are kept by whoever made them, and do not change any more.
class ThreadIntervals {
 public:
  explicit ThreadIntervals(size_t threads) : of_(threads) {}
  ThreadIntervals(ThreadIntervals&&) = default;

  size_t threads() const { return of_.size(); }
  void add(size_t thread, const IntervalLog& log) {
    if (log.size() > 0) of_[thread].push_back(&log);
  }
  // The only interval of a log of its own.
  void add(size_t thread, const Interval& only);

  size_t count(size_t thread) const;
  int64_t length_ns(size_t thread) const;
  int64_t within(size_t thread, int64_t begin_ns, int64_t end_ns) const;
  // kNone for a thread without intervals.
  int64_t first_ns(size_t thread) const;
  int64_t last_ns(size_t thread) const;

  template <typename Visitor>
  void each(size_t thread, Visitor&& visit) const {
    for (const IntervalLog* log : of_[thread]) {
      for (IntervalLog::Cursor cursor(*log); !cursor.is_over();) visit(cursor.next());
    }
  }

  // Those of all threads of each lane; `lane_of` has one a thread.
  Clock clock(Ints lane_of) const;
  // Those that do not begin within the last of some spans of their thread that began until then.
  // Throws std::invalid_argument for columns of different lengths.
  ThreadIntervals outside(const Spans& spans) const;

 private:
  void add_lane(Clock& clock, int64_t lane, const std::vector<size_t>& threads) const;

  std::vector<std::vector<const IntervalLog*>> of_;
  std::deque<IntervalLog> own_;
};

}  // namespace strata
