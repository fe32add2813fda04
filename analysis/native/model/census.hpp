// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What each process emitted, under which names its threads ran, and when all of it was silent.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "model/context.hpp"
#include "model/event.hpp"

namespace strata {

class Census {
 public:
  explicit Census(Context& context) : context_(context) {}

  void on(const Event& event);
  void finish();

 private:
  struct OfType {
    int64_t count = 0;
    uint16_t present = 0;
    uint16_t absent = 0;
  };
  struct OfProcess {
    std::array<OfType, kEventTypes> types;
    int64_t last_ns = kNone;  // of what shows that it runs
  };
  struct OfThread {
    std::vector<std::pair<int32_t, int64_t>> names;  // with how many events of each
    size_t last = 0;
  };

  Context& context_;
  std::deque<OfProcess> processes_;
  PerThread<OfThread> threads_;
};

}  // namespace strata
