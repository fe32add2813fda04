// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/uses/work_uses.hpp"

#include <iterator>
#include <map>
#include <utility>

#include "model/service_steps.hpp"
#include "model/steps.hpp"

namespace strata {
namespace {

// The last of what was picked before; of services and waitables an executor tells nothing.
constexpr bool is_done(EventType type) {
  switch (type) {
    case EventType::callback_end:
    case EventType::rclcpp_executor_get_next_ready:
    case EventType::rclcpp_executor_execute:
    case EventType::rmw_take:
    case EventType::rcl_take:
    case EventType::rclcpp_take:
    case EventType::rmw_take_request:
    case EventType::rmw_send_response:
    case EventType::rmw_take_response:
      return true;
    default:
      return false;
  }
}

constexpr bool is_sent(EventType type) {
  return type == EventType::rmw_publish || type == EventType::rclcpp_intra_publish ||
         type == EventType::rclcpp_ring_buffer_enqueue || type == EventType::rmw_send_request;
}

}  // namespace

void WorkUses::on_start(const Event& event, State& state) {
  state.begun = executions_.begun();
  next_.push_back(static_cast<uint8_t>(Next::nothing));
  for (const int64_t ns : state.resumes) resumed_.push_back({state.begun, lost(ns, event.ns)});
  state.resumes.clear();
}

void WorkUses::on_end(const Event& event, State& state) {
  const int64_t address = event[field::callback_end::callback];
  const bool may_be_lost = !context_.settings.losses.none();
  const auto before = may_be_lost ? state.ends.find(address) : state.ends.end();
  const bool has_before = before != state.ends.end();
  EventUses& uses = context_.uses;
  const int64_t ended = executions_.ended();
  if (ended != kNone) {
    const int64_t start_ns = context_.rows.executions.start_ns[static_cast<size_t>(ended)];
    const bool doubtful = lost(start_ns, event.ns);
    uses.count(event.type, doubtful ? Use::execution_end_doubtful : Use::execution_end);
  } else {
    // A start that is missing came after the last that the executor did.
    int64_t since_ns = state.executor_at != kNone ? state.executor_ns : 0;
    if (has_before && before->second.at > state.executor_at) since_ns = before->second.ns;
    if (lost(since_ns, event.ns)) {
      uses.count(event.type, Use::partner_lost);
    } else if (state.work == EventType::other) {
      uses.count_by_age(event.type, event.process, Use::partner_earlier, Use::unexplained);
    } else {
      uses.count(event.type, Use::unexplained);
    }
  }
  if (may_be_lost) state.ends[address] = {static_cast<int64_t>(event.at), event.ns};
}

// A wait ends with a look for work. Of what a thread can do after a wait that an executor left
// without one, two things show: spin_some and spin_all begin with a wait of no time, and a callback
// that spins ends (rclcpp's executor.cpp: these look only while their time is not over, spin_once
// while nobody cancelled it).
void WorkUses::follow_wait(const Event& event, State& state) {
  using enum EventType;
  const Wait& wait = state.wait;
  EventUses& uses = context_.uses;
  state.wait.is_open = false;
  if (event.type == rclcpp_executor_get_next_ready) {
    uses.count(rclcpp_executor_wait_for_work, Use::wait_begin);
  } else if (lost(wait.ns, event.ns)) {
    uses.count(rclcpp_executor_wait_for_work, Use::partner_lost);
  } else if (event.type == rclcpp_executor_wait_for_work &&
             event[field::rclcpp_executor_wait_for_work::timeout] == 0) {
    uses.count(rclcpp_executor_wait_for_work, Use::spin_over);
  } else if (event.type == callback_end && wait.execution != kNone) {
    within_.push_back({rclcpp_executor_wait_for_work, false, false, false, wait.execution, wait.at,
                       wait.ns, kNone, 0});
  } else {
    uses.count(rclcpp_executor_wait_for_work, Use::unexplained);
  }
}

void WorkUses::on_ready(const Event& event, State& state) {
  EventUses& uses = context_.uses;
  if (state.work == EventType::rclcpp_executor_wait_for_work) {
    uses.count(event.type, Use::wait_end);
    return;
  }
  if (state.last_at == kNone) {
    state.is_opened = true;  // Whether its process is new is known at the end.
    return;
  }
  const bool is_done_before = is_done(state.before);
  const bool is_beside = may_have_called(event.thread, state.before_at);
  if (is_done_before && !is_beside) {
    uses.count(event.type, Use::look_for_more);
    return;
  }
  const int64_t since_ns = state.before != EventType::other ? state.before_ns : 0;
  const Within look{event.type,
                    state.executor_at == kNone,
                    is_sent(state.before),
                    lost(since_ns, event.ns),
                    executions_.innermost_open(event.thread),
                    static_cast<int64_t>(event.at),
                    event.ns,
                    state.last_at,
                    state.last_ns};
  if (is_beside) {
    beside_.push_back({look, event.thread, state.before_at, is_done_before});
  } else if (look.execution == kNone) {
    uses.count(event.type, use_of_look(look, false, false, false));
  } else {
    within_.push_back(look);
  }
}

// Hooks saw its thread write or take something since, which may be a step of a service call.
bool WorkUses::may_have_called(uint32_t thread, int64_t since) const {
  const LastEvents& last = context_.last[thread];
  return last.latest({EventType::write_begin, EventType::take_end}) > since;
}

Use WorkUses::use_of_look(const Within& look, bool is_left, bool is_within, bool is_inside) {
  if (is_left) return Use::look_for_more;
  if (look.is_first) return Use::look_first;
  if (is_within) return Use::look_within;
  if (look.has_sent && !is_inside) return Use::look_after_sending;
  return look.is_lost ? Use::partner_lost : Use::unexplained;
}

// Whether an execution that has no end is known to have run until a look for work.
bool WorkUses::is_left_by(const Within& look) const {
  const auto& rows = context_.rows.executions;
  const auto ran_until = [&](size_t row) {
    if (rows.end_ns[row] != kNone) return false;
    if (rows.until_at[row] != kNone) return rows.until_at[row] == look.at;
    // The first event of its thread after the loss that bounds it.
    const int64_t lost_ns = rows.until_ns[row];
    if (look.last_at == rows.start_at[row] && lost_ns <= look.last_ns) return true;
    return look.last_ns < lost_ns && lost_ns <= look.ns;
  };
  for (int64_t row = look.execution; row != kNone; row = rows.outer[static_cast<size_t>(row)]) {
    if (ran_until(static_cast<size_t>(row))) return true;
  }
  return false;
}

void WorkUses::finish() {
  for (uint32_t thread = 0; thread < states_.size(); ++thread) {
    const int64_t process = context_.rows.threads.process[thread];
    count_rest(static_cast<uint32_t>(process), states_[thread]);
  }
  count_starts();
  count_beside();
  count_within();
  count_suspensions();
  picks_.finish();
}

// What waits for an event of its thread that never came.
void WorkUses::count_rest(uint32_t process, State& state) {
  using enum EventType;
  EventUses& uses = context_.uses;
  if (state.wait.is_open) {
    const bool is_lost = lost(state.wait.ns, INT64_MAX);
    uses.count(rclcpp_executor_wait_for_work, is_lost ? Use::partner_lost : Use::executor_last);
  }
  if (state.pick.is_open) picks_.end(state.pick);
  if (state.is_opened) {
    const bool is_new = process < is_new_.size() && is_new_[process] &&
                        !uses.was_before(static_cast<int64_t>(process));
    uses.count(rclcpp_executor_get_next_ready, is_new ? Use::look_first : Use::opening_wait_end);
  }
  for (const int64_t ns : state.resumes) {
    uses.count(callback_resume, lost(ns, INT64_MAX) ? Use::partner_lost : Use::thread_last);
  }
}

void WorkUses::count_starts() {
  const auto& rows = context_.rows.executions;
  for (size_t row = 0; row < rows.size(); ++row) {
    context_.uses.count(EventType::callback_start, use_of_start(row));
  }
}

Use WorkUses::use_of_start(size_t row) const {
  const auto& rows = context_.rows.executions;
  const auto thread = static_cast<uint32_t>(rows.thread[row]);
  const int64_t callback = rows.callback[row];
  const bool given =
      callback != kNone && context_.rows.callbacks.kind[static_cast<size_t>(callback)] !=
                               static_cast<int64_t>(CallbackKind::unknown);
  if (!given && !context_.uses.is_older(context_.rows.threads.process[thread]) &&
      !lost(0, rows.start_ns[row])) {
    return Use::unexplained;
  }
  if (rows.end_ns[row] != kNone) return Use::execution_begin;
  if (lost(rows.start_ns[row], rows.until_ns[row])) return Use::execution_begin_without_end;
  switch (static_cast<Next>(next_[row])) {
    case Next::nothing:
      return Use::execution_begin_last;
    case Next::left:
      return Use::execution_begin_thrown;
    case Next::began:
      break;
  }
  // Of a thread without events of an executor, the next that begins shows it.
  const bool has_executor = states_.at(thread).executor_at != kNone;
  return has_executor ? Use::unexplained : Use::execution_begin_thrown;
}

void WorkUses::count_within() {
  const auto& rows = context_.rows.executions;
  for (const Within& look : within_) {
    const int64_t around = executions_.enclosing(look.execution, look.at, look.ns);
    if (look.type == EventType::rclcpp_executor_wait_for_work) {
      context_.uses.count(look.type, around != kNone ? Use::spin_over : Use::unexplained);
      continue;
    }
    const bool is_within = pick(rows.end_ns, around) != kNone;
    context_.uses.count(look.type, use_of_look(look, is_left_by(look), is_within, around != kNone));
  }
}

void WorkUses::count_beside() {
  if (beside_.empty()) return;
  const auto& steps = context_.rows.service_steps;
  std::map<std::pair<int64_t, int64_t>, StepKind> told;  // by thread and place
  for (size_t row = 0; row < steps.size(); ++row) {
    if (static_cast<StepRule>(steps.told[row]) == StepRule::event) continue;
    told[{steps.thread[row], steps.at[row]}] = static_cast<StepKind>(steps.kind[row]);
  }
  for (const Beside& one : beside_) {
    Within look = one.look;
    bool is_done = one.is_done;
    const auto next = told.lower_bound({one.thread, look.at});
    if (next != told.begin()) {
      const auto& [key, kind] = *std::prev(next);
      if (key.first == one.thread && key.second > one.since) {
        look.has_sent = kind == StepKind::send_request;
        is_done = !look.has_sent;
      }
    }
    if (is_done) {
      context_.uses.count(look.type, Use::look_for_more);
    } else {
      within_.push_back(look);
    }
  }
}

void WorkUses::count_suspensions() {
  const auto& rows = context_.rows.suspensions;
  EventUses& uses = context_.uses;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.is_resume[row] != 0) continue;
    if (executions_.innermost(rows.execution[row], rows.at[row], rows.ns[row]) != kNone) {
      uses.count(EventType::callback_suspend, Use::callback_suspended);
    } else if (lost(0, rows.ns[row])) {
      uses.count(EventType::callback_suspend, Use::partner_lost);
    } else {
      const bool older = uses.is_older(rows.process[row]);
      uses.count(EventType::callback_suspend, older ? Use::partner_earlier : Use::unexplained);
    }
  }
  const auto& executions = context_.rows.executions;
  for (const Resumed& one : resumed_) {
    const bool known = executions.is_resumed[static_cast<size_t>(one.execution)] != 0;
    const Use other = one.is_lost ? Use::partner_lost : Use::unexplained;
    uses.count(EventType::callback_resume, known ? Use::callback_resumed : other);
  }
}

}  // namespace strata
