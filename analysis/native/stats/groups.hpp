// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Rows by group: made once, then used for many columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace strata::stats {

class Groups {
 public:
  // Most rows that there can be: their numbers are kept in 32 bits.
  static constexpr size_t kMostRows = std::numeric_limits<uint32_t>::max();

  // `codes` has the group of each row, from 0; a row of another number is in none.
  Groups(std::span<const int64_t> codes, size_t count);
  // All rows are of one group.
  static Groups one(size_t rows);

  size_t count() const { return begins_.size() - 1; }
  // How many values a column has.
  size_t rows() const { return rows_; }
  size_t size(size_t group) const { return begins_[group + 1] - begins_[group]; }
  size_t largest() const;

  // Calls `visit(row)` for each row of a group, in the order of the rows.
  template <typename Visit>
  void each(size_t group, Visit&& visit) const {
    for (size_t i = begins_[group]; i < begins_[group + 1]; ++i) visit(row(i));
  }

  // The rows of all groups, one group after the other.
  void copy_rows(int64_t* out) const;

 private:
  Groups() = default;
  size_t row(size_t place) const { return in_order_ ? first_ + place : order_[place]; }

  size_t rows_ = 0;
  std::vector<size_t> begins_;
  // Rows of one group follow each other and groups ascend: place i has the row first_ + i.
  bool in_order_ = false;
  size_t first_ = 0;
  std::vector<uint32_t> order_;
};

}  // namespace strata::stats
