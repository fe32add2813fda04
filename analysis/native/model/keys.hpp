// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Joins of a few rows by equal keys, where only one row of the other side will do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/column.hpp"

namespace strata {

using Keys = std::vector<std::pair<int64_t, int64_t>>;

// Numbers of the keys of several tables, equal where the keys are, dense in ascending order.
inline std::vector<std::vector<int64_t>> codes_of(const std::vector<Keys>& tables) {
  Keys every;
  for (const Keys& table : tables) every.insert(every.end(), table.begin(), table.end());
  std::ranges::sort(every);
  every.erase(std::unique(every.begin(), every.end()), every.end());
  std::vector<std::vector<int64_t>> codes;
  for (const Keys& table : tables) {
    auto& own = codes.emplace_back();
    own.reserve(table.size());
    for (const auto& key : table) {
      own.push_back(std::ranges::lower_bound(every, key) - every.begin());
    }
  }
  return codes;
}

// Which codes are there more than once.
inline std::vector<bool> repeated(const std::vector<int64_t>& codes) {
  int64_t most = -1;
  for (const int64_t code : codes) most = std::max(most, code);
  std::vector<uint8_t> times(static_cast<size_t>(most + 1), 0);
  for (const int64_t code : codes) {
    uint8_t& count = times[static_cast<size_t>(code)];
    count = std::min<uint8_t>(count + 1, 2);
  }
  std::vector<bool> found;
  for (const int64_t code : codes) found.push_back(times[static_cast<size_t>(code)] > 1);
  return found;
}

// The one usable row of a table that has a code; kNone for none or several.
class Single {
 public:
  Single(const std::vector<int64_t>& codes, const std::vector<bool>& usable) {
    for (size_t row = 0; row < codes.size(); ++row) {
      if (!usable[row]) continue;
      const auto code = static_cast<size_t>(codes[row]);
      if (code >= row_.size()) row_.resize(code + 1, kNone);
      row_[code] = row_[code] == kNone ? static_cast<int64_t>(row) : kSeveral;
    }
  }
  int64_t of(int64_t code) const {
    if (code < 0 || static_cast<size_t>(code) >= row_.size()) return kNone;
    const int64_t row = row_[static_cast<size_t>(code)];
    return row == kSeveral ? kNone : row;
  }

 private:
  static constexpr int64_t kSeveral = -2;
  std::vector<int64_t> row_;
};

}  // namespace strata
