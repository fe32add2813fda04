// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What was lost between a sensor and its messages, each loss once, under the cause that is known
// (strata.model.driver.losses).
#pragma once

#include "model/context.hpp"

namespace strata::driver {

enum class LossCause : uint8_t { socket_full, appsink_full, never_came, not_published };

// Makes `driver_losses`, after frames and links.
void find_losses(Context& context);

}  // namespace strata::driver
