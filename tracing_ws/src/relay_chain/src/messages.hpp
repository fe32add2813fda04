// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <strata_interfaces/msg/timing.hpp>
#include <strata_interfaces/msg/timing_fixed1m.hpp>
#include <strata_interfaces/msg/timing_fixed256.hpp>
#include <strata_interfaces/msg/timing_fixed4m.hpp>
#include <strata_interfaces/msg/timing_fixed64k.hpp>
#include <string>
#include <type_traits>
#include <workload_rclcpp/settings.hpp>

namespace relay_chain {

using strata_interfaces::msg::Timing;
using workload::Error;
using workload::hz;
using workload::is_other;
using workload::setting;

template <typename Type>
struct MessageType {
  using type = Type;
};

/// Calls `act` with the MessageType of that name. Throws Error for a name that is none.
template <typename Act>
void with_message_type(const std::string& name, const Act& act) {
  namespace msg = strata_interfaces::msg;
  if (name == "Timing") {
    act(MessageType<msg::Timing>{});
  } else if (name == "TimingFixed256") {
    act(MessageType<msg::TimingFixed256>{});
  } else if (name == "TimingFixed64k") {
    act(MessageType<msg::TimingFixed64k>{});
  } else if (name == "TimingFixed1m") {
    act(MessageType<msg::TimingFixed1m>{});
  } else if (name == "TimingFixed4m") {
    act(MessageType<msg::TimingFixed4m>{});
  } else {
    throw Error("Cannot use parameter message: '" + name +
                "' is none of Timing, TimingFixed256, TimingFixed64k, TimingFixed1m, "
                "TimingFixed4m.");
  }
}

/// Makes a message of zeros; `payload` is in bytes, and of no effect on a fixed size.
template <typename Message>
std::unique_ptr<Message> make_message(const std::string& source, std::int64_t payload) {
  auto message = std::make_unique<Message>();
  if constexpr (std::is_same_v<Message, Timing>) {
    message->source = source;
    message->payload.resize(static_cast<std::size_t>(payload));
  }
  return message;
}

}  // namespace relay_chain
