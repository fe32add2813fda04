// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <rclcpp_components/register_node_macro.hpp>

#include "nodes.hpp"

namespace relay_chain {

Ping::Ping(const rclcpp::NodeOptions& options)
    : Starter("ping", options, "/ping"),
      messages_(setting(*this, "messages", std::int64_t{500}, 1)),
      rate_(hz(*this, "rate", 50.0)),
      timeout_(static_cast<std::int64_t>(setting(*this, "timeout_s", 5.0, 0) * 1e9)) {
  subscription_ = endpoints().receiving(
      *this, topic(setting(*this, "input", std::string("/pong"))),
      [this](std::int64_t started_ns, const Arrival& came) { on_return(started_ns, came); });
}

std::optional<std::string> Ping::missing() {
  if (auto lacks = Starter::missing()) {
    return lacks;
  }
  if (reaching(*subscription_) == 0) {
    return std::string("no publisher on ") + subscription_->get_topic_name();
  }
  return std::nullopt;
}

void Ping::begin() {
  std::fprintf(stderr, "%s: all connected, sending %lld pings\n", get_name(),
               static_cast<long long>(messages_));
  const std::chrono::nanoseconds period(static_cast<std::int64_t>(1e9 / rate_));
  timer_ = create_wall_timer(period, [this] { on_timer(); });
}

void Ping::on_timer() {
  if (timer_->is_canceled() || (waiting_ && now_ns() - sent_ns_ <= timeout_.count())) {
    return;
  }
  waiting_ = false;
  const auto number = static_cast<std::int64_t>(round_trips_.size());
  if (number == messages_) {
    timer_->cancel();
    finish();
    return;
  }
  round_trips_.emplace_back();
  waiting_ = true;
  sent_ns_ = now_ns();
  send(number, sent_ns_);
  truth().add("publish", number, sent_ns_, sent_ns_);
}

void Ping::on_return(std::int64_t started_ns, const Arrival& came) {
  if (!waiting_ || came.number + 1 != static_cast<std::int64_t>(round_trips_.size())) {
    ++late_;
    return;
  }
  waiting_ = false;
  round_trips_.back() = started_ns - came.sent_ns;
  work();
  truth().add("cb_start", came.number, started_ns, came.sent_ns);
  truth().add("cb_end", came.number, now_ns(), came.sent_ns);
}

std::int64_t Ping::returned() const {
  return std::count_if(round_trips_.begin(), round_trips_.end(),
                       [](const auto& trip) { return trip.has_value(); });
}

std::optional<std::string> Ping::says() const {
  return std::to_string(returned()) + " of " + std::to_string(round_trips_.size()) +
         " pings returned";
}

bool Ping::sum_up(Summary& summary) const {
  const auto sent = static_cast<std::int64_t>(round_trips_.size());
  summary.add("payload", std::optional(payload()));
  summary.add("rate", std::optional(rate_));
  summary.add("sent", std::optional(sent));
  summary.add("returned", std::optional(returned()));
  summary.add("lost", std::optional(sent - returned() - (waiting_ ? 1 : 0)));
  summary.add("late", std::optional(late_));
  summary.add("round_trips_ns", round_trips_);
  return true;
}

}  // namespace relay_chain

RCLCPP_COMPONENTS_REGISTER_NODE(relay_chain::Ping)
