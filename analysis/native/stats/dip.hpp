// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the dip of a sample (strata.stats.dip) is made from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace strata::stats {

// Where the greatest convex minorant touches the points (places, heights), ascending. Places ascend
// and are different; there are as many heights, none beyond 2^53.
std::vector<int64_t> convex_contacts(std::span<const double> places,
                                     std::span<const int64_t> heights);

}  // namespace strata::stats
