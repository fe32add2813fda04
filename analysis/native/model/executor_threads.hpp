// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What threads of executors did beside callbacks and waits (docs/method.md, "Executors").
//
// A look for work that ends no wait was a wait for the executor's mutex, back to the event before
// it. A wait of no time begins spin_some or spin_all: the thread was elsewhere since the event
// before. A thread that executes and never looks for work waits for what others hand it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "model/column.hpp"
#include "model/context.hpp"
#include "model/event.hpp"
#include "model/executions.hpp"
#include "model/interval_log.hpp"
#include "model/steps.hpp"
#include "model/thread_intervals.hpp"

namespace strata {

enum class ExecutorInterval : uint8_t { look, spin, handed };
inline constexpr size_t kExecutorIntervals = 3;

class ExecutorThreads {
 public:
  ExecutorThreads(Context& context, const Entities& entities, Executions& executions)
      : context_(context), entities_(entities), executions_(executions) {}

  // Comes after the executions.
  static constexpr bool wants(EventType type) {
    return is_work_step(type) || type == EventType::wait_begin || type == EventType::wait_end;
  }
  [[gnu::always_inline]] void on(const Event& event);
  void finish();

  // From finish() on: those of a kind, for threads in some order.
  ThreadIntervals intervals(ExecutorInterval kind, std::span<const int64_t> order) const;

 private:
  using Logs = std::array<IntervalLog, kExecutorIntervals>;
  struct State {
    int64_t first_ns = kNone;
    int64_t last_ns = kNone;
    int64_t spin_ns = kNone;
    EventType work = EventType::other;  // the last work
    int64_t work_ns = kNone;
    EventType step = EventType::other;  // the last execute, or begin or end of a callback
    int64_t step_ns = kNone;
    int64_t picked_timer = kNone;  // of the last execute that no callback followed yet
    int64_t picked_ns = kNone;
    bool has_executor = false;
    Logs outside;    // by kind: while no callback was known to be open
    Logs undecided;  // while one was, that turned out to be over
  };
  // Intervals that ended while a callback was open: it may have been over, its end lost.
  struct Undecided {
    uint32_t thread;
    ExecutorInterval kind;
    int32_t open_execution;  // the innermost
    int64_t begin_ns;
    int64_t end_ns;
    int64_t at;  // the place of the event that ended it
  };

  void add(const Event& event, ExecutorInterval kind, State& state, int64_t begin_ns);
  void pick_timer(const Event& event, State& state);
  void keep_picks();
  void decide();

  Context& context_;
  const Entities& entities_;
  Executions& executions_;
  PerThread<State> states_;
  Column<Undecided> undecided_;
  Column<int32_t> timer_of_;  // by execution: number of the rcl_timer_init that was picked before
};

// In place, so that it is compiled for each type of event by itself.
inline void ExecutorThreads::on(const Event& event) {
  using enum EventType;
  const bool waits_in_middleware = event.type == wait_begin || event.type == wait_end;
  if (!is_work_step(event.type) && !waits_in_middleware) return;
  State& state = states_[event.thread];
  if (state.first_ns == kNone) state.first_ns = event.ns;
  state.last_ns = event.ns;
  const bool looks = event.type == rclcpp_executor_wait_for_work ||
                     event.type == rclcpp_executor_get_next_ready || event.type == wait_begin;
  if (looks && state.spin_ns == kNone) state.spin_ns = event.ns;
  if (waits_in_middleware) return;
  switch (event.type) {
    case rclcpp_executor_wait_for_work: {
      // Before a callback's start its take lies, and before its end the callback.
      const bool spins = event[field::rclcpp_executor_wait_for_work::timeout] == 0 &&
                         state.work != callback_start && state.work != rclcpp_executor_execute;
      if (spins && state.work != other) add(event, ExecutorInterval::spin, state, state.work_ns);
      break;
    }
    case rclcpp_executor_get_next_ready:
      if (state.work != other && state.work != rclcpp_executor_wait_for_work) {
        add(event, ExecutorInterval::look, state, state.work_ns);
      }
      break;
    case rclcpp_executor_execute:
      if (state.step != other && state.spin_ns == kNone) {
        add(event, ExecutorInterval::handed, state, state.step_ns);
      }
      break;
    default:
      break;
  }
  pick_timer(event, state);
  state.work = event.type;
  state.work_ns = event.ns;
  if (event.type == rclcpp_executor_wait_for_work || event.type == rclcpp_executor_get_next_ready) {
    state.has_executor = true;
    return;
  }
  if (event.type == rclcpp_executor_execute) state.has_executor = true;
  state.step = event.type;
  state.step_ns = event.ns;
}

}  // namespace strata
