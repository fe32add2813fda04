// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What threads of executors did beside callbacks and waits (docs/method.md, "Executors").
//
// A look for work that ends no wait was a wait for the executor's mutex, back to the event before
// it. A wait of no time begins spin_some or spin_all: the thread was elsewhere since the event
// before. A thread that executes and never looks for work waits for what others hand it.
#pragma once

#include <cstdint>

#include "model/context.hpp"
#include "model/event.hpp"
#include "model/executions.hpp"
#include "model/steps.hpp"

namespace strata {

enum class ExecutorInterval : uint8_t { look, spin, handed };

class ExecutorThreads {
 public:
  ExecutorThreads(Context& context, const Entities& entities, Executions& executions)
      : context_(context), entities_(entities), executions_(executions) {}

  // Comes after the executions.
  static constexpr bool wants(EventType type) {
    return is_work_step(type) || type == EventType::wait_begin || type == EventType::wait_end;
  }
  void on(const Event& event);
  void finish();

 private:
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
  };

  void add(const Event& event, ExecutorInterval kind, int64_t begin_ns);
  void pick_timer(const Event& event, State& state);
  void keep_picks();

  Context& context_;
  const Entities& entities_;
  Executions& executions_;
  PerThread<State> states_;
  Column<int32_t> timer_of_;  // by execution: number of the rcl_timer_init that was picked before
};

}  // namespace strata
