// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// An event before its thread has a number.
#pragma once

#include <string_view>

#include "model/event.hpp"
#include "model/threads.hpp"

namespace strata {

struct Arrival {
  Event event;
  Place place;
  bool is_of_program = true;
};

// Whether the process of an event of a name emitted it; the kernel's events have no provider.
constexpr bool is_of_program(std::string_view name) {
  return name.find(':') != std::string_view::npos;
}

}  // namespace strata
