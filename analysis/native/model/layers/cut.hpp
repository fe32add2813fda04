// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The layers of messages, cut at the checkpoints that are known of each. Which layers there are,
// between which checkpoints, is declared (analysis/src/strata/schema/layers.py); the rule is that
// of strata.schema.layer.cut.
#pragma once

#include <array>
#include <cstdint>

#include "model/clocks.hpp"
#include "model/column.hpp"
#include "model/generated/layers.hpp"

namespace strata {

// When each message met each checkpoint, kNone where that is not known; a column without rows is
// not known of any message.
using Instants = std::array<Ints, kCheckpoints>;
// The duration of each layer of each message, kNone where the message has it not; a column without
// rows where no message has it.
using LayerDurations = std::array<Column<int64_t>, kLayers>;

// `route` is the number of each message's. Time between two checkpoints of which no layer is
// declared is in none. Throws std::invalid_argument for columns of another length and for routes
// that there are not.
LayerDurations cut_layers(Ints route, const Instants& instants);

}  // namespace strata
