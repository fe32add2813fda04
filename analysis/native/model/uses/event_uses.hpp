// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What became of every event: counts by its type and use. Whoever knows what an event was used for
// counts it, once: when it goes by, or from a row that waits until it is known. Of those that are
// counted by finish() no event is left: what no rule holds of is counted as unexplained.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/generated/event_types.hpp"
#include "model/generated/uses.hpp"

namespace strata {

// Whether events of a type are counted.
constexpr bool is_accounted(EventType type) {
  if (type == EventType::other) return false;
  const std::string_view name = kEvents[static_cast<size_t>(type)].name;
  return name.starts_with("ros2:") || name.starts_with("rclpy:") || name.starts_with("driver:");
}

class EventUses {
 public:
  void count(EventType type, Use use, uint64_t events = 1) { of(type, use) += events; }

  // Of an event whose use depends on whether its process was there before the trace: known when all
  // have gone by.
  void count_by_age(EventType type, uint32_t process, Use older, Use otherwise,
                    uint64_t events = 1) {
    if (process >= undecided_.size()) undecided_.resize(process + size_t{1});
    for (Undecided& known : undecided_[process]) {
      if (known.type != type || known.older != older || known.otherwise != otherwise) continue;
      known.events += events;
      return;
    }
    undecided_[process].push_back({type, older, otherwise, events});
  }

  // What was counted for one use is of another, as a rule knows that comes later.
  void move(EventType type, Use from, Use to, uint64_t events = 1) {
    of(type, from) -= events;
    of(type, to) += events;
  }

  // A process that makes its context in the trace is not older than it.
  void begin_context(uint32_t process) {
    if (process >= contexts_.size()) contexts_.resize(process + size_t{1}, 0);
    if (contexts_[process] < 2) ++contexts_[process];
  }

  // A process that announced something that it had made before the trace.
  void begin_before(uint32_t process) {
    if (process >= was_before_.size()) was_before_.resize(process + size_t{1}, false);
    was_before_[process] = true;
  }

  // From finish() on: whether a process was there before the trace, or made several contexts.
  bool is_older(int64_t process) const { return contexts(process) == 0 || was_before(process); }
  // Whether it said so.
  bool was_before(int64_t process) const {
    const auto row = static_cast<size_t>(process);
    return row < was_before_.size() && was_before_[row];
  }
  bool has_several_contexts(int64_t process) const { return contexts(process) > 1; }

  // All machines have counted what they know.
  void finish() {
    for (size_t process = 0; process < undecided_.size(); ++process) {
      for (const Undecided& known : undecided_[process]) {
        const bool older = is_older(static_cast<int64_t>(process));
        count(known.type, older ? known.older : known.otherwise, known.events);
      }
    }
    undecided_.clear();
  }

  uint64_t counted(EventType type, Use use) const {
    return counts_[static_cast<size_t>(type)][static_cast<size_t>(use)];
  }

 private:
  struct Undecided {
    EventType type;
    Use older;
    Use otherwise;
    uint64_t events;
  };

  uint64_t& of(EventType type, Use use) {
    return counts_[static_cast<size_t>(type)][static_cast<size_t>(use)];
  }
  uint8_t contexts(int64_t process) const {
    const auto row = static_cast<size_t>(process);
    return row < contexts_.size() ? contexts_[row] : 0;
  }

  std::array<std::array<uint64_t, kUses.size()>, kEventTypes + 1> counts_{};
  std::vector<std::vector<Undecided>> undecided_;  // by process
  std::vector<uint8_t> contexts_;                  // by process; 2: several
  std::vector<bool> was_before_;                   // by process
};

}  // namespace strata
