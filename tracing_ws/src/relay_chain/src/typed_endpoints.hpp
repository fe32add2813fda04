// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "endpoints.hpp"
#include "messages.hpp"

namespace relay_chain {

template <typename Message>
struct TypedEndpoints {
  using Publisher = rclcpp::Publisher<Message>;

  static constexpr bool kIsFixed = !std::is_same_v<Message, Timing>;

  static std::unique_ptr<Message> make(const std::string& source, std::int64_t payload) {
    auto message = std::make_unique<Message>();
    if constexpr (!kIsFixed) {
      message->source = source;
      message->payload.resize(static_cast<std::size_t>(payload));
    }
    return message;
  }

  static bool is_by_pointer(rclcpp::Node& node, const Topic& topic) {
    return topic.intra_process || node.get_node_options().use_intra_process_comms();
  }

  static Arrival arrival(const Message& message) {
    return {message.msgid, message.nanosec, static_cast<std::int64_t>(message.payload.size())};
  }

  static std::shared_ptr<Publisher> publisher(rclcpp::Node& node, const Topic& topic) {
    rclcpp::PublisherOptions options;
    if (topic.intra_process) {
      options.use_intra_process_comm = rclcpp::IntraProcessSetting::Enable;
    }
    return node.create_publisher<Message>(topic.name, topic.qos, options);
  }

  // std::function, not a closure of each caller's own: rclcpp's templates are made for each type.
  // The factory, not create_subscription(): that also makes the timer of topic statistics, which
  // nobody switches on, once more for each type.
  template <typename Argument>
  static rclcpp::SubscriptionBase::SharedPtr subscription(rclcpp::Node& node, const Topic& topic,
                                                          std::function<void(Argument)> act) {
    rclcpp::SubscriptionOptions options;
    if (topic.intra_process) {
      options.use_intra_process_comm = rclcpp::IntraProcessSetting::Enable;
    }
    using Memory = rclcpp::message_memory_strategy::MessageMemoryStrategy<Message>;
    const auto factory = rclcpp::create_subscription_factory<Message>(std::move(act), options,
                                                                      Memory::create_default());
    const auto topics = node.get_node_topics_interface();
    const auto made = topics->create_subscription(topic.name, factory, topic.qos);
    topics->add_subscription(made, topic.group);
    return made;
  }

  static Sending sending(rclcpp::Node& node, const Topic& topic, std::int64_t payload, bool loans) {
    auto publisher = TypedEndpoints::publisher(node, topic);
    const std::string source = node.get_name();
    // Shared, as a function object must be copyable.
    const auto next = std::make_shared<std::unique_ptr<Message>>(make(source, payload));
    const auto bytes = arrival(**next).bytes;
    if (loans) {
      return {publisher, lent(publisher), bytes};
    }
    const auto send = [publisher, source, payload, next](std::int64_t number,
                                                         std::int64_t stamp_ns) {
      (*next)->msgid = number;
      (*next)->nanosec = stamp_ns;
      publisher->publish(std::move(*next));
      // After the publish: filling the payload is no part of what is measured.
      *next = make(source, payload);
    };
    return {publisher, send, bytes};
  }

  static std::function<void(std::int64_t, std::int64_t)> lent(
      const std::shared_ptr<Publisher>& publisher) {
    if (!publisher->can_loan_messages()) {
      throw Error(std::string("Cannot use parameter loans: the middleware lends no messages on ") +
                  publisher->get_topic_name() +
                  ". Use type fixed, and do not set ROS_DISABLE_LOANED_MESSAGES to 1.");
    }
    return [publisher](std::int64_t number, std::int64_t stamp_ns) {
      auto message = publisher->borrow_loaned_message();
      // The payload stays as it is in that memory: its copy is what a loan saves.
      message.get().msgid = number;
      message.get().nanosec = stamp_ns;
      publisher->publish(std::move(message));
    };
  }

  static Relaying relaying(rclcpp::Node& node, const Topic& input, const Topic& output,
                           const OnRelayed& act) {
    auto publisher = TypedEndpoints::publisher(node, output);
    // A message that came by pointer goes on by pointer. From the middleware rclcpp would copy it
    // to give it away, so there it is only looked at.
    if (is_by_pointer(node, input)) {
      const auto pass_on = [publisher, act](std::unique_ptr<Message> message) {
        const auto started_ns = now_ns();
        const auto came = arrival(*message);
        act(started_ns, came, [&] { publisher->publish(std::move(message)); });
      };
      return {publisher, subscription<std::unique_ptr<Message>>(node, input, pass_on)};
    }
    const auto pass_on = [publisher, act](const Message& message) {
      const auto started_ns = now_ns();
      act(started_ns, arrival(message), [&] { publisher->publish(message); });
    };
    return {publisher, subscription<const Message&>(node, input, pass_on)};
  }

  static rclcpp::SubscriptionBase::SharedPtr receiving(rclcpp::Node& node, const Topic& topic,
                                                       const OnMessage& act) {
    // By pointer several subscriptions share a message only as shared pointers; one that is lent
    // by the middleware is safe only as a reference.
    if (is_by_pointer(node, topic)) {
      const auto look = [act](std::shared_ptr<const Message> message) {
        const auto started_ns = now_ns();
        act(started_ns, arrival(*message));
      };
      return subscription<std::shared_ptr<const Message>>(node, topic, look);
    }
    const auto look = [act](const Message& message) {
      const auto started_ns = now_ns();
      act(started_ns, arrival(message));
    };
    return subscription<const Message&>(node, topic, look);
  }

  static constexpr Endpoints kEndpoints{sending, relaying, receiving};
};

}  // namespace relay_chain
