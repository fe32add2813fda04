// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What processes announce again when a session starts (schema/statedump_events.py): the init events
// of a thread of LTTng's, between `dump_begin` and `dump_end`. Where the session is this one, they
// are of entities that were there before the trace; where it is another, or when `lttng regenerate
// statedump` asked for them, the trace has them already.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>

#include "model/arrival.hpp"

namespace strata {

class Statedumps {
 public:
  // One event is recorded by two sessions, or announced and emitted, within so much.
  static constexpr uint64_t kOneEventNs = 1'000'000;

  static constexpr bool wants(EventType type) {
    return type == EventType::dump_begin || type == EventType::dump_end || is_init(type);
  }
  static constexpr bool is_init(EventType type) {
    return type != EventType::other && kEvents[static_cast<size_t>(type)].is_init;
  }

  // What an event that is wanted is; every one is to be given, in the order of the trace.
  Dumped judge(const Arrival& arrival);
  // Of what another session recorded: whether nothing has announced the same until now.
  bool announce(const Arrival& arrival);

 private:
  using Thread = std::array<int64_t, 4>;
  struct Announcement {
    std::array<int64_t, 3> process;  // host, namespace of process ids, process id
    EventType type;
    uint16_t present;
    std::array<int64_t, kMostFields> value;
    bool operator==(const Announcement&) const = default;
  };
  static Announcement of(const Arrival& arrival);
  struct Hash {
    size_t operator()(const Announcement& announcement) const;
  };

  // LTTng's own, which emit nothing that is new: a dump's begin may be lost.
  std::set<Thread> tracing_;
  // When it was dumped, or recorded by another session; kNone for neither.
  std::unordered_map<Announcement, int64_t, Hash> announced_;
};

}  // namespace strata
