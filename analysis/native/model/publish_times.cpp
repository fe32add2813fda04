// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/publish_times.hpp"

#include <algorithm>

#include "model/inference.hpp"
#include "model/steps.hpp"

namespace strata {
namespace {

// What a thread does within a write, whose stamp is taken there.
constexpr bool is_within_write(EventType type) {
  switch (type) {
    case EventType::write_begin:
    case EventType::serialize_begin:
    case EventType::serialize_end:
    case EventType::writer_history_add:
    case EventType::send_begin:
    case EventType::send_end:
      return true;
    default:
      return false;
  }
}

}  // namespace

void PublishTimes::follow(const Event& event) {
  State& state = states_[event.thread];
  if (state.open != -1 && !is_within_write(event.type)) {
    next_ns_[static_cast<size_t>(state.open)] = event.ns;
    state.open = -1;
    --open_;
  }
  if (event.type == EventType::rmw_publish) {
    if (event[field::rmw_publish::source_timestamp] > 0) {
      const LastEvents::Step& last = context_.last[event.thread].step();
      const bool has_begun = last.type != EventType::other;
      since_.put(has_begun ? static_cast<uint64_t>(event.ns - last.ns) + 1 : 0);
    } else {
      state.open = static_cast<int32_t>(unstamped_.size());
      ++open_;
      unstamped_.push_back(static_cast<int32_t>(context_.rows.publishes.size() - 1));
      next_ns_.push_back(kNone);
    }
  }
}

bool PublishTimes::finish() {
  const Rows& rows = context_.rows;
  const auto& publishes = rows.publishes;
  const auto host_of = [&](int64_t thread) {
    const auto process = static_cast<size_t>(rows.threads.process[static_cast<size_t>(thread)]);
    return rows.processes.host[process];
  };
  Inference inference;
  for (size_t i = 0; i < unstamped_.size(); ++i) {
    const auto row = static_cast<size_t>(unstamped_[i]);
    const int64_t publisher = publishes.publisher[row];
    const int64_t topic = pick(rows.publishers.topic, publisher);
    if (publishes.of_application[row] == 0 || topic == kNone) continue;
    inference.add_candidate({.row = unstamped_[i],
                             .topic = topic,
                             .host = host_of(publishes.thread[row]),
                             .publisher = publisher,
                             .publish_ns = publishes.ns[row],
                             .until_ns = next_ns_[i]});
  }
  unstamped_ = {};
  next_ns_ = {};
  if (!inference.has_candidates()) {
    since_ = {};
    return false;
  }
  ByteRows::Cursor since(since_);
  for (size_t row = 0; row < publishes.size(); ++row) {
    if (publishes.stamp[row] <= 0) continue;
    const auto after = static_cast<int64_t>(since.number());
    if (publishes.of_application[row] == 0) continue;
    inference.add_stamped({.host = host_of(publishes.thread[row]),
                           .stamp = publishes.stamp[row],
                           .publish_ns = publishes.ns[row],
                           .previous_ns = after > 0 ? publishes.ns[row] - (after - 1) : kNone});
  }
  since_ = {};
  const auto& takes = rows.takes;
  for (size_t row = 0; row < takes.size(); ++row) {
    inference.add_take({.topic = pick(rows.subscriptions.topic, takes.subscription[row]),
                        .host = host_of(takes.thread[row]),
                        .stamp = takes.stamp[row],
                        .ns = takes.ns[row]});
  }
  inference.decide(publish_, ambiguous_);
  return true;
}

}  // namespace strata
