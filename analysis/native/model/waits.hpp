// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Intervals in which threads waited for work.
//
// A wait of an executor goes from wait_for_work to the next get_next_ready of its thread; a wait
// that another wait_for_work, a callback or the end of the trace follows has no end and is left
// out. In a process that was there before the trace began, the first that a thread does is to come
// back from a wait, unless the trace began while it did something else: an *opening* wait, from the
// begin of the trace. Of a thread without either, its waits within the middleware count, where they
// were recorded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/context.hpp"
#include "model/entities.hpp"
#include "model/event.hpp"
#include "model/interval_log.hpp"
#include "model/steps.hpp"
#include "model/thread_intervals.hpp"

namespace strata {

class Waits {
 public:
  explicit Waits(Context& context) : context_(context) {}

  static constexpr bool wants(EventType type) {
    return is_work_step(type) || type == EventType::wait_begin || type == EventType::wait_end;
  }
  [[gnu::always_inline]] void on(const Event& event);
  // The first runtime event of all.
  void begin(int64_t ns) {
    if (!has_begun_) first_ns_ = ns;
    has_begun_ = true;
  }
  // Which waits count, and those that were open when the trace ended (`open_waits`).
  void finish(const Entities& entities);

  // From finish() on.

  // Of a thread. Of one instant an executor's waits come first, the opening one second.
  struct OfThread {
    const IntervalLog* waits;  // null for none
    bool has_opening;
    Interval opening;
    bool of_middleware;
  };
  OfThread of(uint32_t thread) const;
  // Of threads in some order.
  ThreadIntervals intervals(std::span<const int64_t> order) const;
  bool waited(uint32_t thread) const {
    const OfThread own = of(thread);
    return own.waits != nullptr || own.has_opening;
  }
  // The last thing that any thread did on a thread's host, or when its process was another one.
  int64_t host_end_ns(uint32_t thread) const { return host_end_ns_[thread]; }

 private:
  struct State {
    IntervalLog executor;
    IntervalLog middleware;     // of a thread that has no other waits so far
    int64_t wait_ns = 0;        // that the executor is in
    int64_t wait_begin_ns = 0;  // that the middleware is in
    int64_t open_ns = 0;        // when the wait began that the last event belongs to
    int64_t opening_ns = 0;     // when the thread came back first
    bool in_executor = false;
    bool in_middleware = false;
    bool is_opened = false;  // it first came back from a wait
  };

  void find_host_ends();
  void add_open(uint32_t thread);

  Context& context_;
  PerThread<State> states_;
  std::vector<int64_t> host_end_ns_;
  int64_t first_ns_ = 0;
  bool has_begun_ = false;
};

// In place, so that it is compiled for each type of event by itself.
inline void Waits::on(const Event& event) {
  if (!wants(event.type)) return;
  State& state = states_[event.thread];
  const EventType last = context_.last[event.thread].step().type;
  switch (event.type) {
    case EventType::rclcpp_executor_wait_for_work:
      state.in_executor = true;
      state.wait_ns = state.open_ns = event.ns;
      break;
    case EventType::rclcpp_executor_get_next_ready:
      if (state.in_executor) {
        if (state.executor.size() == 0) state.middleware = {};
        state.executor.add({state.wait_ns, event.ns});
        state.in_executor = false;
      } else if (last == EventType::other) {
        state.is_opened = true;
        state.opening_ns = event.ns;
      }
      break;
    case EventType::wait_begin:
      state.in_middleware = true;
      state.wait_begin_ns = event.ns;
      // rclpy's wait holds one of the middleware in it; that one was told of after it.
      if (last != EventType::rclcpp_executor_wait_for_work) state.open_ns = event.ns;
      break;
    case EventType::wait_end:
      if (state.in_middleware && state.executor.size() == 0) {
        state.middleware.add({state.wait_begin_ns, event.ns});
      }
      state.in_middleware = false;
      break;
    case EventType::rclcpp_executor_execute:
    case EventType::callback_start:
    case EventType::callback_end:
      // Nothing else happens on a thread while it waits: the end of the wait was lost.
      state.in_executor = state.in_middleware = false;
      break;
    default:
      break;
  }
}

}  // namespace strata
