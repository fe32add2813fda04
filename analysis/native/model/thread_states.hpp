// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What one thread of the kernel did, from the scheduler's events of it as they go by. A segment,
// which is a switch and the wakes after it, has its states when the thread's next switch is known.
//
// A thread has the events in (a CPU goes to it: sched_switch, next_tid), out (the CPU is taken from
// it: prev_tid; runnable when prev_state says that it could go on) and wake (sched_waking,
// sched_wakeup, sched_wakeup_new). What follows an event, until the next:
//
//   event          after          the thread is then
//   in             anything       running
//   out, runnable  running        preempted: it could run, and has no CPU
//   out, else      running        blocked: it waits for something
//   wake           blocked        preempted
//   wake           running        running
//   wake           preempted      preempted
//
// * Blocked that no wake ends: where a wake came while the thread still ran, on its way out, it
//   went back to the queue at once: preempted. Else it counts as blocked up to the in.
// * A switch from idle that is missing (another thread leaves the CPU next, and was woken between
//   the two) is put at that wake: a CPU that idles goes to a woken thread at once. Inferred,
//   counted; early by the time of leaving idle, some ten microseconds.
// * An in after which the CPU's next switch names another thread, or that the thread's next switch
//   contradicts (another in, or an out on another CPU), and an out that another out follows: events
//   were lost, the state is unknown up to the thread's next switch (from its wake on, where it was
//   blocked and one was seen). Counted by CPU.
// * Before its first switch: running when that is an out; else blocked up to a wake, and unknown
//   where there was none; from the first event of the host's scheduler on. After its last event a
//   state goes on to the last event of the host's scheduler.
//
// Each instant between those two ends is in one interval of a thread that has events at all.
#pragma once

#include <cstdint>
#include <vector>

#include "model/byte_rows.hpp"
#include "model/column.hpp"
#include "model/differences.hpp"

namespace strata {

enum class ThreadState : uint8_t { running, preempted, blocked, unknown };

// In causal order at one instant.
enum class SchedulerEvent : uint8_t { out_runnable, out_blocked, wake, in };

struct StateInterval {
  int64_t start_ns;
  int64_t end_ns;
  ThreadState state;
  int32_t cpu;  // where it ran, or in whose queue it was; kNone when blocked or not known
};

class ThreadStates {
 public:
  struct Item {
    int64_t ns = 0;
    uint64_t id = 0;    // to find it again
    int32_t cpu = -1;   // row of the CPUs; of a wake the one that it waits for
    int64_t order = 0;  // among events of one instant and kind
    SchedulerEvent kind{};
    bool broken = false;  // an `in` after which its CPU's next switch names another thread
  };

  // `first_ns` is the first event of the host's scheduler.
  explicit ThreadStates(int64_t first_ns) : first_ns_(first_ns), until_ns_(first_ns) {}

  // The next event, in order of time, at one instant of kind and `order`.
  void add(const Item& item);

  // An `in` that was not recorded, at the time of the last wake.
  void insert(const Item& item);

  // When it was woken last; before all time if it never was.
  int64_t woken_ns() const { return woken_ns_; }

  // No `in` can be inserted any more until the next wake.
  void settle();

  // So many events wait for the next wake that it is worth knowing whether they must.
  bool is_long(size_t limit) const { return is_open_ && waiting_.size() >= limit_ + limit; }
  void stay_open() { limit_ *= 2; }

  // What came at an instant, if it is not gone: its CPU's next switch names another thread.
  void mark_broken(uint64_t id, int64_t ns);

  // No event comes; the last state goes on to `last_ns`.
  void finish(int64_t last_ns);

  // Calls `visit` with all intervals that have ended, in order of time, without gaps.
  template <typename Visitor>
  void each(Visitor&& visit) const {
    int64_t start_ns = first_ns_;
    for (ByteRows::Cursor cursor(ended_); !cursor.is_over();) {
      const uint8_t head = cursor.byte();
      const uint8_t place = head >> 2U;
      int32_t cpu = static_cast<int32_t>(place) - 1;
      if (place == kFarCpu) cpu = static_cast<int32_t>(cursor.number());
      const int64_t end_ns = plus(start_ns, static_cast<int64_t>(cursor.number()));
      visit(StateInterval{start_ns, end_ns, static_cast<ThreadState>(head & 3U), cpu});
      start_ns = end_ns;
    }
  }

 private:
  static constexpr uint8_t kFarCpu = 63;  // the CPU's number follows
  static constexpr size_t kShort = 16;

  void resolve();
  // The states after each of some events up to the next switch, which is null at the end.
  void close(size_t begin, size_t end, const Item* next, int64_t last_ns);
  void close_first(size_t begin, size_t end, const Item* next, int64_t last_ns);
  void leave(ThreadState state, int32_t cpu, int64_t end_ns);
  int64_t end_of(size_t item, int64_t last_ns) const {
    return item + 1 < waiting_.size() ? waiting_[item + 1].ns : last_ns;
  }

  std::vector<Item> waiting_;  // from the last switch that has no states yet
  size_t switches_ = 0;        // among these
  size_t limit_ = kShort;
  int64_t first_ns_;
  int64_t until_ns_;  // the end of the last interval
  int64_t woken_ns_ = INT64_MIN;
  bool is_open_ = false;      // an `in` may yet be inserted at the last wake
  bool has_switch_ = false;   // the first of `waiting_` is a switch that others came before
  bool wake_before_ = false;  // directly before the first of `waiting_` there was a wake
  ByteRows ended_;
};

}  // namespace strata
