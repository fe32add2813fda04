// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <rclcpp_components/register_node_macro.hpp>

#include "nodes.hpp"

namespace relay_chain {

Source::Source(const rclcpp::NodeOptions& options)
    : Sender("source", options, "/chain_0"),
      messages_(setting(*this, "messages", std::int64_t{500}, 1)),
      period_(static_cast<std::int64_t>(1e9 / hz(*this, "rate", 100.0))),
      peers_(static_cast<std::size_t>(setting(*this, "peers", std::int64_t{0}, 0))) {
  const auto payload = setting(*this, "payload", std::int64_t{1024}, 0);
  with_message_type(message_type(),
                    [&](auto type) { connect<typename decltype(type)::type>(payload); });
}

template <typename Message>
void Source::connect(std::int64_t payload) {
  auto publisher = create_publisher<Message>(output(), qos(), publisher_options());
  set_publisher(publisher);
  const std::string name = get_name();
  // Shared, as a function object must be copyable.
  const auto next =
      std::make_shared<std::unique_ptr<Message>>(make_message<Message>(name, payload));
  send_ = [publisher, name, payload, next](std::int64_t number, std::int64_t stamp_ns) {
    (*next)->msgid = number;
    (*next)->nanosec = stamp_ns;
    publisher->publish(std::move(*next));
    // After the publish: filling the payload is no part of what is measured.
    *next = make_message<Message>(name, payload);
  };
}

std::optional<std::string> Source::missing() {
  if (auto lacks = Sender::missing()) {
    return lacks;
  }
  const auto ready = count_publishers(kReadyTopic);
  if (ready >= peers_) {
    return std::nullopt;
  }
  return std::to_string(ready) + " of " + std::to_string(peers_) + " peers are ready";
}

void Source::begin() {
  std::fprintf(stderr, "%s: all connected, sending %lld messages\n", get_name(),
               static_cast<long long>(messages_));
  // No callback of the measured run: the first message comes a period later.
  timer_ = create_wall_timer(period_, [this] { on_timer(); });
}

void Source::on_timer() {
  const auto started_ns = now_ns();
  if (next_ >= messages_) {
    return;
  }
  const auto number = next_++;
  if (next_ == messages_) {
    timer_->cancel();
  }
  work();
  const auto stamp_ns = now_ns();
  send_(number, stamp_ns);
  truth().add("cb_start", number, started_ns, stamp_ns);
  truth().add("publish", number, stamp_ns, stamp_ns);
  truth().add("cb_end", number, now_ns(), stamp_ns);
}

}  // namespace relay_chain

RCLCPP_COMPONENTS_REGISTER_NODE(relay_chain::Source)
