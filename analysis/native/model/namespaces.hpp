// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Hosts with several namespaces of process ids (containers). Where two of them share an id, the
// trace is read with a name of its own for each but the one with the least number
// (strata.read.namespaces has the names). Without the context pid_ns nothing is told apart.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/context.hpp"
#include "model/threads.hpp"

namespace strata {

class Namespaces {
 public:
  explicit Namespaces(const Settings& settings) : named_(settings.namespaces) {}

  // The host that an event is of, by where it was emitted.
  int64_t host_of(const Place& place) {
    if (place.pid_ns == kNone) return place.host;
    Recent& recent = recent_[static_cast<size_t>(place.vpid ^ place.pid_ns << 3U) % kRecent];
    if (!recent.is_known || !is_same(recent.place, place)) recent = {place, look_up(place), true};
    return recent.host;
  }

  // Host and number of each namespace that shares a process id with one of a lower number.
  std::vector<std::pair<int64_t, int64_t>> sharing() const {
    std::set<std::pair<int64_t, int64_t>> found;
    for (const auto& [id, numbers] : numbers_of_) {
      for (const uint64_t number : numbers) {
        if (number != *numbers.begin()) found.emplace(id.first, static_cast<int64_t>(number));
      }
    }
    return {found.begin(), found.end()};
  }

 private:
  static constexpr size_t kRecent = 64;
  struct Recent {
    Place place;
    int64_t host = kNone;
    bool is_known = false;
  };

  static bool is_same(const Place& one, const Place& other) {
    return one.host == other.host && one.pid_ns == other.pid_ns && one.vpid == other.vpid;
  }

  int64_t look_up(const Place& place) {
    // Namespaces are numbered from 1.
    if (place.vpid != kNone && place.pid_ns != 0) {
      numbers_of_[{place.host, place.vpid}].insert(static_cast<uint64_t>(place.pid_ns));
    }
    const auto named = named_.find({place.host, place.pid_ns});
    return named == named_.end() ? place.host : named->second;
  }

  const std::map<std::pair<int64_t, int64_t>, int64_t>& named_;
  std::map<std::pair<int64_t, int64_t>, std::set<uint64_t>> numbers_of_;  // by host and vpid
  std::array<Recent, kRecent> recent_;
};

}  // namespace strata
