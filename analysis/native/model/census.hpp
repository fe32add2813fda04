// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What each process emitted, under which names its threads ran, and when all of it was silent.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/context.hpp"
#include "model/event.hpp"
#include "model/steps.hpp"
#include "model/threads.hpp"

namespace strata {

class Census {
 public:
  explicit Census(Context& context) : context_(context) {}

  static constexpr bool wants(EventType type) { return type != EventType::other; }
  void on(const Event& event);
  // An event that no machine sees.
  void pass_by(const Event& event, const Place& place);
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
  struct Bystander {
    Place place;
    int32_t name = 0;
    bool operator==(const Bystander&) const = default;
  };
  struct Hash {
    size_t operator()(const Bystander& one) const;
  };
  struct OfThread {
    std::vector<std::pair<int32_t, int64_t>> names;  // with how many events of each
    size_t last = 0;
  };

  Context& context_;
  std::deque<OfProcess> processes_;
  PerThread<OfThread> threads_;
  std::unordered_map<Bystander, size_t, Hash> bystanders_;  // rows of them
};

}  // namespace strata
