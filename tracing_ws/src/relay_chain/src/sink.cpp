// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <rclcpp_components/register_node_macro.hpp>

#include "nodes.hpp"

namespace relay_chain {

namespace {

constexpr std::chrono::milliseconds kWatch{500};

}  // namespace

Sink::Sink(const rclcpp::NodeOptions& options)
    : ChainNode("sink", options),
      expected_(setting(*this, "messages", std::int64_t{500}, 1)),
      quiet_(static_cast<std::int64_t>(setting(*this, "quiet_s", 5.0, 0) * 1e9)) {
  const auto input = setting(*this, "input", std::string("/chain_1"));
  with_message_type(message_type(), [&](auto type) {
    using Message = typename decltype(type)::type;
    subscription_ = create_subscription<Message>(
        input, qos(),
        [this](const std::shared_ptr<const Message>& message) {
          const auto started_ns = now_ns();
          on_message(started_ns, message->msgid, message->nanosec);
        },
        subscription_options());
  });
  watch_ = create_wall_timer(kWatch, [this] { on_watch(); });
}

std::optional<std::string> Sink::missing() {
  if (reaching(*subscription_) > 0) {
    return std::nullopt;
  }
  return std::string("no publisher on ") + subscription_->get_topic_name();
}

void Sink::on_message(std::int64_t started_ns, std::int64_t number, std::int64_t sent_ns) {
  work();
  ++received_;
  last_ns_ = started_ns;
  truth().add("cb_start", number, started_ns, sent_ns);
  truth().add("cb_end", number, now_ns(), sent_ns);
  if (received_ >= expected_) {
    finish();
  }
}

void Sink::on_watch() {
  if (last_ns_ == 0 || now_ns() - last_ns_ <= quiet_.count()) {
    return;
  }
  std::array<char, 32> quiet{};
  std::snprintf(quiet.data(), quiet.size(), "%g", std::chrono::duration<double>(quiet_).count());
  finish("Cannot receive every message: " + std::to_string(received_) + " of " +
         std::to_string(expected_) + " came, then none for " + quiet.data() +
         " s. Lower the rate or the work, or raise the depth.");
}

}  // namespace relay_chain

RCLCPP_COMPONENTS_REGISTER_NODE(relay_chain::Sink)
