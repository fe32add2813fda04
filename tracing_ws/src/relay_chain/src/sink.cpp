// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <rclcpp_components/register_node_macro.hpp>

#include "nodes.hpp"

namespace relay_chain {

namespace {

constexpr std::chrono::milliseconds kWatch{500};
/// How long a sink that counts losses waits for more, once the source sent its last.
constexpr std::chrono::seconds kAfterLast{2};

}  // namespace

Sink::Sink(const rclcpp::NodeOptions& options)
    : ChainNode("sink", options),
      quiet_(static_cast<std::int64_t>(setting(*this, "quiet_s", 5.0, 0) * 1e9)) {
  const auto messages = setting(*this, "messages", std::int64_t{500}, 0);
  if (messages > 0) {
    sent_ = messages;
  } else if (!counts_losses()) {
    throw Error(
        "Cannot use parameter messages: 0, where the source says how many it sent, needs losses "
        "count.");
  }
  subscription_ = endpoints().receiving(
      *this, topic(setting(*this, "input", std::string("/chain_1"))),
      [this](std::int64_t started_ns, const Arrival& came) { on_message(started_ns, came); });
  if (counts_losses()) {
    last_ = endpoints_of("Timing").receiving(
        *this, {kLastTopic, last_qos()},
        [this](std::int64_t /*started_ns*/, const Arrival& last) { on_last(last.number); });
  }
  watch_ = create_wall_timer(kWatch, [this] { on_watch(); });
}

std::optional<std::string> Sink::missing() {
  for (const auto& subscription : {subscription_, last_}) {
    if (subscription && reaching(*subscription) == 0) {
      return std::string("no publisher on ") + subscription->get_topic_name();
    }
  }
  return std::nullopt;
}

void Sink::on_message(std::int64_t started_ns, const Arrival& came) {
  work();
  last_ns_ = started_ns;
  truth().add("cb_start", came.number, started_ns, came.sent_ns);
  truth().add("cb_end", came.number, now_ns(), came.sent_ns);
  reception_.receive(came.number, started_ns, came.bytes);
  look();
}

void Sink::on_last(std::int64_t sent) {
  sent_ = sent;
  quiet_ = kAfterLast;
  last_ns_ = now_ns();
  look();
}

void Sink::look() {
  if (sent_ && reception_.count() >= *sent_) {
    finish();
  }
}

void Sink::on_watch() {
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

std::optional<std::string> Sink::says() const {
  const auto of = sent_ ? " of " + std::to_string(*sent_) : "";
  return "received " + std::to_string(reception_.count()) + of + " messages";
}

bool Sink::cut_short() const {
  return counts_losses() ? !done() : reception_.count() < sent_.value_or(0);
}

bool Sink::sum_up(Summary& summary) const {
  reception_.add_to(summary, sent_);
  return true;
}

}  // namespace relay_chain

RCLCPP_COMPONENTS_REGISTER_NODE(relay_chain::Sink)
