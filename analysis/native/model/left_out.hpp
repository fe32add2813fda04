// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Events of processes that are not wanted: counted by thread, seen by no machine.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "model/arrival.hpp"
#include "model/context.hpp"

namespace strata {

class LeftOut {
 public:
  explicit LeftOut(const Settings& settings);

  // Whether events of a process id are left out.
  bool has(int64_t vpid) {
    if (vpids_.empty() || vpid == kNone) return false;
    Recent& recent = recent_[static_cast<size_t>(vpid) % kRecent];
    if (recent.vpid != vpid) recent = {vpid, look_up(vpid)};
    return recent.is_left_out;
  }
  void count(const Arrival& arrival, bool is_of_ros2);
  void finish(Rows& rows) const;

 private:
  static constexpr size_t kRecent = 256;
  struct Recent {
    int64_t vpid = kNone;
    bool is_left_out = false;
  };
  struct Counts {
    int64_t events = 0;
    int64_t ros2_events = 0;
  };
  using Thread = std::tuple<int64_t, int64_t, int64_t, int64_t>;  // host, vpid, vtid, name

  bool look_up(int64_t vpid) const;

  std::vector<int64_t> vpids_;  // ascending
  std::array<Recent, kRecent> recent_;
  std::map<Thread, Counts> threads_;
};

}  // namespace strata
