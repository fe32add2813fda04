// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/census.hpp"

#include <algorithm>

#include "model/steps.hpp"

namespace strata {
namespace {

constexpr int64_t kPauseNs = 1'000'000;

// What a process does when it is not stopped: runtime events, and what its receiving threads do.
constexpr bool shows_running(EventType type) {
  return is_of_timeline(type) || type == EventType::receive ||
         type == EventType::reader_history_add || type == EventType::reader_notify;
}

}  // namespace

void Census::on(const Event& event) {
  if (event.process >= processes_.size()) processes_.resize(event.process + size_t{1});
  OfProcess& process = processes_[event.process];
  OfType& type = process.types[static_cast<size_t>(event.type)];
  ++type.count;
  type.present |= event.present;
  type.absent |= static_cast<uint16_t>(~event.present);
  OfThread& thread = threads_[event.thread];
  if (thread.last >= thread.names.size() || thread.names[thread.last].first != event.procname) {
    const auto found =
        std::ranges::find(thread.names, event.procname, &std::pair<int32_t, int64_t>::first);
    thread.last = static_cast<size_t>(found - thread.names.begin());
    if (found == thread.names.end()) thread.names.emplace_back(event.procname, 0);
  }
  ++thread.names[thread.last].second;
  if (!shows_running(event.type)) return;
  if (process.last_ns != kNone && event.ns - process.last_ns >= kPauseNs) {
    auto& pauses = context_.rows.pauses;
    const auto row = static_cast<size_t>(pauses.add());
    pauses.process[row] = static_cast<int32_t>(event.process);
    pauses.begin_ns[row] = process.last_ns;
    pauses.end_ns[row] = event.ns;
  }
  process.last_ns = event.ns;
}

size_t Census::Hash::operator()(const Bystander& one) const {
  uint64_t hash = static_cast<uint32_t>(one.name);
  for (const int64_t part : {one.place.host, one.place.pid_ns, one.place.vpid, one.place.vtid}) {
    hash = (hash ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  }
  return hash;
}

void Census::pass_by(const Event& event, const Place& place) {
  auto& rows = context_.rows.bystanders;
  const auto [known, fresh] = bystanders_.try_emplace({place, event.procname}, rows.size());
  if (fresh) {
    const auto row = static_cast<size_t>(rows.add());
    rows.host[row] = static_cast<int32_t>(place.host);
    rows.pid_ns[row] = place.pid_ns;
    rows.vpid[row] = place.vpid;
    rows.vtid[row] = place.vtid;
    rows.name[row] = event.procname;
    rows.count[row] = 0;
  }
  ++rows.count[known->second];
}

void Census::finish() {
  auto& censuses = context_.rows.censuses;
  for (size_t process = 0; process < processes_.size(); ++process) {
    for (size_t type = 0; type < kEventTypes; ++type) {
      const OfType& own = processes_[process].types[type];
      if (own.count == 0) continue;
      const auto fields = static_cast<uint32_t>((1U << kEvents[type].fields) - 1U);
      const auto row = static_cast<size_t>(censuses.add());
      censuses.process[row] = static_cast<int32_t>(process);
      censuses.event[row] = static_cast<int32_t>(type);
      censuses.count[row] = own.count;
      censuses.present[row] = static_cast<int32_t>(own.present & fields);
      censuses.absent[row] = static_cast<int32_t>(own.absent & fields);
    }
  }
  auto& names = context_.rows.names;
  for (uint32_t thread = 0; thread < threads_.size(); ++thread) {
    for (const auto& [name, count] : threads_[thread].names) {
      const auto row = static_cast<size_t>(names.add());
      names.thread[row] = static_cast<int32_t>(thread);
      names.name[row] = name;
      names.count[row] = count;
    }
  }
}

}  // namespace strata
