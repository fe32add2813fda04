// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the events of sensor drivers were used for: the frames that they tell of, and messages.
#pragma once

#include "model/context.hpp"

namespace strata {

// After frames, and the links of published messages to them. source_init is counted as it comes.
void count_driver_uses(Context& context);

}  // namespace strata
