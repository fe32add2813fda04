// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// How long something had been going on by an instant, over columns of intervals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/column.hpp"
#include "model/differences.hpp"
#include "storage/many.hpp"

namespace strata {

using Ints = std::span<const int64_t>;

// Columns of intervals by group: of threads, executors or CPUs.
struct Spans {
  Ints group;
  Ints begin_ns;
  Ints end_ns;

  size_t size() const { return group.size(); }
};

// Throws std::invalid_argument for columns of different lengths.
void require_one_length(std::span<const Ints> columns);

// Groups of ordered rows: where the rows of a group begin and end.
class Groups {
 public:
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };

  // `ordered` has the group of each row, in ascending order.
  explicit Groups(Ints ordered);

  // For groups that come one after the other, in ascending order.
  Groups() : first_{0} {}
  void add_rows(int64_t group, size_t count);

  // An empty range for a group without rows.
  Range of(int64_t group) const;
  // The group of a row.
  int64_t group_of(size_t row) const {
    const auto after = std::ranges::upper_bound(first_, row);
    return groups_[static_cast<size_t>(after - first_.begin()) - 1];
  }

 private:
  Many<int64_t> groups_;
  Many<size_t> first_;
};

// Intervals by lane and time; those of a lane that overlap are one.
class Clock {
 public:
  Clock() = default;
  explicit Clock(const Spans& spans);

  void reserve(size_t intervals) {
    start_ns_.reserve(intervals);
    before_.reserve(intervals + 1);
  }
  // The next interval by lane and begin.
  void add(int64_t lane, int64_t begin_ns, int64_t end_ns);

  size_t size() const { return start_ns_.size(); }
  int64_t lane(size_t row) const { return groups_.group_of(row); }
  int64_t start_ns(size_t row) const { return start_ns_[row]; }
  int64_t end_ns(size_t row) const {
    return plus(start_ns_[row], minus(before_[row + 1], before_[row]));
  }
  // The length of all rows before one; of the row behind the last, of all.
  int64_t before_ns(size_t row) const { return before_[row]; }
  Groups::Range rows_of(int64_t lane) const { return groups_.of(lane); }

  bool knows(int64_t lane) const {
    const Groups::Range own = groups_.of(lane);
    return own.begin < own.end;
  }
  // Rows of a lane that began at an instant or before it.
  Groups::Range begun(int64_t lane, int64_t at_ns) const;
  // The length of a lane's intervals up to an instant, since a fixed one.
  int64_t elapsed(int64_t lane, int64_t at_ns) const;
  int64_t within(int64_t lane, int64_t begin_ns, int64_t end_ns) const {
    return minus(elapsed(lane, end_ns), elapsed(lane, begin_ns));
  }

 private:
  Many<int64_t> start_ns_;
  Many<int64_t> before_{0};  // the length of all rows before each, and of all
  Groups groups_;
  int64_t lane_ = kNone;  // of the last row
};

// How long two clocks went at once. Each lane of `outer` goes with one of `inner`, which
// `inner_of` has by the number of the outer lane; kNone goes with none.
class Overlap {
 public:
  Overlap(const Clock& outer, const Clock& inner, Ints inner_of);

  int64_t within(int64_t outer, int64_t inner, int64_t begin_ns, int64_t end_ns) const {
    return minus(elapsed(outer, inner, end_ns), elapsed(outer, inner, begin_ns));
  }
  // How long both went in all rows of `outer` before one.
  int64_t before_ns(size_t row) const { return before_[row]; }

 private:
  int64_t elapsed(int64_t outer, int64_t inner, int64_t at_ns) const;

  const Clock& outer_;
  const Clock& inner_;
  Many<int64_t> before_;
};

// Intervals of groups that do not overlap in a group; those without a length are left out.
class Pieces {
 public:
  explicit Pieces(const Spans& spans);

  // Calls `visit(row, begin_ns, end_ns)` for each that overlaps, in order of time, with what is in.
  template <typename Visitor>
  void each_within(int64_t group, int64_t begin_ns, int64_t end_ns, Visitor&& visit) const {
    const Groups::Range own = groups_.of(group);
    for (size_t at = first_ending_after(own, begin_ns); at < own.end; ++at) {
      if (start_ns_[at] >= end_ns) return;
      const int64_t from_ns = start_ns_[at] > begin_ns ? start_ns_[at] : begin_ns;
      const int64_t until_ns = end_ns_[at] < end_ns ? end_ns_[at] : end_ns;
      visit(row_[at], from_ns, until_ns);
    }
  }

 private:
  size_t first_ending_after(Groups::Range own, int64_t at_ns) const;

  Many<size_t> row_;
  Many<int64_t> group_;
  Many<int64_t> start_ns_;
  Many<int64_t> end_ns_;
  Groups groups_;
};

}  // namespace strata
