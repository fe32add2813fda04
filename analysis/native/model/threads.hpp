// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Processes and threads as dense numbers, in the order of their first events.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/context.hpp"

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
  Threads(ProcessesRows& processes, ThreadsRows& threads, const std::vector<Restart>& restarts);

  // The number of the thread that has a place at an instant; its process is `threads.process`.
  uint32_t number(const Place& place, int64_t ns) {
    const Key key{place.host, place.vpid, place.vtid, ends_.empty() ? 0 : former(place, ns)};
    Recent& recent = recent_[slot_of(key)];
    if (recent.thread != kUnknown && recent.key == key) return recent.thread;
    recent = {key, look_up(key)};
    return recent.thread;
  }

 private:
  struct Key {
    int64_t host = kNone;
    int64_t vpid = kNone;
    int64_t vtid = kNone;
    int64_t former = 0;  // how many processes had the id before

    bool operator==(const Key&) const = default;
  };
  struct Recent {
    Key key;
    uint32_t thread = kUnknown;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      uint64_t hash = static_cast<uint64_t>(key.host) * 0x9e3779b97f4a7c15U;
      for (const int64_t part : {key.former, key.vpid, key.vtid}) {
        hash = (hash ^ static_cast<uint64_t>(part)) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29U;
      }
      return hash;
    }
  };
  static constexpr uint32_t kUnknown = UINT32_MAX;
  static constexpr size_t kRecent = 256;

  static size_t slot_of(const Key& key) {
    return static_cast<size_t>(key.vtid ^ key.vpid << 3U) & (kRecent - 1);
  }

  uint32_t look_up(const Key& key);
  int64_t former(const Place& place, int64_t ns) const;

  ProcessesRows& processes_;
  ThreadsRows& threads_;
  std::array<Recent, kRecent> recent_;
  std::unordered_map<Key, uint32_t, Hash> process_of_;
  std::unordered_map<Key, uint32_t, Hash> thread_of_;
  // When process ids became other processes, by host and vpid; ascending.
  std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> ends_;
};

}  // namespace strata
