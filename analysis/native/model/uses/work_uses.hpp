// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What callbacks' and executors' events were used for, and the suspensions of coroutines.
//
// What an event is used for depends on what its thread does next: it waits in the state of its
// thread. What depends on how executions end, or on what was made by then, waits as a row until
// finish(); picks of one handle that went on in one way, while nothing was made, are one row.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/context.hpp"
#include "model/entities.hpp"
#include "model/event.hpp"
#include "model/executions.hpp"
#include "model/steps.hpp"
#include "model/uses/picks.hpp"

namespace strata {

class WorkUses {
 public:
  WorkUses(Context& context, const Entities& entities, Executions& executions)
      : context_(context), executions_(executions), picks_(context, entities) {}

  // Executions have seen the event.
  static constexpr bool wants(EventType type) {
    if (type == EventType::other) return false;
    return is_of_timeline(type) || kEvents[static_cast<size_t>(type)].is_init;
  }
  [[gnu::always_inline]] void on(const Event& event);
  // After entities, executions, takes and service calls.
  void finish();
  // From finish() on: which timers were picked, by their init events.
  const std::vector<bool>& picked_timers() const { return picks_.picked_timers(); }

 private:
  struct Wait {
    bool is_open = false;
    int64_t ns = 0;
    int64_t at = 0;
    int64_t execution = kNone;  // innermost that was open
  };
  struct State {
    Wait wait;
    OpenPick pick;
    int64_t begun = kNone;                // execution after which the thread did no work yet
    EventType work = EventType::other;    // the last
    EventType before = EventType::other;  // of `ros2`, the last
    int64_t before_ns = 0;
    int64_t before_at = kNone;
    int64_t last_at = kNone;  // of the timeline
    int64_t last_ns = INT64_MIN;
    int64_t executor_at = kNone;  // the last event of an executor
    int64_t executor_ns = 0;
    bool is_opened = false;        // the first was the end of a wait
    std::vector<int64_t> resumes;  // times of those that no callback_start followed yet
    struct End {
      int64_t at;
      int64_t ns;
    };
    std::unordered_map<int64_t, End> ends;  // of callbacks, where events were lost
  };
  // What the thread did after an execution began.
  enum class Next : uint8_t { nothing, left, began };
  // A wait or a look for work, whose use depends on the executions that were open then.
  struct Within {
    EventType type;
    bool is_first;  // of the thread's executor
    bool has_sent;  // just before
    bool is_lost;   // events were, since then
    int64_t execution;
    int64_t at;
    int64_t ns;
    int64_t last_at;  // of its thread, before
    int64_t last_ns;
  };
  // A look for work after which hooks may tell that its thread took part in a service call.
  struct Beside {
    Within look;
    uint32_t thread;
    int64_t since;  // the last event of `ros2` before
    bool is_done;   // by that one
  };
  struct Resumed {
    int64_t execution;
    bool is_lost;
  };

  void on_start(const Event& event, State& state);
  void on_end(const Event& event, State& state);
  void on_ready(const Event& event, State& state);
  void on_suspend(const Event& event);
  void follow_wait(const Event& event, State& state);
  void count_rest(uint32_t process, State& state);
  void count_starts();
  Use use_of_start(size_t row) const;
  bool may_have_called(uint32_t thread, int64_t since) const;
  void count_beside();
  void count_within();
  bool is_left_by(const Within& look) const;
  static Use use_of_look(const Within& look, bool is_left, bool is_within, bool is_inside);
  void count_suspensions();
  bool lost(int64_t begin_ns, int64_t end_ns) const {
    return context_.settings.losses.touch(begin_ns, end_ns);
  }

  Context& context_;
  Executions& executions_;
  Picks picks_;
  PerThread<State> states_;
  Column<uint8_t> next_;  // Next, by execution
  std::vector<Within> within_;
  std::vector<Beside> beside_;
  std::vector<Resumed> resumed_;
  std::vector<bool> is_new_;  // processes that made a node
};

// In place, so that it is compiled for each type of event by itself.
inline void WorkUses::on(const Event& event) {
  if (!wants(event.type)) return;
  if (kEvents[static_cast<size_t>(event.type)].is_init) picks_.on_init(event);
  if (event.type == EventType::rcl_node_init) {
    if (event.process >= is_new_.size()) is_new_.resize(event.process + size_t{1}, false);
    is_new_[event.process] = true;
  }
  if (!is_of_timeline(event.type)) return;
  State& state = states_[event.thread];
  const bool is_work = is_work_step(event.type);
  if (state.pick.is_open) {
    picks_.follow(event, state.pick, executions_.begun());
  }
  if (is_work && state.wait.is_open) follow_wait(event, state);
  if (is_work && state.begun != kNone) {
    const bool began = event.type == EventType::callback_start;
    next_[static_cast<size_t>(state.begun)] =
        static_cast<uint8_t>(began ? Next::began : Next::left);
    state.begun = kNone;
  }
  switch (event.type) {
    case EventType::callback_start:
      on_start(event, state);
      break;
    case EventType::callback_end:
      on_end(event, state);
      break;
    case EventType::rclcpp_executor_wait_for_work:
      state.wait = {true, event.ns, static_cast<int64_t>(event.at),
                    executions_.innermost_open(event.thread)};
      break;
    case EventType::rclcpp_executor_get_next_ready:
      on_ready(event, state);
      break;
    case EventType::rclcpp_executor_execute:
      picks_.begin(event, state.pick);
      break;
    case EventType::callback_resume:
      state.resumes.push_back(event.ns);
      break;
    default:
      break;
  }
  state.last_at = static_cast<int64_t>(event.at);
  state.last_ns = event.ns;
  if (is_work) state.work = event.type;
  if (is_of_ros2(event.type)) {
    state.before = event.type;
    state.before_ns = event.ns;
    state.before_at = static_cast<int64_t>(event.at);
  }
  if (is_of_executor(event.type)) {
    state.executor_at = state.last_at;
    state.executor_ns = event.ns;
  }
}

}  // namespace strata
