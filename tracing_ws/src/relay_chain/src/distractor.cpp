// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <rclcpp_components/register_node_macro.hpp>
#include <utility>

#include "nodes.hpp"

namespace relay_chain {

Distractor::Distractor(const rclcpp::NodeOptions& options)
    : ChainNode("distractor", options),
      period_(static_cast<std::int64_t>(1e9 / hz(*this, "rate", 5.0))),
      publisher_(create_publisher<Timing>(kSlowTopic, 10)) {}

std::optional<std::string> Distractor::missing() {
  if (publisher_->get_subscription_count() > 0) {
    return std::nullopt;
  }
  return std::string("no subscription on ") + kSlowTopic;
}

void Distractor::begin() {
  timer_ = create_wall_timer(period_, [this] { on_timer(); });
}

void Distractor::on_timer() {
  const auto started_ns = now_ns();
  const auto number = sent_++;
  auto message = std::make_unique<Timing>();
  message->source = get_name();
  message->msgid = number;
  const auto stamp_ns = now_ns();
  message->nanosec = stamp_ns;
  publisher_->publish(std::move(message));
  truth().add("cb_start", number, started_ns, stamp_ns);
  truth().add("publish", number, stamp_ns, stamp_ns);
  truth().add("cb_end", number, now_ns(), stamp_ns);
}

}  // namespace relay_chain

RCLCPP_COMPONENTS_REGISTER_NODE(relay_chain::Distractor)
