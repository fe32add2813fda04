// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The distinct values of a column of which many rows are equal.
#pragma once

#include <cstdint>

#include "layers/rows_by.hpp"
#include "storage/many.hpp"

namespace strata {

struct Distinct {
  Many<int64_t> values;  // ascending
  Many<int64_t> first;   // the first row of each
  Many<int64_t> number;  // of the value of each row
};

Distinct find_distinct(Ints column);

}  // namespace strata
