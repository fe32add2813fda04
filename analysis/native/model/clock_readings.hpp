// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// One lane of a clock, asked of instants that lie close to each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "model/clocks.hpp"

namespace strata {

class LaneReading {
 public:
  LaneReading(const Clock& clock, int64_t lane)
      : clock_(clock), own_(clock.rows_of(lane)), begun_(own_.begin) {}

  // The row behind the last that began at an instant or before it.
  size_t begun(int64_t at_ns) {
    constexpr size_t kNear = 8;
    for (size_t step = 0; step < kNear; ++step) {
      if (begun_ < own_.end && clock_.start_ns(begun_) <= at_ns) {
        ++begun_;
      } else if (begun_ > own_.begin && clock_.start_ns(begun_ - 1) > at_ns) {
        --begun_;
      } else {
        return begun_;
      }
    }
    size_t low = own_.begin, high = own_.end;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (clock_.start_ns(middle) <= at_ns) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return begun_ = low;
  }
  bool has_begun(size_t begun) const { return begun > own_.begin; }

  int64_t elapsed(int64_t at_ns) {
    const size_t rows = begun(at_ns);
    if (!has_begun(rows)) return clock_.before_ns(rows);
    const int64_t end_ns = clock_.end_ns(rows - 1);
    return minus(clock_.before_ns(rows), end_ns > at_ns ? minus(end_ns, at_ns) : 0);
  }
  int64_t within(int64_t begin_ns, int64_t end_ns) {
    const int64_t before = elapsed(begin_ns);
    return minus(elapsed(end_ns), before);
  }
  // When the last interval up to an instant ended; kNone where none did.
  int64_t last_end(int64_t at_ns) {
    size_t rows = begun(at_ns);
    if (has_begun(rows) && clock_.end_ns(rows - 1) > at_ns) --rows;
    return has_begun(rows) ? clock_.end_ns(rows - 1) : kNone;
  }

 private:
  const Clock& clock_;
  Groups::Range own_;
  size_t begun_;
};

// The same of two clocks at once.
class OverlapReading {
 public:
  OverlapReading(const Overlap& both, const Clock& outer, int64_t outer_lane, const Clock& inner,
                 int64_t inner_lane)
      : both_(both), clock_(outer), outer_(outer, outer_lane), inner_(inner, inner_lane) {}

  int64_t elapsed(int64_t at_ns) {
    const size_t rows = outer_.begun(at_ns);
    const int64_t before = both_.before_ns(rows);
    if (!outer_.has_begun(rows)) return before;
    const int64_t end_ns = clock_.end_ns(rows - 1);
    return minus(before, end_ns > at_ns ? inner_.within(at_ns, end_ns) : 0);
  }
  int64_t within(int64_t begin_ns, int64_t end_ns) {
    const int64_t before = elapsed(begin_ns);
    return minus(elapsed(end_ns), before);
  }

 private:
  const Overlap& both_;
  const Clock& clock_;
  LaneReading outer_;
  LaneReading inner_;
};

}  // namespace strata
