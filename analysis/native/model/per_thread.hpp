// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// State of a machine by thread; threads come as their first events do.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "model/event.hpp"
#include "model/steps.hpp"

namespace strata {

template <typename State>
class PerThread {
 public:
  State& operator[](uint32_t thread) {
    if (thread >= states_.size()) [[unlikely]]
      make(thread);
    return *states_[thread];
  }
  // Of a thread that has come: below `size()`.
  State& at(uint32_t thread) { return *states_[thread]; }
  const State& at(uint32_t thread) const { return *states_[thread]; }
  size_t size() const { return states_.size(); }

 private:
  [[gnu::noinline]] void make(uint32_t thread) {
    while (thread >= states_.size()) states_.push_back(std::make_unique<State>());
  }

  std::vector<std::unique_ptr<State>> states_;  // references stay while threads come
};

// When a thread had its last event of each type, before the one that is looked at.
class LastEvents {
 public:
  struct Last {
    int64_t at = kNone;
    int64_t ns = kNone;
  };
  // The last runtime event; `other` before the first.
  struct Step {
    EventType type = EventType::other;
    int64_t at = kNone;
    int64_t ns = kNone;
  };

  const Last& of(EventType type) const { return last_[static_cast<size_t>(type)]; }
  const Step& step() const { return step_; }

  // The place of the last event of some types; kNone for none.
  int64_t latest(std::initializer_list<EventType> types) const {
    int64_t at = kNone;
    for (const EventType type : types) at = of(type).at > at ? of(type).at : at;
    return at;
  }

  void note(const Event& event) {
    const auto at = static_cast<int64_t>(event.at);
    last_[static_cast<size_t>(event.type)] = {at, event.ns};
    if (is_of_timeline(event.type)) step_ = {event.type, at, event.ns};
  }

 private:
  Step step_;
  std::array<Last, kEventTypes + 1> last_{};
};

}  // namespace strata
