// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// What nodes send and receive, whatever its type. What rclcpp makes of a type costs seconds of
// compilation: each type has it once, in a file of its own (typed_endpoints.cpp.in), and not in
// every node.
#pragma once

#include <cstdint>
#include <functional>
#include <rclcpp/rclcpp.hpp>
#include <string>

#include "truth.hpp"

namespace relay_chain {

/// A topic and how it is used.
struct Topic {
  std::string name;
  rclcpp::QoS qos{10};
  /// By pointer to subscriptions of this process, even where the node does not ask for it.
  bool intra_process = false;
  /// Of its subscription; null: the node's default group.
  rclcpp::CallbackGroup::SharedPtr group = nullptr;
};

/// A message that came: its number, when the source sent it, and the bytes of its payload.
struct Arrival {
  std::int64_t number = 0;
  std::int64_t sent_ns = 0;
  std::int64_t bytes = 0;
};

/// What the source needs: `send` publishes a message of that number and stamp.
struct Sending {
  rclcpp::PublisherBase::SharedPtr publisher;
  std::function<void(std::int64_t number, std::int64_t stamp_ns)> send;
  /// Bytes of the payload of each.
  std::int64_t bytes = 0;
};

/// What a relay needs.
struct Relaying {
  rclcpp::PublisherBase::SharedPtr publisher;
  rclcpp::SubscriptionBase::SharedPtr subscription;
};

/// `started_ns` is taken first thing in the callback.
using OnMessage = std::function<void(std::int64_t started_ns, const Arrival& arrival)>;
/// `publish` passes the message on.
using OnRelayed = std::function<void(std::int64_t started_ns, const Arrival& arrival,
                                     const std::function<void()>& publish)>;

/// Makes endpoints of one type.
struct Endpoints {
  /// Publishes messages of zeros; `payload` is of no effect on a fixed size. With `loans` they are
  /// filled in memory of the middleware; throws Error where it lends none.
  Sending (*sending)(rclcpp::Node& node, const Topic& topic, std::int64_t payload, bool loans);
  Relaying (*relaying)(rclcpp::Node& node, const Topic& input, const Topic& output,
                       const OnRelayed& act);
  rclcpp::SubscriptionBase::SharedPtr (*receiving)(rclcpp::Node& node, const Topic& topic,
                                                   const OnMessage& act);
};

/// Gives what makes endpoints of the type of that name, one of `message_name`.
const Endpoints& endpoints_of(const std::string& type);

}  // namespace relay_chain
