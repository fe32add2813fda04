// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Cycles of hops: messages that come back to a hop at which their causes were.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "layers/rows_by.hpp"

namespace strata {

// From one hop to another, in ascending order.
using Edges = std::vector<std::pair<int64_t, int64_t>>;

// Edges to a hop that is on the way already, depth first from hops that nothing leads to; in
// ascending order.
Edges back_edges(const Edges& edges);

// Hops of all cycles, and those between two: what has no edge in or out is left out.
Many<int64_t> on_cycles(Edges edges);

// Whether any message comes back to one of the `cyclic` hops, by whichever cause. `links` are rows
// of `child` and `parent`, by child.
bool comes_back(Ints hop, Ints child, Ints parent, const Many<uint32_t>& links,
                const Many<int64_t>& cyclic);

}  // namespace strata
