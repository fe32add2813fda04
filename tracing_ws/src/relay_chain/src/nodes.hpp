// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "chain_node.hpp"

namespace relay_chain {

/// Sends numbered messages at a rate, once every peer is ready.
class Source : public Sender {
 public:
  explicit Source(const rclcpp::NodeOptions& options);

 protected:
  std::optional<std::string> missing() override;
  void begin() override;

 private:
  template <typename Message>
  void connect(std::int64_t payload);
  void on_timer();

  std::int64_t messages_;
  std::chrono::nanoseconds period_;
  std::size_t peers_;
  std::int64_t next_ = 0;
  std::function<void(std::int64_t number, std::int64_t stamp_ns)> send_;
  rclcpp::TimerBase::SharedPtr timer_;
};

/// Publishes what it receives, at once.
class Relay : public Sender {
 public:
  explicit Relay(const rclcpp::NodeOptions& options);

 protected:
  std::optional<std::string> missing() override;

 private:
  template <typename Message>
  void connect(const std::string& input);
  template <typename Publish>
  void pass_on(std::int64_t started_ns, std::int64_t number, std::int64_t sent_ns,
               const Publish& publish);

  rclcpp::SubscriptionBase::SharedPtr subscription_;
};

/// Receives; done when it has every message, or when they stopped coming.
class Sink : public ChainNode {
 public:
  explicit Sink(const rclcpp::NodeOptions& options);

  [[nodiscard]] std::int64_t expected() const { return expected_; }
  [[nodiscard]] std::int64_t received() const { return received_; }

 protected:
  std::optional<std::string> missing() override;

 private:
  void on_message(std::int64_t started_ns, std::int64_t number, std::int64_t sent_ns);
  void on_watch();

  std::int64_t expected_;
  std::chrono::nanoseconds quiet_;
  std::atomic<std::int64_t> received_ = 0;
  std::int64_t last_ns_ = 0;
  rclcpp::SubscriptionBase::SharedPtr subscription_;
  rclcpp::TimerBase::SharedPtr watch_;
};

/// Publishes on `/slow`, for nodes that block on it.
class Distractor : public ChainNode {
 public:
  explicit Distractor(const rclcpp::NodeOptions& options);

 protected:
  std::optional<std::string> missing() override;
  void begin() override;

 private:
  void on_timer();

  std::chrono::nanoseconds period_;
  std::int64_t sent_ = 0;
  rclcpp::Publisher<Timing>::SharedPtr publisher_;
  rclcpp::TimerBase::SharedPtr timer_;
};

/// Makes the node of a name, of the kind that its name begins with: source, relay, sink or
/// distractor. Throws Error for another.
std::shared_ptr<ChainNode> make_node(const std::string& name, const rclcpp::NodeOptions& options);

}  // namespace relay_chain
