// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/threads.hpp"

namespace strata {

uint32_t Threads::look_up(const Place& place) {
  const auto [thread, fresh] =
      thread_of_.try_emplace(place, static_cast<uint32_t>(threads_.size()));
  if (!fresh) return thread->second;
  Place of_process = place;
  of_process.vtid = kNone;
  const auto [process, first] =
      process_of_.try_emplace(of_process, static_cast<uint32_t>(processes_.size()));
  if (first) {
    const auto row = static_cast<size_t>(processes_.add());
    processes_.host[row] = place.host;
    processes_.pid_ns[row] = place.pid_ns;
    processes_.vpid[row] = place.vpid;
    processes_.events[row] = 0;
  }
  const auto row = static_cast<size_t>(threads_.add());
  threads_.process[row] = process->second;
  threads_.vtid[row] = place.vtid;
  return thread->second;
}

}  // namespace strata
