// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <rclcpp_components/register_node_macro.hpp>
#include <utility>

#include "nodes.hpp"

namespace relay_chain {

Relay::Relay(const rclcpp::NodeOptions& options) : Sender("relay", options, "/chain_1") {
  const auto input = setting(*this, "input", std::string("/chain_0"));
  with_message_type(message_type(),
                    [&](auto type) { connect<typename decltype(type)::type>(input); });
}

template <typename Message>
void Relay::connect(const std::string& input) {
  auto publisher = create_publisher<Message>(output(), qos(), publisher_options());
  set_publisher(publisher);
  // A message that came by pointer goes on by pointer. From the middleware rclcpp would copy it to
  // give it away, so there it is only looked at.
  if (intra_process()) {
    subscription_ = create_subscription<Message>(
        input, qos(),
        [this, publisher](std::unique_ptr<Message> message) {
          const auto started_ns = now_ns();
          const auto number = message->msgid;
          const auto sent_ns = message->nanosec;
          pass_on(started_ns, number, sent_ns, [&] { publisher->publish(std::move(message)); });
        },
        subscription_options());
  } else {
    subscription_ = create_subscription<Message>(
        input, qos(),
        [this, publisher](const std::shared_ptr<const Message>& message) {
          const auto started_ns = now_ns();
          pass_on(started_ns, message->msgid, message->nanosec,
                  [&] { publisher->publish(*message); });
        },
        subscription_options());
  }
}

template <typename Publish>
void Relay::pass_on(std::int64_t started_ns, std::int64_t number, std::int64_t sent_ns,
                    const Publish& publish) {
  work();
  const auto stamp_ns = now_ns();
  publish();
  truth().add("cb_start", number, started_ns, sent_ns);
  truth().add("publish", number, stamp_ns, sent_ns);
  truth().add("cb_end", number, now_ns(), sent_ns);
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
