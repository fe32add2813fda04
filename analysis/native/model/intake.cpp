// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/intake.hpp"

namespace strata {

void Intake::look_back() {
  if (is_operation(late_.last().event.type)) {
    // Its place may be another's once a step is put.
    const Arrival operation = late_.last();
    put(operations_.steps_of(operation));
    return;
  }
  late_.last().event.dumped = statedumps_.judge(late_.last());
  if (late_.last().event.dumped == Dumped::brought_forward) bring_forward();
}

// What was there before the trace is there from its first event on, in its process's main thread.
// Long after that, as of a session that started later, whose dump repairs what was lost, it is what
// it is: an event of its time.
void Intake::bring_forward() {
  const int64_t late_by = late_.late_by(begin_ns_);
  if (late_by > kMostNs) {
    late_.last().event.dumped = Dumped::no;
  } else if (late_by > allowed_) {
    too_late_by_ = std::max(too_late_by_, late_by);
  } else {
    Arrival announcement = late_.last();
    announcement.event.ns = begin_ns_;
    announcement.event.is_step = true;
    announcement.event.dumped = Dumped::no;
    announcement.event.procname = -1;
    announcement.place.vtid = announcement.place.vpid;
    late_.next(begin_ns_) = announcement;
  }
}

void Intake::put(const Operations::Steps& steps) {
  bool is_long = false;
  for (const Arrival& step : steps) {
    const int64_t late_by = late_.late_by(step.event.ns);
    if (late_by <= allowed_) {
      late_.next(step.event.ns) = step;
    } else if (late_by <= kMostNs) {
      too_late_by_ = std::max(too_late_by_, late_by);
    } else {
      is_long = true;
    }
  }
  if (is_long) engine_.count(Finding::long_operations);
}

void Intake::finish() {
  settle();
  late_.finish();
}

}  // namespace strata
