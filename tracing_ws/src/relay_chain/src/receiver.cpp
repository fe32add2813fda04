// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "receiver.hpp"

#include <array>
#include <cstdio>
#include <utility>

namespace relay_chain {

namespace {

constexpr std::chrono::milliseconds kWatch{500};

}  // namespace

Receiver::Receiver(const std::string& name, const rclcpp::NodeOptions& options, std::string what)
    : ChainNode(name, options),
      what_(std::move(what)),
      quiet_(static_cast<std::int64_t>(setting(*this, "quiet_s", 5.0, 0) * 1e9)) {
  const auto messages = setting(*this, "messages", std::int64_t{500}, 0);
  if (messages > 0) {
    sent_ = messages;
  } else if (!counts_losses()) {
    throw Error(
        "Cannot use parameter messages: 0, where the source says how many it sent, needs losses "
        "count.");
  }
  if (counts_losses()) {
    last_ = endpoints_of("Timing").receiving(
        *this, {kLastTopic, last_qos()},
        [this](std::int64_t /*started_ns*/, const Arrival& last) { on_last(last.number); });
  }
  watch_ = create_wall_timer(kWatch, [this] { on_watch(); });
}

std::optional<std::string> Receiver::missing() {
  if (last_ && reaching(*last_) == 0) {
    return std::string("no publisher on ") + last_->get_topic_name();
  }
  return std::nullopt;
}

void Receiver::receive(std::int64_t started_ns, const Arrival& came) {
  last_ns_ = started_ns;
  reception_.receive(came.number, started_ns, came.bytes);
  look();
}

void Receiver::on_last(std::int64_t sent) {
  sent_ = sent;
  quiet_ = kAfterLast;
  last_ns_ = now_ns();
  look();
}

void Receiver::look() {
  if (sent_ && reception_.count() >= *sent_) {
    finish();
  }
}

void Receiver::on_watch() {
  if (last_ns_ == 0 || now_ns() - last_ns_ <= quiet_.count()) {
    return;
  }
  if (counts_losses()) {
    finish();
    return;
  }
  std::array<char, 32> quiet{};
  std::snprintf(quiet.data(), quiet.size(), "%g", std::chrono::duration<double>(quiet_).count());
  finish("Cannot receive every message: " + std::to_string(reception_.count()) + " of " +
         std::to_string(sent_.value_or(0)) + " came, then none for " + quiet.data() +
         " s. Lower the rate or the work, or raise the depth.");
}

std::optional<std::string> Receiver::says() const {
  const auto of = sent_ ? " of " + std::to_string(*sent_) : "";
  return "received " + std::to_string(reception_.count()) + of + " " + what_;
}

bool Receiver::cut_short() const {
  return counts_losses() ? !done() : reception_.count() < sent_.value_or(0);
}

bool Receiver::sum_up(Summary& summary) const {
  reception_.add_to(summary, sent_);
  return true;
}

}  // namespace relay_chain
