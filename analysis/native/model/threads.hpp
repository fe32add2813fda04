// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Processes and threads as dense numbers, in the order of their first events.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "model/generated/rows.hpp"

namespace strata {

// Where an event was emitted, as its contexts say.
struct Place {
  int64_t host = kNone;    // number of a text
  int64_t pid_ns = kNone;  // its namespace of process ids; kNone where it was not recorded
  int64_t vpid = kNone;
  int64_t vtid = kNone;

  bool operator==(const Place&) const = default;
};

class Threads {
 public:
  Threads(ProcessesRows& processes, ThreadsRows& threads)
      : processes_(processes), threads_(threads) {}

  // The number of a thread; its process is `threads.process`.
  uint32_t number(const Place& place) {
    Recent& recent = recent_[slot_of(place)];
    if (recent.thread != kUnknown && recent.place == place) return recent.thread;
    recent = {place, look_up(place)};
    return recent.thread;
  }

 private:
  struct Recent {
    Place place;
    uint32_t thread = kUnknown;
  };
  struct Hash {
    size_t operator()(const Place& place) const {
      uint64_t hash = static_cast<uint64_t>(place.host) * 0x9e3779b97f4a7c15U;
      for (const int64_t part : {place.pid_ns, place.vpid, place.vtid}) {
        hash = (hash ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29U;
      }
      return hash;
    }
  };
  static constexpr uint32_t kUnknown = UINT32_MAX;
  static constexpr size_t kRecent = 256;

  static size_t slot_of(const Place& place) {
    return static_cast<size_t>(place.vtid ^ place.vpid << 3U) & (kRecent - 1);
  }

  uint32_t look_up(const Place& place);

  ProcessesRows& processes_;
  ThreadsRows& threads_;
  std::array<Recent, kRecent> recent_;
  std::unordered_map<Place, uint32_t, Hash> process_of_;
  std::unordered_map<Place, uint32_t, Hash> thread_of_;
};

}  // namespace strata
