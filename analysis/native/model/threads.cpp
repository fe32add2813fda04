// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/threads.hpp"

#include <algorithm>

namespace strata {

Threads::Threads(ProcessesRows& processes, ThreadsRows& threads,
                 const std::vector<Restart>& restarts)
    : processes_(processes), threads_(threads) {
  for (const Restart& restart : restarts) {
    ends_[{restart.host, restart.vpid}].push_back(restart.ns);
  }
  for (auto& [id, times] : ends_) std::ranges::sort(times);
}

int64_t Threads::former(const Place& place, int64_t ns) const {
  const auto known = ends_.find({place.host, place.vpid});
  if (known == ends_.end()) return 0;
  return std::ranges::upper_bound(known->second, ns) - known->second.begin();
}

uint32_t Threads::look_up(const Key& key) {
  const auto [thread, fresh] = thread_of_.try_emplace(key, static_cast<uint32_t>(threads_.size()));
  if (!fresh) return thread->second;
  Key of_process = key;
  of_process.vtid = kNone;
  const auto [process, first] =
      process_of_.try_emplace(of_process, static_cast<uint32_t>(processes_.size()));
  if (first) {
    const auto row = static_cast<size_t>(processes_.add());
    processes_.host[row] = key.host;
    processes_.vpid[row] = key.vpid;
    processes_.events[row] = 0;
    const auto ends = ends_.find({key.host, key.vpid});
    if (ends != ends_.end() && static_cast<size_t>(key.former) < ends->second.size()) {
      processes_.end_ns[row] = ends->second[static_cast<size_t>(key.former)];
    }
  }
  const auto row = static_cast<size_t>(threads_.add());
  threads_.process[row] = process->second;
  threads_.vtid[row] = key.vtid;
  return thread->second;
}

}  // namespace strata
