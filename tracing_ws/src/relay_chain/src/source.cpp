// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <rclcpp_components/register_node_macro.hpp>

#include "nodes.hpp"

namespace relay_chain {

Source::Source(const rclcpp::NodeOptions& options)
    : Starter("source", options, "/chain_0"),
      messages_(setting(*this, "messages", std::int64_t{500}, 0)),
      time_(static_cast<std::int64_t>(setting(*this, "seconds", 0.0, 0) * 1e9)),
      rate_(setting(*this, "rate", 100.0, 0)) {
  if (messages_ == 0 && time_.count() == 0) {
    throw Error("Cannot send for ever: messages and seconds are both 0. Set one.");
  }
  if (counts_losses()) {
    last_ = endpoints_of("Timing").sending(*this, {kLastTopic, last_qos()}, 0, false);
  }
}

void Source::begin() {
  std::array<char, 48> amount{};
  if (messages_ > 0) {
    std::snprintf(amount.data(), amount.size(), "%lld messages", static_cast<long long>(messages_));
  } else {
    std::snprintf(amount.data(), amount.size(), "for %g s",
                  std::chrono::duration<double>(time_).count());
  }
  std::fprintf(stderr, "%s: all connected, sending %s\n", get_name(), amount.data());
  until_ns_ = now_ns() + time_.count();
  const std::chrono::nanoseconds period(rate_ > 0 ? static_cast<std::int64_t>(1e9 / rate_) : 0);
  // No callback of the measured run: the first message comes a period later.
  timer_ = create_wall_timer(period, [this] { on_timer(); });
}

void Source::on_timer() {
  const auto started_ns = now_ns();
  if (timer_->is_canceled()) {
    return;
  }
  if (time_.count() > 0 && started_ns >= until_ns_) {
    end();
    return;
  }
  const auto number = next_++;
  work();
  const auto stamp_ns = now_ns();
  send(number, stamp_ns);
  truth().add("cb_start", number, started_ns, stamp_ns);
  truth().add("publish", number, stamp_ns, stamp_ns);
  truth().add("cb_end", number, now_ns(), stamp_ns);
  flow_.add(stamp_ns, bytes());
  if (next_ == messages_) {
    end();
  }
}

void Source::end() {
  timer_->cancel();
  std::fprintf(stderr, "%s: sent %lld messages\n", get_name(), static_cast<long long>(next_));
  if (counts_losses()) {
    last_.send(next_, now_ns());
  }
}

bool Source::sum_up(Summary& summary) const {
  summary.add("payload", std::optional(payload()));
  summary.add("rate", std::optional(rate_));
  summary.add("loans", loans());
  summary.add("sent", std::optional(flow_.count()));
  flow_.add_to(summary);
  return true;
}

}  // namespace relay_chain

RCLCPP_COMPONENTS_REGISTER_NODE(relay_chain::Source)
