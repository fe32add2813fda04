// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/intake.hpp"

namespace strata {

void Intake::put_steps() {
  // Its place may be another's once a step is put.
  const Arrival operation = late_.last();
  put(operations_.steps_of(operation));
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
