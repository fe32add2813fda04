// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Rows of a table in another order.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

namespace strata {

// Row i becomes what was row `order[i]`; rows that `order` does not have go.
template <typename Table>
void arrange(Table& table, const std::vector<size_t>& order) {
  table.each([&](const char*, auto& column) {
    using T = typename std::remove_reference_t<decltype(column)>::value_type;
    std::vector<T> arranged;
    arranged.reserve(order.size());
    for (const size_t row : order) arranged.push_back(column[row]);
    for (size_t row = 0; row < order.size(); ++row) column[row] = arranged[row];
    column.resize(order.size(), T{});
  });
}

}  // namespace strata
