// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "chain_node.hpp"

namespace relay_chain {

/// A node at the end of a chain: it counts what it receives; done when it has everything, or when
/// nothing came for long. Its parameters are those of relay_chain/receiver.py.
class Receiver : public ChainNode {
 public:
  [[nodiscard]] bool ends() const override { return true; }
  [[nodiscard]] std::optional<std::string> says() const override;
  [[nodiscard]] bool cut_short() const override;

 protected:
  /// `what` it receives, in words: messages.
  Receiver(const std::string& name, const rclcpp::NodeOptions& options, std::string what);

  /// Says that nobody publishes on /chain_last; nothing when somebody does.
  std::optional<std::string> missing() override;
  bool sum_up(Summary& summary) const override;
  /// Counts what came.
  void receive(std::int64_t started_ns, const Arrival& came);

 private:
  void on_last(std::int64_t sent);
  void on_watch();
  void look();

  std::string what_;
  std::optional<std::int64_t> sent_;
  std::chrono::nanoseconds quiet_;
  Reception reception_;
  std::int64_t last_ns_ = 0;
  rclcpp::SubscriptionBase::SharedPtr last_;
  rclcpp::TimerBase::SharedPtr watch_;
};

}  // namespace relay_chain
