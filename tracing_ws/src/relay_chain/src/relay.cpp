// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <rclcpp_components/register_node_macro.hpp>

#include "nodes.hpp"

namespace relay_chain {

Relay::Relay(const rclcpp::NodeOptions& options) : Sender("relay", options, "/chain_1") {
  auto input = topic(setting(*this, "input", std::string("/chain_0")));
  if (choice(*this, "callback_group", {"exclusive", "reentrant"}) == "reentrant") {
    // A node holds its groups weakly.
    input.group = create_callback_group(rclcpp::CallbackGroupType::Reentrant);
    group_ = input.group;
  }
  const auto relaying = endpoints().relaying(
      *this, input, output(),
      [this](std::int64_t started_ns, const Arrival& came, const std::function<void()>& publish) {
        work();
        const auto stamp_ns = now_ns();
        publish();
        truth().add("cb_start", came.number, started_ns, came.sent_ns);
        truth().add("publish", came.number, stamp_ns, came.sent_ns);
        truth().add("cb_end", came.number, now_ns(), came.sent_ns);
      });
  set_publisher(relaying.publisher);
  subscription_ = relaying.subscription;
}

std::optional<std::string> Relay::missing() {
  if (auto lacks = Sender::missing()) {
    return lacks;
  }
  if (reaching(*subscription_) == 0) {
    return std::string("no publisher on ") + subscription_->get_topic_name();
  }
  return std::nullopt;
}

}  // namespace relay_chain

RCLCPP_COMPONENTS_REGISTER_NODE(relay_chain::Relay)
