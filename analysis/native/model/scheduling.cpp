// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/scheduling.hpp"

#include <algorithm>
#include <tuple>

namespace strata {
namespace {

constexpr uint64_t kInserted = UINT64_MAX;  // the id of all items that were not recorded

}  // namespace

Scheduling::Host* Scheduling::find_host(int64_t name) {
  const auto known = host_of_.find(name);
  return known == host_of_.end() ? nullptr : &hosts_[known->second];
}

uint32_t Scheduling::host_of(const Event& event) {
  const auto [known, fresh] =
      host_of_.try_emplace(event.host, static_cast<uint32_t>(hosts_.size()));
  if (fresh) {
    hosts_.emplace_back();
    hosts_.back().name = event.host;
    hosts_.back().first_ns = now_ns_;
  }
  return known->second;
}

int32_t Scheduling::cpu_of(uint32_t host, int64_t number) {
  const auto [known, fresh] =
      cpu_of_.try_emplace(HandleKey{host, number}, static_cast<int32_t>(cpus_.size()));
  if (fresh) {
    hosts_[host].cpus.push_back(static_cast<uint32_t>(cpus_.size()));
    cpus_.emplace_back();
    cpus_.back().host = host;
    cpus_.back().number = number;
  }
  return known->second;
}

Scheduling::KernelThread& Scheduling::thread_of(uint32_t host, int64_t tid) {
  KernelThread*& thread = thread_of_[HandleKey{host, tid}];
  if (thread == nullptr) thread = &threads_.emplace_back(host, tid, hosts_[host].first_ns);
  return *thread;
}

void Scheduling::emit(const Event& event, Emitted& emitted) {
  if (!emitted.has_begun) {
    // Of one instant, the scheduler's events may come after this.
    const Host* host = find_host(event.host);
    const int64_t from_ns = host == nullptr ? event.ns : host->first_ns;
    if (!emitted.ns.empty() && emitted.ns.back() < from_ns) emitted.ns.clear();
    emitted.has_begun = host != nullptr;
  }
  if (emitted.ns.size() < kEmitted) emitted.ns.push_back(event.ns);
}

void Scheduling::on_kernel(const Event& event, const Place& place) {
  Raw raw;
  raw.type = event.type;
  int64_t cpu = event.cpu;
  switch (event.type) {
    case EventType::sched_switch: {
      namespace f = field::sched_switch;
      raw.tid = event[f::prev_tid];
      raw.next_tid = event[f::next_tid];
      raw.name = event[f::prev_comm];
      raw.is_runnable = (event[f::prev_state] & kAsleep) == 0;
      raw.vpid = place.vpid;
      raw.vtid = place.vtid;
      break;
    }
    case EventType::sched_waking:
    case EventType::sched_wakeup:
    case EventType::sched_wakeup_new:
      // The three have the same fields.
      raw.tid = event[field::sched_waking::tid];
      cpu = event[field::sched_waking::target_cpu];
      break;
    default:
      return;
  }
  if (event.ns > now_ns_) {
    look_at_instant();
    now_ns_ = event.ns;
  }
  raw.host = host_of(event);
  Host& host = hosts_[raw.host];
  host.last_ns = now_ns_;
  if (is_wake(event.type)) {
    ++host.wakes;
    if (cpu >= 0) raw.cpu = cpu_of(raw.host, cpu);
  } else {
    ++host.switches;
    raw.cpu = cpu_of(raw.host, cpu);
    if (raw.vpid != kNone && raw.vtid != kNone) host.has_contexts = true;
  }
  instant_.push_back(raw);
}

// First what switches say of their CPUs, as that may change what threads did before.
void Scheduling::look_at_instant() {
  changes_.clear();
  for (const Raw& raw : instant_) {
    if (!is_wake(raw.type)) {
      look_at_switch(raw);
    } else if (raw.tid != kIdle) {
      change(thread_of(raw.host, raw.tid), raw.cpu, static_cast<int64_t>(raw.type),
             SchedulerEvent::wake);
    }
  }
  if (instant_.size() > 1) {
    std::ranges::stable_sort(changes_, {}, [](const Change& change) {
      return std::make_tuple(change.thread->host, change.thread->tid, change.item.kind,
                             change.item.order);
    });
  }
  for (const Change& change : changes_) {
    change.thread->states.add(change.item);
    settle_if_long(*change.thread);
  }
  instant_.clear();
}

void Scheduling::change(KernelThread& thread, int32_t cpu, int64_t order, SchedulerEvent kind) {
  changes_.push_back({&thread, {now_ns_, next_id_++, cpu, order, kind, false}});
}

void Scheduling::look_at_switch(const Raw& raw) {
  Cpu& cpu = cpus_[static_cast<size_t>(raw.cpu)];
  KernelThread* leaving = nullptr;
  if (raw.tid != kIdle) {
    const bool is_known = cpu.switches > 0 && cpu.tid == raw.tid;
    leaving = is_known ? cpu.thread : &thread_of(raw.host, raw.tid);
    const std::pair ids{raw.vpid, raw.vtid};
    if (raw.vpid != kNone && raw.vtid != kNone && leaving->ids != ids) {
      leaving->ids = ids;
      told_.insert({raw.host, raw.vpid, raw.vtid, raw.tid});
    }
  }
  if (cpu.switches > 0) {
    look_at_end(cpu, raw, leaving);
  } else {
    cpu.first_ns = now_ns_;
  }
  ++cpu.switches;
  cpu.ns = now_ns_;
  cpu.tid = raw.next_tid;
  if (leaving != nullptr) {
    change(*leaving, raw.cpu, cpu.number,
           raw.is_runnable ? SchedulerEvent::out_runnable : SchedulerEvent::out_blocked);
  }
  cpu.thread = raw.next_tid == kIdle ? nullptr : &thread_of(raw.host, raw.next_tid);
  cpu.came = next_id_;
  if (cpu.thread != nullptr) change(*cpu.thread, raw.cpu, cpu.number, SchedulerEvent::in);
}

// What a CPU's next switch says of the one before.
void Scheduling::look_at_end(Cpu& cpu, const Raw& raw, KernelThread* leaving) {
  if (cpu.tid == raw.tid) {
    note_had(cpu, now_ns_, cpu.tid, raw.name);
    return;
  }
  if (cpu.tid == kIdle && leaving->states.woken_ns() > cpu.ns) {
    const int64_t woken_ns = leaving->states.woken_ns();
    note_had(cpu, woken_ns, kIdle, kNone);
    cpu.ns = woken_ns;
    note_had(cpu, now_ns_, raw.tid, raw.name);
    leaving->states.insert({woken_ns, kInserted, raw.cpu, cpu.number, SchedulerEvent::in, false});
    ++inferred_;
    return;
  }
  note_had(cpu, now_ns_, kNone, kNone);
  ++missing_;
  if (cpu.thread == nullptr) return;
  const uint64_t first_id = next_id_ - changes_.size();
  if (cpu.came >= first_id) {
    changes_[cpu.came - first_id].item.broken = true;
  } else {
    cpu.thread->states.mark_broken(cpu.came, cpu.ns);
  }
}

void Scheduling::settle_if_long(KernelThread& thread) {
  const std::vector<uint32_t>& cpus = hosts_[thread.host].cpus;
  if (!thread.states.is_long(cpus.size())) return;
  // Only a CPU that has been idle since before the wake may have left for this thread unseen.
  const bool may_be_inserted = std::ranges::any_of(cpus, [&](uint32_t row) {
    const Cpu& cpu = cpus_[row];
    return cpu.switches > 0 && cpu.tid == kIdle && cpu.ns < thread.states.woken_ns();
  });
  if (may_be_inserted) {
    thread.states.stay_open();
  } else {
    thread.states.settle();
  }
}

void Scheduling::note_had(Cpu& cpu, int64_t end_ns, int64_t tid, int64_t name) {
  cpu.had.put(static_cast<uint64_t>(minus(end_ns, cpu.ns)));
  cpu.had.put_signed(tid);
  cpu.had.put_signed(name);
}

void Scheduling::finish() {
  look_at_instant();
  if (std::ranges::all_of(hosts_, [](const Host& host) { return host.switches == 0; })) return;
  context_.ledger.add(Finding::inferred_switches, inferred_);
  context_.ledger.add(Finding::missing_switches, missing_);
  queued_.resize(cpus_.size());
  const std::vector<std::vector<KernelThread*>> candidates = this->candidates();
  for (uint32_t thread = 0; thread < candidates.size(); ++thread) {
    for (KernelThread* candidate : candidates[thread]) {
      if (!candidate->has_ended) candidate->states.finish(hosts_[candidate->host].last_ns);
      candidate->has_ended = true;
    }
    const Emitted& emitted = emitted_[thread];
    const KernelThread* of = chosen(candidates[thread], emitted);
    if (of != nullptr && add_states(thread, *of)) continue;
    const int64_t process = context_.rows.threads.process[thread];
    const Host* host = find_host(pick(context_.rows.processes.host, process));
    if (emitted.any && host != nullptr && host->switches > 0) {
      context_.ledger.add(Finding::threads_without_kernel_events);
    }
  }
  add_occupancy();
  add_hosts_and_cpus();
}

// The threads of the kernel that each traced thread may be, by their ids in ascending order.
std::vector<std::vector<Scheduling::KernelThread*>> Scheduling::candidates() {
  const ThreadsRows& threads = context_.rows.threads;
  const ProcessesRows& processes = context_.rows.processes;
  std::vector<std::vector<KernelThread*>> found(threads.size());
  for (size_t row = 0; row < threads.size(); ++row) {
    const auto process = static_cast<size_t>(threads.process[row]);
    const auto known = host_of_.find(processes.host[process]);
    if (known == host_of_.end()) continue;
    const uint32_t host = known->second;
    const int64_t vpid = processes.vpid[process], vtid = threads.vtid[row];
    if (!hosts_[host].has_contexts) {
      // A vtid is the kernel's id, unless it is in a namespace.
      const auto same = thread_of_.find(HandleKey{host, vtid});
      if (same != thread_of_.end()) found[row].push_back(same->second);
      continue;
    }
    for (auto told = told_.lower_bound({host, vpid, vtid, INT64_MIN});
         told != told_.end() && std::tie(std::get<0>(*told), std::get<1>(*told),
                                         std::get<2>(*told)) == std::tie(host, vpid, vtid);
         ++told) {
      found[row].push_back(thread_of_.at(HandleKey{host, std::get<3>(*told)}));
    }
  }
  return found;
}

// A thread emits events only while it runs: of several, the one that ran at most of them; none that
// was at rest at more of them than it ran at.
Scheduling::KernelThread* Scheduling::chosen(const std::vector<KernelThread*>& candidates,
                                             const Emitted& emitted) const {
  KernelThread* best = nullptr;
  size_t best_at_work = 0;
  for (KernelThread* candidate : candidates) {
    size_t at_work = 0, at_rest = 0, next = 0;
    const std::vector<int64_t>& times = emitted.ns;
    candidate->states.each([&](const StateInterval& interval) {
      while (next < times.size() && times[next] < interval.start_ns) ++next;
      const size_t begin = next;
      while (next < times.size() && times[next] < interval.end_ns) ++next;
      if (interval.state == ThreadState::running) {
        at_work += next - begin;
      } else if (interval.state != ThreadState::unknown) {
        at_rest += next - begin;
      }
    });
    if (at_rest > at_work || (best != nullptr && at_work <= best_at_work)) continue;
    best = candidate;
    best_at_work = at_work;
  }
  return best;
}

// Returns whether there was any.
bool Scheduling::add_states(uint32_t thread, const KernelThread& of) {
  ThreadStatesRows& rows = context_.rows.thread_states;
  const size_t before = rows.size();
  of.states.each([&](const StateInterval& interval) {
    const auto row = static_cast<size_t>(rows.add());
    rows.thread[row] = static_cast<int32_t>(thread);
    rows.start_ns[row] = interval.start_ns;
    rows.end_ns[row] = interval.end_ns;
    rows.state[row] = static_cast<uint8_t>(interval.state);
    rows.cpu[row] = interval.cpu;
    if (interval.state == ThreadState::preempted && interval.cpu != kNoCpu) {
      queued_[static_cast<size_t>(interval.cpu)].push_back({interval.start_ns, interval.end_ns});
    }
  });
  return rows.size() > before;
}

// Who had a CPU, as far as traced threads waited for it.
void Scheduling::add_occupancy() {
  CpuOccupancyRows& rows = context_.rows.cpu_occupancy;
  for (size_t number = 0; number < cpus_.size(); ++number) {
    const Cpu& cpu = cpus_[number];
    std::vector<Span>& queued = queued_[number];
    std::ranges::sort(queued, {}, &Span::end_ns);
    // Of the spans that end at or after each: the earliest begin.
    for (size_t i = queued.size(); i-- > 1;) {
      queued[i - 1].start_ns = std::min(queued[i - 1].start_ns, queued[i].start_ns);
    }
    size_t next = 0;
    int64_t start_ns = cpu.first_ns;
    for (ByteRows::Cursor cursor(cpu.had); !cursor.is_over();) {
      const int64_t end_ns = plus(start_ns, static_cast<int64_t>(cursor.number()));
      const int64_t tid = cursor.signed_number();
      const int64_t name = cursor.signed_number();
      while (next < queued.size() && queued[next].end_ns <= start_ns) ++next;
      if (next < queued.size() && queued[next].start_ns < end_ns && end_ns > start_ns) {
        const auto row = static_cast<size_t>(rows.add());
        rows.cpu[row] = static_cast<int32_t>(number);
        rows.start_ns[row] = start_ns;
        rows.end_ns[row] = end_ns;
        rows.tid[row] = tid;
        rows.name[row] = name;
      }
      start_ns = end_ns;
    }
  }
}

void Scheduling::add_hosts_and_cpus() {
  Rows& rows = context_.rows;
  for (const Host& host : hosts_) {
    const auto row = static_cast<size_t>(rows.schedulers.add());
    rows.schedulers.host[row] = host.name;
    rows.schedulers.first_ns[row] = host.first_ns;
    rows.schedulers.last_ns[row] = host.last_ns;
    rows.schedulers.switches[row] = host.switches;
    rows.schedulers.wakes[row] = host.wakes;
  }
  for (const Cpu& cpu : cpus_) {
    const auto row = static_cast<size_t>(rows.cpus.add());
    rows.cpus.scheduler[row] = cpu.host;
    rows.cpus.number[row] = cpu.number;
    rows.cpus.switches[row] = cpu.switches;
  }
}

}  // namespace strata
