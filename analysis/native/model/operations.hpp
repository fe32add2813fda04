// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The steps of operations of the middleware. An operation has one event, emitted when it ended
// (schema/dds_events.py); machines see an event for each of its steps in its place, at the step's
// own time.
//
// One that takes long is seen as `unfinished` while it goes on, with the steps until then: those
// are put at once, and of its own event only the others are left.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

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

  // The steps of an operation by its event, in their order: those that were not given before.
  const Steps& steps_of(const Arrival& operation);

 private:
  // Thread and kind of operation.
  using Key = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>;
  // One that ended: when it began, by the trace's clock.
  struct Ended {
    Key key;
    int64_t begin = kNone;
  };
  // One that goes on: how many steps were given.
  struct Open {
    int64_t begin;
    size_t given;
  };

  void make(const Arrival& operation);
  void leave_new(const Event& event, const Key& key);
  Ended& last_ended(const Key& key) {
    const auto thread = static_cast<size_t>(std::get<3>(key));
    return ended_[(4 * thread + static_cast<size_t>(std::get<4>(key))) % ended_.size()];
  }
  void written(const Event& event);
  void taken(const Event& event);
  void sent(const Event& event);
  void received(const Event& event);
  void unfinished(const Event& event);
  void converted(const Event& event, EventType begin, EventType end);
  Event& add(EventType type, int64_t ns);

  std::map<Key, std::vector<Open>> open_;  // they may lie within each other
  // Of threads whose ids differ, the last of each kind.
  std::array<Ended, 1024> ended_{};
  Steps made_;
  const Arrival* from_ = nullptr;
  int64_t begin_ns_ = 0;
};

}  // namespace strata
