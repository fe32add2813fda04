// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "layers/distinct.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace strata {

Distinct find_distinct(Ints column) {
  Distinct found;
  found.number.reserve(column.size());
  Many<int64_t> values, first;  // in the order of the first rows
  std::unordered_map<int64_t, int64_t> number;
  // The last value of each place, and its number.
  constexpr size_t kRecent = 256;
  std::array<std::pair<int64_t, int64_t>, kRecent> recent{};
  recent.fill({0, kNone});
  for (size_t row = 0; row < column.size(); ++row) {
    const int64_t value = column[row];
    // Rows that follow on each other are often equal.
    if (row > 0 && value == column[row - 1]) {
      found.number.push_back(found.number.back());
      continue;
    }
    const auto bits = static_cast<uint64_t>(value);
    auto& near = recent[(bits ^ bits >> 8U ^ bits >> 24U) % kRecent];
    if (near.second != kNone && near.first == value) {
      found.number.push_back(near.second);
      continue;
    }
    const auto [known, is_new] = number.try_emplace(value, static_cast<int64_t>(values.size()));
    near = *known;
    if (is_new) {
      values.push_back(value);
      first.push_back(static_cast<int64_t>(row));
    }
    found.number.push_back(known->second);
  }
  Many<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t at) { return values[at]; });
  Many<int64_t> rank(values.size());
  for (const size_t at : order) {
    rank[at] = static_cast<int64_t>(found.values.size());
    found.values.push_back(values[at]);
    found.first.push_back(first[at]);
  }
  for (int64_t& one : found.number) one = rank[static_cast<size_t>(one)];
  return found;
}

}  // namespace strata
