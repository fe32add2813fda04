// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <strata_interfaces/msg/timing.hpp>
#include <string>
#include <workload_rclcpp/settings.hpp>

namespace relay_chain {

using strata_interfaces::msg::Timing;
using workload::choice;
using workload::Error;
using workload::hz;
using workload::setting;

/// Names the type whose payload has that many bytes: of no fixed size, or the plain one of just
/// that size. Throws Error when there is none.
std::string message_name(bool fixed, std::int64_t payload);

}  // namespace relay_chain
