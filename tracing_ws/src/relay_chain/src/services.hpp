// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// The nodes of a chain of services: caller -> forwarder_0 .. forwarder_n -> responder. Their
// parameters are those of the Python nodes (relay_chain/services.py).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <strata_interfaces/srv/timing_call.hpp>
#include <string>
#include <vector>

#include "receiver.hpp"

namespace relay_chain {

using strata_interfaces::srv::TimingCall;

/// Calls a service at a rate, once every peer is ready; done when it has every answer. It does not
/// wait for an answer before the next call.
class Caller : public ChainNode {
 public:
  explicit Caller(const rclcpp::NodeOptions& options);
  ~Caller() override { write_at_last(); }

  [[nodiscard]] bool ends() const override { return true; }
  [[nodiscard]] std::optional<std::string> says() const override;
  [[nodiscard]] bool cut_short() const override { return !done(); }

 protected:
  std::optional<std::string> missing() override;
  void begin() override;
  bool sum_up(Summary& summary) const override;

 private:
  void on_timer();
  void on_answer(std::int64_t number, std::int64_t stamp_ns);
  void end();
  [[nodiscard]] std::int64_t sent() const { return static_cast<std::int64_t>(round_trips_.size()); }

  std::string service_;
  std::int64_t messages_;
  double rate_;
  std::size_t peers_;
  std::chrono::nanoseconds timeout_;
  rclcpp::Client<TimingCall>::SharedPtr client_;
  /// By number; nothing for one that was not answered.
  std::vector<std::optional<std::int64_t>> round_trips_;
  std::int64_t answered_ = 0;
  std::int64_t last_ns_ = 0;
  Sending last_;
  rclcpp::TimerBase::SharedPtr timer_;
};

/// Serves a call by calling the next service: it answers at once, as the published chain does, or
/// after the next one answered.
class Forwarder : public ChainNode {
 public:
  explicit Forwarder(const rclcpp::NodeOptions& options);

 protected:
  std::optional<std::string> missing() override;

 private:
  using Service = rclcpp::Service<TimingCall>;

  /// Calls the next service; `act` is called with its answer.
  void pass_on(const TimingCall::Request::SharedPtr& request,
               std::function<void(const TimingCall::Response& answer)> act);

  rclcpp::Client<TimingCall>::SharedPtr client_;
  Service::SharedPtr server_;
};

/// Serves the last call of a chain; done when it has every request, or when they stopped coming.
class Responder : public Receiver {
 public:
  explicit Responder(const rclcpp::NodeOptions& options);
  ~Responder() override { write_at_last(); }

 private:
  rclcpp::Service<TimingCall>::SharedPtr server_;
};

}  // namespace relay_chain
