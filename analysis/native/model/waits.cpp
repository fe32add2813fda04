// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/waits.hpp"

#include <algorithm>
#include <unordered_map>

#include "model/steps.hpp"

namespace strata {

Waits::OfThread Waits::of(uint32_t thread) const {
  if (thread >= states_.size()) return {nullptr, false, {}, false};
  const State& state = states_.at(thread);
  const bool of_middleware = state.executor.size() == 0 && !state.is_opened;
  const IntervalLog& waits = of_middleware ? state.middleware : state.executor;
  return {waits.size() == 0 ? nullptr : &waits,
          state.is_opened,
          {first_ns_, state.opening_ns},
          of_middleware};
}

ThreadIntervals Waits::intervals(std::span<const int64_t> order) const {
  ThreadIntervals found(order.size());
  for (size_t thread = 0; thread < order.size(); ++thread) {
    const OfThread own = of(static_cast<uint32_t>(order[thread]));
    if (own.has_opening) found.add(thread, own.opening);
    if (own.waits != nullptr) found.add(thread, *own.waits);
  }
  return found;
}

void Waits::finish(const Entities& entities) {
  std::vector<bool> is_new(context_.rows.processes.size(), false);
  for (const Event& event : entities.inits(EventType::rcl_node_init)) {
    is_new[event.process] = !context_.uses.was_before(event.process);
  }
  const auto& threads = context_.rows.threads;
  // Threads that did anything have a state, even if they never waited.
  for (auto thread = static_cast<uint32_t>(context_.last.size()); thread-- > 0;) {
    if (context_.last.at(thread).step().type == EventType::other) continue;
    states_[thread];
    break;
  }
  for (uint32_t thread = 0; thread < states_.size(); ++thread) {
    if (is_new[static_cast<size_t>(threads.process[thread])]) states_[thread].is_opened = false;
  }
  find_host_ends();
  for (uint32_t thread = 0; thread < states_.size(); ++thread) add_open(thread);
}

void Waits::find_host_ends() {
  const auto& threads = context_.rows.threads;
  const auto host_of = [&](size_t thread) {
    return context_.rows.processes.host[static_cast<size_t>(threads.process[thread])];
  };
  std::unordered_map<int64_t, int64_t> last_ns;
  for (uint32_t thread = 0; thread < states_.size(); ++thread) {
    int64_t& own = last_ns[host_of(thread)];
    own = std::max(own, context_.last[thread].step().ns);
  }
  for (size_t thread = 0; thread < threads.size(); ++thread) {
    const int64_t end_ns = pick(context_.rows.processes.end_ns, threads.process[thread]);
    const int64_t seen_ns = last_ns[host_of(thread)];
    host_end_ns_.push_back(end_ns == kNone ? seen_ns : std::min(end_ns, seen_ns));
  }
}

// The wait that was the last that a thread did. Where events were lost after it began, it is known
// to have gone on up to the losses only.
void Waits::add_open(uint32_t thread) {
  const State& state = states_[thread];
  const EventType last = context_.last[thread].step().type;
  if (last != EventType::rclcpp_executor_wait_for_work && last != EventType::wait_begin) {
    return;
  }
  const int64_t lost_ns = context_.settings.losses.first_touching(state.open_ns);
  auto& rows = context_.rows.open_waits;
  const auto row = static_cast<size_t>(rows.add());
  rows.thread[row] = static_cast<int32_t>(thread);
  rows.start_ns[row] = state.open_ns;
  rows.end_ns[row] = std::max(std::min(host_end_ns_[thread], lost_ns), state.open_ns);
}

}  // namespace strata
