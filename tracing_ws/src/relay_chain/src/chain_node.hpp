// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <string>

#include "messages.hpp"
#include "truth.hpp"

namespace relay_chain {

/// A connected node makes a publisher here, which the source counts; nothing is ever sent.
inline constexpr const char* kReadyTopic = "/chain_ready";
inline constexpr const char* kSlowTopic = "/slow";

/// What the nodes of the chain share: QoS, own stamps, busy work, the blocking subscription, and
/// waiting for the neighbours. The parameters are those of the Python nodes (relay_chain/nodes.py);
/// `intra_process` is of C++ only.
///
/// All callbacks are in the node's default group: they exclude one another on every executor.
class ChainNode : public rclcpp::Node {
 public:
  /// Throws Error when a parameter cannot be used.
  ChainNode(const std::string& name, const rclcpp::NodeOptions& options);
  /// Writes the stamps, where nobody asked for them: in a component container.
  ~ChainNode() override;

  /// Has `act` called when the node has nothing more to do, in one of its callbacks.
  void when_done(std::function<void()> act) { act_ = std::move(act); }
  [[nodiscard]] bool done() const { return done_; }
  /// The sentence that says what went wrong, once done.
  [[nodiscard]] const std::optional<std::string>& problem() const { return problem_; }
  TruthLog& truth() { return truth_; }

 protected:
  /// Says which peers this node has not found; nothing when it has all.
  virtual std::optional<std::string> missing() = 0;
  /// Starts, now that this node is connected.
  virtual void begin() {}

  /// Completes this node; only the first call counts.
  void finish(std::optional<std::string> problem = std::nullopt);
  /// Keeps the CPU busy for `work_ms`.
  void work() const;

  [[nodiscard]] const rclcpp::QoS& qos() const { return qos_; }
  [[nodiscard]] const std::string& message_type() const { return message_type_; }
  /// Whether messages go to subscriptions of this process by pointer.
  [[nodiscard]] bool intra_process() const;
  [[nodiscard]] rclcpp::PublisherOptions publisher_options() const;
  [[nodiscard]] rclcpp::SubscriptionOptions subscription_options() const;

  /// Number of subscriptions that a publisher of this node reaches.
  [[nodiscard]] std::size_t reached(const rclcpp::PublisherBase& publisher) const;
  /// Number of publishers that reach a subscription of this node.
  [[nodiscard]] std::size_t reaching(const rclcpp::SubscriptionBase& subscription) const;

 private:
  void on_poll();

  rclcpp::QoS qos_{10};
  std::string message_type_;
  bool intra_process_ = false;
  std::chrono::nanoseconds work_{};
  std::chrono::nanoseconds discovery_{};
  std::chrono::steady_clock::time_point made_;
  TruthLog truth_;

  std::function<void()> act_;
  std::atomic<bool> done_ = false;
  std::optional<std::string> problem_;

  rclcpp::Subscription<Timing>::SharedPtr slow_;
  rclcpp::TimerBase::SharedPtr poll_;
  rclcpp::PublisherBase::SharedPtr ready_publisher_;
};

/// A node that sends on `output`, once enough subscriptions are there.
class Sender : public ChainNode {
 protected:
  Sender(const std::string& name, const rclcpp::NodeOptions& options, const std::string& output);

  std::optional<std::string> missing() override;

  [[nodiscard]] const std::string& output() const { return output_; }
  void set_publisher(rclcpp::PublisherBase::SharedPtr publisher) {
    publisher_ = std::move(publisher);
  }

 private:
  std::size_t listeners_ = 1;
  std::string output_;
  rclcpp::PublisherBase::SharedPtr publisher_;
};

}  // namespace relay_chain
