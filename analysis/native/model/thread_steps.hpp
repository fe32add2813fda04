// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// When threads did anything: last of all, and first after losses of events. A thread may have begun
// to wait after its last step before events were lost; these rows bound when that was.
#pragma once

#include <cstdint>

#include "model/context.hpp"
#include "model/event.hpp"
#include "model/steps.hpp"

namespace strata {

class ThreadSteps {
 public:
  explicit ThreadSteps(Context& context) : context_(context) {}

  static constexpr bool wants(EventType type) { return is_of_timeline(type); }
  void on(const Event& event);
  void finish();

 private:
  struct State {
    size_t over = 0;  // of the losses, before its last step
  };

  Context& context_;
  PerThread<State> states_;
  int64_t counted_ns_ = INT64_MIN;  // the instant of which `over_` is
  size_t over_ = 0;
};

}  // namespace strata
