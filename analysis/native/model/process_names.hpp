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
  void note(const Event& event, const Place& place) {
    const int64_t name = event[field::procname::process_name];
    if (name != kNone) names_[{place.host, place.vpid}].emplace_back(event.ns, name);
  }
  // All rows with names are there: fills in those that were not recorded.
  void finish();

 private:
  // Of a process id until an instant; kNone without any.
  int64_t name_of(int64_t host, int64_t vpid, int64_t until_ns) const;

  Context& context_;
  // By host and process id: names and since when, in order of time.
  std::map<std::pair<int64_t, int64_t>, std::vector<std::pair<int64_t, int64_t>>> names_;
};

}  // namespace strata
