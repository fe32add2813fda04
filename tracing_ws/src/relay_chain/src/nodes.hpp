// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "chain_node.hpp"
#include "receiver.hpp"

namespace relay_chain {

/// Sends numbered messages at a rate, once every peer is ready.
class Source : public Starter {
 public:
  explicit Source(const rclcpp::NodeOptions& options);
  ~Source() override { write_at_last(); }

 protected:
  void begin() override;
  bool sum_up(Summary& summary) const override;

 private:
  void on_timer();
  void end();

  std::int64_t messages_;
  std::chrono::nanoseconds time_;
  double rate_;
  std::int64_t next_ = 0;
  std::int64_t until_ns_ = 0;
  Flow flow_;
  Sending last_;
  rclcpp::TimerBase::SharedPtr timer_;
};

/// Publishes what it receives, at once. Its subscription is in the node's default group, whose
/// callbacks exclude one another, or in a reentrant one.
class Relay : public Sender {
 public:
  explicit Relay(const rclcpp::NodeOptions& options);

 protected:
  std::optional<std::string> missing() override;

 private:
  rclcpp::CallbackGroup::SharedPtr group_;
  rclcpp::SubscriptionBase::SharedPtr subscription_;
};

/// Takes what a node of the chain publishes, and passes nothing on: a leaf of its fan-out.
class Listener : public ChainNode {
 public:
  explicit Listener(const rclcpp::NodeOptions& options);

 protected:
  std::optional<std::string> missing() override;

 private:
  rclcpp::SubscriptionBase::SharedPtr subscription_;
};

/// Receives messages; done when it has every one, or when they stopped coming.
class Sink : public Receiver {
 public:
  explicit Sink(const rclcpp::NodeOptions& options);
  ~Sink() override { write_at_last(); }

 protected:
  std::optional<std::string> missing() override;

 private:
  void on_message(std::int64_t started_ns, const Arrival& arrival);

  rclcpp::SubscriptionBase::SharedPtr subscription_;
};

/// Sends a message, waits for its return, sends the next; a relay is its `pong`.
///
/// The next goes out in a timer's callback, not in that of the return: the second would make one
/// chain of all of them.
class Ping : public Starter {
 public:
  explicit Ping(const rclcpp::NodeOptions& options);
  ~Ping() override { write_at_last(); }

  [[nodiscard]] bool ends() const override { return true; }
  [[nodiscard]] std::optional<std::string> says() const override;
  [[nodiscard]] bool cut_short() const override { return !done(); }

 protected:
  std::optional<std::string> missing() override;
  void begin() override;
  bool sum_up(Summary& summary) const override;

 private:
  void on_timer();
  void on_return(std::int64_t started_ns, const Arrival& arrival);
  [[nodiscard]] std::int64_t returned() const;

  std::int64_t messages_;
  double rate_;
  std::chrono::nanoseconds timeout_;
  std::int64_t sent_ns_ = 0;
  /// By number; nothing for one that did not return.
  std::vector<std::optional<std::int64_t>> round_trips_;
  std::int64_t late_ = 0;
  bool waiting_ = false;
  rclcpp::SubscriptionBase::SharedPtr subscription_;
  rclcpp::TimerBase::SharedPtr timer_;
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

/// Makes the node of a name, of the kind that its name begins with. Throws Error, which names the
/// kinds, for another.
std::shared_ptr<ChainNode> make_node(const std::string& name, const rclcpp::NodeOptions& options);

}  // namespace relay_chain
