// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/engine.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <utility>

#include "model/census.hpp"
#include "model/dds/middleware.hpp"
#include "model/driver/driver.hpp"
#include "model/entities.hpp"
#include "model/executions.hpp"
#include "model/executor_threads.hpp"
#include "model/intra_process.hpp"
#include "model/last_seen.hpp"
#include "model/matching.hpp"
#include "model/nesting.hpp"
#include "model/process_names.hpp"
#include "model/publish_times.hpp"
#include "model/restarts.hpp"
#include "model/ring_buffers.hpp"
#include "model/scheduling.hpp"
#include "model/service_traffic.hpp"
#include "model/statedumps.hpp"
#include "model/steps.hpp"
#include "model/thread_steps.hpp"
#include "model/traffic.hpp"
#include "model/uses/announcements.hpp"
#include "model/uses/entity_uses.hpp"
#include "model/uses/message_uses.hpp"
#include "model/uses/service_uses.hpp"
#include "model/uses/work_uses.hpp"
#include "model/waits.hpp"
#include "storage/blocks.hpp"

namespace strata {
namespace {

uint8_t rank_of_arrival(const Arrival& arrival) {
  return arrival.event.type == EventType::other ? UINT8_MAX : rank_of(arrival.event.type);
}

}  // namespace

struct Engine::Machines {
  explicit Machines(Context& shared)
      : context(shared),
        entities(context),
        executions(context),
        waits(context),
        steps(context),
        scheduling(context),
        middleware(context),
        traffic(context, entities, executions),
        times(context),
        matching(context, times),
        ring_buffers(context, entities),
        intra_process(context, entities, executions),
        driver(context, executions),
        services(context, entities, executions),
        work_uses(context, entities, executions),
        message_uses(context, entities, traffic),
        entity_uses(context, entities),
        census(context),
        names(context),
        executor_threads(context, entities, executions),
        restarts(context) {}

  // Looks at an event of a type with the machines that want such.
  template <EventType type>
  void look(const Event& event, const Place& place, std::span<const Arrival> instant) {
    restarts.on<type>(event, place, instant);
    const auto look_with = [&event](auto& machine) {
      if constexpr (std::decay_t<decltype(machine)>::wants(type)) {
        if (event.type != type) __builtin_unreachable();
        machine.on(event);
      }
    };
    if constexpr (is_of_timeline(type)) waits.begin(event.ns);
    look_with(entities);
    look_with(executions);
    look_with(waits);
    look_with(steps);
    look_with(traffic);
    look_with(services);
    look_with(scheduling);
    look_with(middleware);
    look_with(ring_buffers);
    look_with(intra_process);
    look_with(times);
    look_with(driver);
    look_with(work_uses);
    look_with(message_uses);
    look_with(entity_uses);
    look_with(census);
    look_with(executor_threads);
  }
  using Look = void (Machines::*)(const Event&, const Place&, std::span<const Arrival>);
  template <size_t... types>
  static constexpr std::array<Look, sizeof...(types)> looks(std::index_sequence<types...>) {
    return {&Machines::look<static_cast<EventType>(types)>...};
  }
  void on(const Event& event, const Place& place, std::span<const Arrival> instant) {
    static constexpr auto kLooks = looks(std::make_index_sequence<kEventTypes + 1>());
    (this->*kLooks[static_cast<size_t>(event.type)])(event, place, instant);
  }
  void on_kernel(const Event& event, const Place& place) { scheduling.on_kernel(event, place); }
  void finish() {
    entities.finish();
    executions.finish(entities);
    trim();
    count_contradictory_nesting(context);
    waits.finish(entities);
    trim();
    steps.finish();
    trim();
    find_hanging(context, executions, waits);
    traffic.finish();
    trim();
    scheduling.finish();
    trim();
    middleware.finish();
    trim();
    matching.finish();
    trim();
    ring_buffers.finish();
    intra_process.finish();
    trim();
    driver.finish();
    services.finish();
    trim();
    census.finish();
    names.finish();
    executor_threads.finish();
    trim();
    finish_uses();
  }
  // Rules go over rows one after the other, most of which may be in the file.
  static void trim() { storage::Blocks::shared().trim(); }
  void finish_uses() {
    Announcements announcements;
    announcements.find(context.rows, entities);
    work_uses.finish();
    trim();
    message_uses.finish(announcements);
    trim();
    entity_uses.finish(announcements, work_uses.picked_timers());
    ServiceUses(context).finish();
    context.uses.finish();
  }

