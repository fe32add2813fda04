// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// An event before its thread has a number.
#pragma once

#include "model/event.hpp"
#include "model/threads.hpp"

namespace strata {

struct Arrival {
  Event event;
  Place place;
  int64_t name = kNone;   // number of its text, of an event that is not declared
  int64_t clock = kNone;  // the trace's clock, where it counts ns from an origin of its own
};

}  // namespace strata
