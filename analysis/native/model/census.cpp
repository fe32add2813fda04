// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/census.hpp"

namespace strata {

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
  for (uint32_t process = 0; process < processes_.size(); ++process) {
    for (size_t type = 0; type < kEventTypes; ++type) {
      const OfType& own = processes_.at(process).types[type];
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
