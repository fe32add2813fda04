// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Until when what has no end in the trace is taken to have gone on. The rules are those of
// strata.model.last_seen.
#pragma once

#include "model/context.hpp"
#include "model/executions.hpp"
#include "model/waits.hpp"

namespace strata {

// Adds a row for each execution without an end that was the last that its thread did.
void find_hanging(Context& context, const Executions& executions, const Waits& waits);

}  // namespace strata
