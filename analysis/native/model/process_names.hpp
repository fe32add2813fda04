// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Names of processes by the event that LTTng-UST emits once for each, where the context procname
// is not recorded with every event: the threads of a process are called like it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/context.hpp"
#include "model/event.hpp"
#include "model/threads.hpp"

namespace strata {

class ProcessNames {
 public:
  explicit ProcessNames(Context& context) : context_(context) {}

  // `event` is a `procname`; its thread is LTTng's, which does nothing else.
  void note(const Event& event, const Place& place);
  // The name of a process as far as is known; -1 for none.
  int32_t of(uint32_t process) {
    if (names_.empty()) return -1;
    if (process >= now_.size()) number(process);
    return now_[process];
  }
  // All rows with names are there: fills in those of events that came before their process's name.
  void finish();

 private:
  void number(uint32_t process);
  // Of a process id until an instant; kNone without any.
  int64_t name_of(int64_t host, int64_t vpid, int64_t until_ns) const;

  Context& context_;
  // By host and process id: names and since when, in order of time.
  std::map<std::pair<int64_t, int64_t>, std::vector<std::pair<int64_t, int64_t>>> names_;
  std::vector<int32_t> now_;  // by process
};

}  // namespace strata
