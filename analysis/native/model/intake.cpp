// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/intake.hpp"

#include "model/differences.hpp"

namespace strata {

void Intake::look_back() {
  if (is_operation(late_.last().event.type)) {
    // Its place may be another's once a step is put.
    const Arrival operation = late_.last();
    put(operations_.steps_of(operation));
    return;
  }
  Event& event = late_.last().event;
  event.dumped = statedumps_.judge(late_.last());
  if (event.dumped != Dumped::brought_forward) return;
  const Place& place = late_.last().place;
  const auto first = firsts_.find({event.host, place.pid_ns, place.vpid});
  const int64_t before_ns = first == firsts_.end() ? begin_ns_ : first->second;
  const int64_t late_by = late_.late_by(minus(before_ns, kBeforeNs));
  if (late_by > kMostNs) {
    // As of a session that started later, whose dump repairs what was lost: an event of its time.
    event.dumped = Dumped::no;
  } else if (late_by > allowed_) {
    too_late_by_ = std::max(too_late_by_, late_by);
  } else {
    const Arrival announcement = late_.last();
    bring_forward(announcement, before_ns);
  }
}

void Intake::begin(int64_t ns) {
  begin_ns_ = ns;
  for (const Arrival& announcement : announced_) {
    if (statedumps_.announce(announcement)) bring_forward(announcement, begin_ns_);
  }
  announced_.clear();
}

// In its process's main thread.
void Intake::bring_forward(Arrival announcement, int64_t before_ns) {
  const int64_t ns = plus(minus(before_ns, kBeforeNs), std::min(brought_++, kBeforeNs - 1));
  announcement.event.ns = ns;
  announcement.event.is_step = true;
  announcement.event.dumped = Dumped::no;
  announcement.event.procname = -1;
  announcement.place.vtid = announcement.place.vpid;
  late_.next(ns) = announcement;
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
