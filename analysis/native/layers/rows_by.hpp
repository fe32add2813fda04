// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The rows of each owner, in their order: a counting sort.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>

#include "model/clocks.hpp"
#include "storage/many.hpp"

namespace strata {

using Flags = std::span<const uint8_t>;

inline bool is_row(int64_t row, size_t count) {
  return row >= 0 && static_cast<uint64_t>(row) < count;
}

// `column[row]`; null for what is no row of it.
inline int64_t pick(Ints column, int64_t row) {
  return is_row(row, column.size()) ? column[static_cast<size_t>(row)] : kNone;
}

class RowsBy {
 public:
  // Rows whose owner is none of 0 .. owners - 1 are left out. Throws std::invalid_argument for more
  // rows than 32 bits count.
  RowsBy(Ints owner, size_t owners) : first_(owners + 1) {
    if (owner.size() > UINT32_MAX) throw std::invalid_argument("a table has 2^32 rows or more");
    for (const int64_t one : owner) {
      if (is_row(one, owners)) ++first_[static_cast<size_t>(one) + 1];
    }
    for (size_t one = 0; one < owners; ++one) first_[one + 1] += first_[one];
    rows_.resize(first_[owners]);
    Many<uint32_t> next(first_.begin(), first_.end() - 1);
    for (size_t row = 0; row < owner.size(); ++row) {
      if (!is_row(owner[row], owners)) continue;
      rows_[next[static_cast<size_t>(owner[row])]++] = static_cast<uint32_t>(row);
    }
  }

  std::span<const uint32_t> of(int64_t owner) const {
    if (!is_row(owner, first_.size() - 1)) return {};
    const auto at = static_cast<size_t>(owner);
    return std::span(rows_).subspan(first_[at], first_[at + 1] - first_[at]);
  }
  std::span<uint32_t> of(int64_t owner) {
    if (!is_row(owner, first_.size() - 1)) return {};
    const auto at = static_cast<size_t>(owner);
    return std::span(rows_).subspan(first_[at], first_[at + 1] - first_[at]);
  }

 private:
  Many<uint32_t> first_;
  Many<uint32_t> rows_;
};

}  // namespace strata
