// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Statistics of a column by group. The definitions are those of strata.stats.summary; the results
// are NumPy's to the last bit (its order of summation included), but for the mean of integers,
// which is the exact one, rounded once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stats/groups.hpp"

namespace strata::stats {

// Values of rows. Left out are those that `there` does not flag (when it is not empty), those equal
// to `absent`, and of floats NaN.
template <typename Value>
struct Values {
  std::span<const Value> values;
  std::span<const bool> there;
  std::optional<Value> absent;
};

// One item a group. Of a group without values `sum`, `low` and `high` are 0 and the floats NaN;
// `deviation` (n - 1) is NaN for one value, too. `sum` of integers wraps around beyond 64 bits.
template <typename Value>
struct Summary {
  std::vector<int64_t> count;
  std::vector<Value> sum;
  std::vector<Value> low;
  std::vector<Value> high;
  std::vector<double> mean;
  std::vector<double> deviation;
  std::vector<double> mad;
  // Of each fraction, the quantile of each group.
  std::vector<std::vector<double>> quantiles;
};

// `fractions` lie within 0..1; `of.values` has as many rows as the groups.
template <typename Value>
Summary<Value> summarize(const Groups& groups, const Values<Value>& of,
                         std::span<const double> fractions);

// The values of all groups, each ascending, one group after the other; `sizes` gets how many each
// has.
template <typename Value>
std::vector<Value> ascending(const Groups& groups, const Values<Value>& of,
                             std::vector<int64_t>& sizes);

}  // namespace strata::stats
