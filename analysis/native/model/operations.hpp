// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The steps of operations of the middleware. An operation has one event, emitted when it ended
// (schema/dds_events.py); machines see an event for each of its steps in its place, at the step's
// own time.
//
// An operation that has not ended is seen as `unfinished`, while it goes on. Its steps count when
// its own event does not follow on its thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>

#include "model/arrival.hpp"

namespace strata {

class Operations {
 public:
  static constexpr size_t kMostSteps = 5;
  struct Steps {
    std::array<Arrival, kMostSteps> step;
    size_t count = 0;

    const Arrival* begin() const { return step.data(); }
    const Arrival* end() const { return step.data() + count; }
  };

  // The steps of an operation by its event, in their order; none of one that may still end.
  const Steps& steps_of(const Arrival& operation);
  // No event comes after this: calls `take` with the steps of each operation that had no end.
  template <typename Take>
  void finish(Take&& take) {
    for (const auto& [place, operation] : open_) take(made_of(operation));
    open_.clear();
  }

 private:
  // Thread and kind of operation.
  using Key = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>;

  const Steps& made_of(const Arrival& operation);
  void written(const Event& event);
  void taken(const Event& event);
  void sent(const Event& event);
  void received(const Event& event);
  void unfinished(const Event& event);
  void converted(const Event& event, EventType begin, EventType end);
  Event& add(EventType type, int64_t ns);

  std::map<Key, Arrival> open_;  // `unfinished` whose operation may still end
  Steps made_;
  const Arrival* from_ = nullptr;
  int64_t begin_ns_ = 0;
};

}  // namespace strata
