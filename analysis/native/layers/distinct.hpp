// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The distinct values of a column of which many rows are equal.
#pragma once

#include <cstdint>
#include <vector>

#include "layers/rows_by.hpp"

namespace strata {

struct Distinct {
  std::vector<int64_t> values;  // ascending
  std::vector<int64_t> first;   // the first row of each
  std::vector<int64_t> number;  // of the value of each row
};

Distinct find_distinct(Ints column);

}  // namespace strata
