// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the kernel's scheduler did with the traced threads, and who had the CPUs that they waited
// for. Which threads of the kernel are traced is known at the end: until then all intervals, and
// who had each CPU, are kept in a few bytes each.
//
// Threads are told by the ids of the initial pid namespace. Where the kernel events carry the
// contexts vpid and vtid (lttng-modules), these say which traced thread is meant; else vtid and
// kernel id are taken to be the same, which is wrong in a pid namespace. A thread emits events only
// while it runs: one that the scheduler's events say did so mostly while it did not run (of its
// first kEmitted events since then) is another, and left out. Of several kernel
// threads that have the ids of one, the one that ran at most of these events is meant.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/byte_rows.hpp"
#include "model/context.hpp"
#include "model/event.hpp"
#include "model/lifetimes.hpp"
#include "model/steps.hpp"
#include "model/thread_states.hpp"
#include "model/threads.hpp"

namespace strata {

class Scheduling {
 public:
  explicit Scheduling(Context& context) : context_(context) {}

  static constexpr bool wants(EventType type) {
    return type != EventType::other && !kEvents[static_cast<size_t>(type)].is_init;
  }
  // Events of traced threads, which they emit only while they run.
  void on(const Event& event) {
    if (!wants(event.type)) return;
    Emitted& emitted = emitted_[event.thread];
    emitted.any = true;
    if (hosts_.empty() && emitted.ns.size() == 1 && emitted.ns[0] <= event.ns) {
      // Of the last instant before the kernel's first event.
      if (emitted.ns[0] < event.ns) {
        emitted.ns[0] = event.ns;
        return;
      }
    }
    if (!emitted.has_begun || emitted.ns.size() < kEmitted) emit(event, emitted);
  }
  // Events of the kernel; `place` has the contexts of the thread that ran.
  void on_kernel(const Event& event, const Place& place);
  void finish();

 private:
  static constexpr int64_t kIdle = 0;       // the id of each CPU's idle thread
  static constexpr int64_t kAsleep = 0xFF;  // states of sleep, stop and death
  // So many events of a thread say whether a thread of the kernel is that one.
  static constexpr size_t kEmitted = 1024;

  struct Host {
    int64_t name = kNone;  // number of a text
    int64_t first_ns = 0;
    int64_t last_ns = 0;
    int64_t switches = 0;
    int64_t wakes = 0;
    bool has_contexts = false;  // its switches say which thread, by the ids of its namespace
    std::vector<uint32_t> cpus;
  };
  struct KernelThread {
    KernelThread(uint32_t of_host, int64_t id, int64_t first_ns)
        : host(of_host), tid(id), states(first_ns) {}
    uint32_t host;
    int64_t tid;
    bool has_ended = false;
    std::pair<int64_t, int64_t> ids{kNone, kNone};  // vpid and vtid that contexts gave it last
    ThreadStates states;
  };
  struct Cpu {
    uint32_t host = 0;
    int64_t number = kNone;
    int64_t switches = 0;
    // Its last switch.
    int64_t ns = 0;
    int64_t tid = kNone;             // who got it
    KernelThread* thread = nullptr;  // that one; null for idle
    uint64_t came = 0;               // the item of its coming
    // Who had it, from its first switch on: durations, thread ids (kNone: not known) and names.
    int64_t first_ns = 0;
    ByteRows had;
  };
  struct Raw {
    EventType type{};
    uint32_t host = 0;
    int32_t cpu = kNoCpu;
    int64_t tid = kNone;  // who is woken, or leaves its CPU
    int64_t next_tid = kNone;
    int64_t name = kNone;
    bool is_runnable = false;
    int64_t vpid = kNone;
    int64_t vtid = kNone;
  };
  struct Change {
    KernelThread* thread;
    ThreadStates::Item item;
  };
  // Events that a thread emitted since its host's scheduler emitted any.
  struct Emitted {
    bool any = false;
    bool has_begun = false;
    std::vector<int64_t> ns;
  };
  struct Span {
    int64_t start_ns;
    int64_t end_ns;
  };
  static constexpr int32_t kNoCpu = -1;

  static bool is_wake(EventType type) { return type != EventType::sched_switch; }
  void emit(const Event& event, Emitted& emitted);
  Host* find_host(int64_t name);
  uint32_t host_of(const Event& event);
  int32_t cpu_of(uint32_t host, int64_t number);
  KernelThread& thread_of(uint32_t host, int64_t tid);

  void look_at_instant();
  void look_at_switch(const Raw& raw);
  void look_at_end(Cpu& cpu, const Raw& raw, KernelThread* leaving);
  void change(KernelThread& thread, int32_t cpu, int64_t order, SchedulerEvent kind);
  void settle_if_long(KernelThread& thread);
  void note_had(Cpu& cpu, int64_t end_ns, int64_t tid, int64_t name);

  std::vector<std::vector<KernelThread*>> candidates();
  KernelThread* chosen(const std::vector<KernelThread*>& candidates, const Emitted& emitted) const;
  bool add_states(uint32_t thread, const KernelThread& of);
  void add_occupancy();
  void add_hosts_and_cpus();

  Context& context_;
  std::deque<Host> hosts_;
  std::deque<Cpu> cpus_;
  std::deque<KernelThread> threads_;
  std::unordered_map<HandleKey, int32_t, HandleHash> cpu_of_;
  std::unordered_map<HandleKey, KernelThread*, HandleHash> thread_of_;
  std::unordered_map<int64_t, uint32_t> host_of_;
  // Host, vpid, vtid and the kernel's id, as contexts gave them.
  std::set<std::tuple<uint32_t, int64_t, int64_t, int64_t>> told_;
  PerThread<Emitted> emitted_;

  int64_t now_ns_ = INT64_MIN;
  std::vector<Raw> instant_;
  std::vector<Change> changes_;  // of this instant
  uint64_t next_id_ = 0;         // of changes
  int64_t inferred_ = 0;
  int64_t missing_ = 0;

  std::vector<std::vector<Span>> queued_;  // by CPU: when traced threads waited for it
};

}  // namespace strata