  Context& context;
  Entities entities;
  Executions executions;
  Waits waits;
  ThreadSteps steps;
  Scheduling scheduling;
  dds::Middleware middleware;
  Traffic traffic;
  PublishTimes times;
  Matching matching;
  RingBuffers ring_buffers;
  IntraProcess intra_process;
  driver::Driver driver;
  ServiceTraffic services;
  WorkUses work_uses;
  MessageUses message_uses;
  EntityUses entity_uses;
  Census census;
  ProcessNames names;
  ExecutorThreads executor_threads;
  Restarts restarts;
};

Engine::Engine(Settings settings, Strings strings)
    : context_{std::move(settings), std::move(strings), {}, {}, {}, {}},
      threads_(context_.rows.processes, context_.rows.threads, context_.settings.restarts),
      namespaces_(context_.settings),
      left_out_(context_.settings),
      machines_(std::make_unique<Machines>(context_)) {}

Engine::~Engine() = default;

const Waits& Engine::waits() const { return machines_->waits; }
const ExecutorThreads& Engine::executor_threads() const { return machines_->executor_threads; }

const Entities& Engine::entities() const { return machines_->entities; }

const Restarts& Engine::restarts() const { return machines_->restarts; }

dds::Middleware& Engine::middleware() { return machines_->middleware; }

void Engine::release() {
  const std::span<Arrival> instant(waiting_.data(), waiting_count_);
  if (instant.size() > 1) std::ranges::stable_sort(instant, {}, rank_of_arrival);
  for (Arrival& arrival : instant) look_at(arrival);
  waiting_count_ = 0;
}

void Engine::make_room() { waiting_.resize(std::max<size_t>(8, 2 * waiting_.size())); }

std::string_view Engine::name_of(const Arrival& arrival) const {
  const auto type = static_cast<size_t>(arrival.event.type);
  if (type < kEventTypes) return kEvents[type].name;
  return arrival.name == kNone ? std::string_view() : strings().texts[arrival.name];
}

// What was there before, in the place of the event that says so.
bool Engine::is_announced(const Event& event) {
  return event.is_step && Statedumps::is_init(event.type);
}

// Of a process that was recorded while others were not yet, or no more.
bool Engine::is_outside(const Event& event) const {
  if (event.ns > context_.settings.until_ns) return true;
  // A step may be long before the event that has it, which is inside.
  return event.ns < context_.settings.since_ns && !event.is_step && !Statedumps::wants(event.type);
}

bool Engine::is_of_own_thread(const Event& event) {
  return event.type == EventType::procname || event.type == EventType::unfinished ||
         event.type == EventType::dump_begin || event.type == EventType::dump_end ||
         event.dumped != Dumped::no;
}

// An event without a provider is the kernel's, which is of the whole machine.
bool Engine::is_of_program(const Arrival& arrival) const {
  if (arrival.event.type != EventType::other) return !is_of_kernel(arrival.event.type);
  return name_of(arrival).find(':') != std::string_view::npos;
}

void Engine::look_at(Arrival& arrival) {
  Event& event = arrival.event;
  const bool is_program = is_of_program(arrival);
  if (is_program) {
    arrival.place.host = namespaces_.host_of(arrival.place);
    event.host = static_cast<int32_t>(arrival.place.host);
    if (event.type == EventType::procname) {
      event.procname = static_cast<int32_t>(event[field::procname::process_name]);
    }
    if (left_out_.has(arrival.place.vpid)) {
      if (event.is_step) return;
      left_out_.count(arrival, name_of(arrival).starts_with("ros2:"));
      return;
    }
  }
  if (!event.is_step) ++counts_[static_cast<size_t>(event.type)];
  event.at = at_++;
  if (is_program && is_outside(event)) {
    if (event.is_step) return;
    context_.ledger.add(Finding::not_all_recorded);
    if (event.type == EventType::other) ++undeclared_[arrival.name];
    ++unseen_[static_cast<size_t>(event.type)];
    return;
  }
  if (first_ns_ == kNone && !is_announced(event) && event.ns >= context_.settings.since_ns) {
    first_ns_ = event.ns;
  }
  last_ns_ = event.ns;
  if (is_of_kernel(event.type)) {
    // Its threads are those of the whole machine, by ids of their own.
    event.thread = event.process = kNoThread;
    machines_->on_kernel(event, arrival.place);
    return;
  }
  const bool is_declared = event.type != EventType::other;
  if (!is_declared || arrival.place.vpid == kNone || arrival.place.vtid == kNone) {
    if (is_declared) {
      context_.ledger.add(Finding::missing_contexts);
    } else {
      ++undeclared_[arrival.name];
    }
    ++unseen_[static_cast<size_t>(event.type)];
    machines_->census.pass_by(event, arrival.place);
    return;
  }
  if (event.type == EventType::procname) machines_->names.note(event, arrival.place);
  if (event.dumped == Dumped::brought_forward) {
    joined_ns_ = std::max(event.ns, context_.settings.since_ns);
  }
  if (event.type == EventType::dump_begin) {
    const int64_t forgotten = event[field::dump_begin::forgotten];
    if (forgotten > 0) context_.ledger.add(Finding::forgotten_announcements, forgotten);
  }
  if (event.dumped == Dumped::known && is_accounted(event.type)) {
    context_.uses.count(event.type, Use::known);
  }
  if (event.dumped == Dumped::brought_forward) note_dump(arrival);
  // Their threads do nothing else: they are LTTng's, or the hooks' own.
  if (is_of_own_thread(event)) {
    machines_->census.pass_by(event, arrival.place);
    return;
  }
  Rows& rows = context_.rows;
  event.thread = threads_.number(arrival.place, event.ns);
  event.process = static_cast<uint32_t>(rows.threads.process[event.thread]);
  if (event.procname < 0) event.procname = machines_->names.of(event.process);
  rows.threads.last_ns[event.thread] = event.ns;
  if (rows.processes.first_ns[event.process] == kNone && !is_announced(event)) {
    rows.processes.first_ns[event.process] = event.ns;
  }
  rows.processes.last_ns[event.process] = event.ns;
  if (!event.is_step) ++rows.processes.events[event.process];
  if (is_operation(event.type)) {
    machines_->census.on(event);
    return;
  }
  if (is_announced(event)) context_.uses.begin_before(event.process);
  if (is_of_timeline(event.type)) rows.processes.ran_ns[event.process] = event.ns;
  machines_->on(event, arrival.place, {waiting_.data(), waiting_count_});
  context_.last[event.thread].note(event);
}

// A process is there from its first event on; one that does nothing, from its dump on.
void Engine::note_dump(const Arrival& arrival) {
  Place place = arrival.place;
  place.vtid = place.vpid;
  const uint32_t thread = threads_.number(place, arrival.event.ns);
  auto& processes = context_.rows.processes;
  const auto process = static_cast<size_t>(context_.rows.threads.process[thread]);
  const int64_t ns = std::max(arrival.event.ns, context_.settings.since_ns);
  if (processes.first_ns[process] == kNone) processes.first_ns[process] = ns;
  processes.last_ns[process] = std::max(processes.last_ns[process], ns);
}

void Engine::end() {
  if (has_ended_) return;
  has_ended_ = true;
  release();
  machines_->restarts.decide(machines_->entities);
  left_out_.finish(context_.rows);
}

void Engine::finish() {
  end();
  const Restarts& found = machines_->restarts;
  context_.ledger.add(Finding::reused_process_ids, static_cast<int64_t>(found.found().size()));
  context_.ledger.add(Finding::repeated_contexts, found.undecided());
  machines_->finish();
  context_.rows.end_pass();
}

}  // namespace strata
