// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <rclcpp_components/register_node_macro.hpp>

#include "nodes.hpp"

namespace relay_chain {

Sink::Sink(const rclcpp::NodeOptions& options) : Receiver("sink", options, "messages") {
  subscription_ = endpoints().receiving(
      *this, topic(setting(*this, "input", std::string("/chain_1"))),
      [this](std::int64_t started_ns, const Arrival& came) { on_message(started_ns, came); });
}

std::optional<std::string> Sink::missing() {
  if (reaching(*subscription_) == 0) {
    return std::string("no publisher on ") + subscription_->get_topic_name();
  }
  return Receiver::missing();
}

void Sink::on_message(std::int64_t started_ns, const Arrival& came) {
  work();
  truth().add("cb_start", came.number, started_ns, came.sent_ns);
  truth().add("cb_end", came.number, now_ns(), came.sent_ns);
  receive(started_ns, came);
}

}  // namespace relay_chain

RCLCPP_COMPONENTS_REGISTER_NODE(relay_chain::Sink)
