// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Events in, rows of what ended out. Events go by once, in order of time, through machines that
// keep what is open; how they are cut into chunks changes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "model/arrival.hpp"
#include "model/context.hpp"
#include "model/left_out.hpp"
#include "model/namespaces.hpp"
#include "model/threads.hpp"

namespace strata {

namespace dds {
class Middleware;
}  // namespace dds

class Entities;
class ExecutorThreads;
class Restarts;
class Waits;

class Engine {
 public:
  // Texts of the settings are numbers in `strings`.
  explicit Engine(Settings settings, Strings strings = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Strings& strings() { return context_.strings; }
  const Strings& strings() const { return context_.strings; }

  // Space for the next event, of a time, to be filled at once. Events of one instant are looked at
  // in causal order, when a later one comes.
  Arrival& next(int64_t ns) {
    Arrival& arrival = next_of_any_values(ns);
    arrival.event.value.fill(kNone);
    return arrival;
  }
  // The same, for who gives a value to all fields of its type; of others nobody asks.
  Arrival& next_of_any_values(int64_t ns) {
    if (waiting_count_ > 0 && ns != waiting_[0].event.ns) release();
    if (waiting_count_ == waiting_.size()) [[unlikely]]
      make_room();
    Arrival& arrival = waiting_[waiting_count_++];
    Event& event = arrival.event;
    event.ns = ns;
    event.type = {};
    event.is_step = false;
    event.dumped = Dumped::no;
    event.present = 0;
    event.host = event.procname = event.cpu = -1;
    event.thread = event.process = kNoThread;
    arrival.place = {};
    arrival.name = kNone;
    arrival.clock = kNone;
    return arrival;
  }

  // No event comes after this. What process ids stand for is known from here on; where it is not
  // what the settings say, the trace is to be read again.
  void end();
  const Restarts& restarts() const;
  const Namespaces& namespaces() const { return namespaces_; }

  // All is known from here on.
  void finish();

  Rows& rows() { return context_.rows; }
  // Events that introduce entities.
  const Entities& entities() const;
  const Ledger& ledger() const { return context_.ledger; }
  // What was found by who gives the events.
  void count(Finding code) { context_.ledger.add(code); }
  // From finish() on.
  const Waits& waits() const;
  const ExecutorThreads& executor_threads() const;
  dds::Middleware& middleware();
  const std::array<uint64_t, kEventTypes + 1>& counts() const { return counts_; }
  // Events that are not declared, by the numbers of their names.
  const std::map<int64_t, uint64_t>& undeclared() const { return undeclared_; }
  // Events of a type that machines have seen: all declared ones that have a thread, but no
  // operations, whose steps they see instead (model/operations.hpp).
  uint64_t seen(EventType type) const {
    return counts_[static_cast<size_t>(type)] - unseen_[static_cast<size_t>(type)];
  }
  const EventUses& uses() const { return context_.uses; }
  // First and last event, those of the kernel included; kNone without any.
  int64_t first_ns() const { return first_ns_; }
  int64_t last_ns() const { return last_ns_; }
  // When the last process announced what it had made before the trace: until then some processes
  // were not recorded yet. kNone: none did.
  int64_t joined_ns() const { return joined_ns_; }

 private:
  struct Machines;

  void release();
  void make_room();
  void look_at(Arrival& arrival);
  void note_dump(const Arrival& arrival);
  bool is_outside(const Event& event) const;
  static bool is_announced(const Event& event);
  static bool is_of_own_thread(const Event& event);
  bool is_of_program(const Arrival& arrival) const;
  std::string_view name_of(const Arrival& arrival) const;

  Context context_;
  Threads threads_;
  Namespaces namespaces_;
  LeftOut left_out_;
  std::unique_ptr<Machines> machines_;
  // Events of one instant come first; what is behind them is room.
  std::vector<Arrival> waiting_;
  size_t waiting_count_ = 0;
  std::array<uint64_t, kEventTypes + 1> counts_{};
  std::array<uint64_t, kEventTypes + 1> unseen_{};
  std::map<int64_t, uint64_t> undeclared_;
  uint64_t at_ = 0;
  int64_t first_ns_ = kNone;
  int64_t last_ns_ = kNone;
  int64_t joined_ns_ = kNone;
  bool has_ended_ = false;
};

}  // namespace strata
