// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/executor_threads.hpp"

#include "model/steps.hpp"

namespace strata {

void ExecutorThreads::add(const Event& event, ExecutorInterval kind, State& state,
                          int64_t begin_ns) {
  const int64_t open = executions_.innermost_open(event.thread);
  if (open == kNone) {
    state.outside[static_cast<size_t>(kind)].add({begin_ns, event.ns});
    return;
  }
  undecided_.push_back({event.thread, kind, static_cast<int32_t>(open), begin_ns, event.ns,
                        static_cast<int64_t>(event.at)});
}

// A callback is of the timer that its thread picked last, if no other callback was since.
void ExecutorThreads::pick_timer(const Event& event, State& state) {
  if (event.type == EventType::rclcpp_executor_execute) {
    state.picked_timer =
        entities_.timer_init(event.process, event[field::rclcpp_executor_execute::handle]);
    state.picked_ns = event.ns;
  } else if (event.type == EventType::callback_start) {
    timer_of_.push_back(static_cast<int32_t>(state.picked_timer));
    if (state.picked_timer == kNone) return;
    const auto execution = static_cast<size_t>(executions_.begun());
    context_.rows.executions.timer_picked_ns[execution] = state.picked_ns;
    state.picked_timer = kNone;
  }
}

void ExecutorThreads::finish() {
  keep_picks();
  decide();
  auto& rows = context_.rows.executor_threads;
  for (uint32_t thread = 0; thread < states_.size(); ++thread) {
    const State& state = states_.at(thread);
    if (state.first_ns == kNone) continue;
    const auto row = static_cast<size_t>(rows.add());
    rows.thread[row] = static_cast<int32_t>(thread);
    rows.first_ns[row] = state.first_ns;
    rows.last_ns[row] = state.last_ns;
    rows.spin_ns[row] = state.spin_ns;
    rows.has_executor[row] = state.has_executor ? 1 : 0;
  }
}

void ExecutorThreads::decide() {
  for (size_t row = 0; row < undecided_.size(); ++row) {
    const Undecided& one = undecided_[row];
    if (executions_.enclosing(one.open_execution, one.at, one.end_ns) != kNone) continue;
    states_.at(one.thread).undecided[static_cast<size_t>(one.kind)].add({one.begin_ns, one.end_ns});
  }
  undecided_.clear();
}

ThreadIntervals ExecutorThreads::intervals(ExecutorInterval kind,
                                           std::span<const int64_t> order) const {
  ThreadIntervals found(order.size());
  for (size_t thread = 0; thread < order.size(); ++thread) {
    const auto own = static_cast<size_t>(order[thread]);
    if (own >= states_.size()) continue;
    const State& state = states_.at(static_cast<uint32_t>(own));
    // Who looked for work only later was never handed any.
    if (kind == ExecutorInterval::handed && state.spin_ns != kNone) continue;
    found.add(thread, state.outside[static_cast<size_t>(kind)]);
    found.add(thread, state.undecided[static_cast<size_t>(kind)]);
  }
  return found;
}

// Of callbacks that are the timer's, and where no events were lost since it was picked.
void ExecutorThreads::keep_picks() {
  auto& executions = context_.rows.executions;
  const auto& timers = context_.rows.timers;
  for (size_t row = 0; row < executions.size(); ++row) {
    if (executions.timer_picked_ns[row] == kNone) continue;
    const int64_t timer = pick(context_.rows.callbacks.timer, executions.callback[row]);
    const Event& init =
        entities_.inits(EventType::rcl_timer_init)[static_cast<size_t>(timer_of_[row])];
    const bool same =
        timer != kNone && pick(timers.handle, timer) == init[field::rcl_timer_init::timer_handle];
    if (!same ||
        context_.settings.losses.touch(executions.timer_picked_ns[row], executions.start_ns[row])) {
      executions.timer_picked_ns[row] = kNone;
    }
  }
}

}  // namespace strata
