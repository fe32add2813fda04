// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Executions of callbacks: intervals on a thread.
//
// Pairing is a state machine for each (thread, callback):
//
//   state     event           new state   what it means
//   idle      callback_start  running     an execution begins
//   running   callback_end    idle        it ends: paired
//   running   callback_start  running     the first never ended (an rclcpp callback threw, or its
//                                         end was lost): no end, counted
//   idle      callback_end    idle        the trace began in mid-callback, or the start was lost:
//                                         counted
//
// While events were being lost, an end may be that of a later execution: one that was running then
// has no end that is known, and is counted.
//
// An execution without an end is bounded by the next event of an executor or callback of its
// thread, or by the thread's last event, or by the first loss of events. That it has no end may be
// known long after: what lay inside it is asked for in finish(), of *candidates*. What really
// encloses an event was open then; so it is the innermost execution that was open, or one that was
// open when that one began, and so on (`outer`).
#pragma once

#include <cstdint>
#include <vector>

#include "model/context.hpp"
#include "model/entities.hpp"
#include "model/event.hpp"
#include "model/steps.hpp"

namespace strata {

class Executions {
 public:
  explicit Executions(Context& context) : context_(context), rows_(context.rows.executions) {}

  static constexpr bool wants(EventType type) {
    return is_work_step(type) || ends_wait_for_callback(type) ||
           type == EventType::callback_suspend || type == EventType::callback_resume;
  }
  [[gnu::always_inline]] void on(const Event& event);
  // Ends, bounds and callbacks of all rows; pieces of coroutines joined (suspensions.cpp).
  void finish(const Entities& entities);

  // While events go by: the innermost execution that began on a thread and is not over as far as is
  // known; kNone for none.
  int64_t innermost_open(uint32_t thread) {
    const auto& open = states_[thread].open;
    return open.empty() ? kNone : open.back().row;
  }
  // The row that the callback_start which is looked at began.
  int64_t begun() const { return static_cast<int64_t>(rows_.size()) - 1; }

  // The row that the callback_end which is looked at ended; kNone for none.
  int64_t ended() const { return ended_; }

  // From finish() on: the innermost piece around an event, given what was open then.
  int64_t innermost(int64_t candidate, int64_t at, int64_t ns) const;
  // The same, by the first piece of its execution.
  int64_t enclosing(int64_t candidate, int64_t at, int64_t ns) const {
    return first_piece(innermost(candidate, at, ns));
  }
  // Those without an end after which their thread did no other work: one a thread at most.
  std::vector<int64_t> hanging() const;

 private:
  struct Open {
    int64_t address;
    int64_t row;
  };
  struct State {
    std::vector<Open> open;          // in the order in which they began
    std::vector<int64_t> unbounded;  // rows that no event bounds yet
    int64_t resume = kNone;          // row of the suspensions that waits for its piece
  };
  struct Piece {
    size_t row;
    size_t first;
    size_t last;
    int64_t previous;
    int64_t finished_ns;
    int64_t paused_ns;
  };

  void begin(const Event& event, State& state);
  void end(const Event& event, State& state);
  void suspend(const Event& event, State& state);
  void bound(size_t row);
  void find_depths();
  void count();
  void join_pieces();
  std::vector<Piece> join(const std::vector<std::pair<size_t, size_t>>& pieces,
                          const std::vector<bool>& awaited) const;
  void add_pieces(std::vector<Piece> pieces, const std::vector<bool>& awaited);
  int64_t first_piece(int64_t row) const;

  Context& context_;
  ExecutionsRows& rows_;
  PerThread<State> states_;
  int64_t ends_without_start_ = 0;
  int64_t ended_ = kNone;
  std::vector<int64_t> doubtful_;  // rows with an end that may be another's, in order of these
};

// In place, so that it is compiled for each type of event by itself.
inline void Executions::on(const Event& event) {
  if (!wants(event.type)) return;
  State& state = states_[event.thread];
  const bool bounds = is_work_step(event.type);
  if (bounds && !state.unbounded.empty()) {
    for (const int64_t row : state.unbounded) {
      rows_.until_at[static_cast<size_t>(row)] = static_cast<int64_t>(event.at);
      rows_.until_ns[static_cast<size_t>(row)] = event.ns;
    }
    state.unbounded.clear();
  }
  switch (event.type) {
    case EventType::callback_start:
      begin(event, state);
      break;
    case EventType::callback_end:
      end(event, state);
      break;
    case EventType::callback_suspend:
    case EventType::callback_resume:
      suspend(event, state);
      break;
    default:
      break;
  }
  if (ends_wait_for_callback(event.type)) state.resume = kNone;
}

}  // namespace strata
