// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/left_out.hpp"

#include <algorithm>

namespace strata {

LeftOut::LeftOut(const Settings& settings) : vpids_(settings.left_out) {
  std::ranges::sort(vpids_);
}

bool LeftOut::look_up(int64_t vpid) const {
  return std::binary_search(vpids_.begin(), vpids_.end(), vpid);
}

void LeftOut::count(const Arrival& arrival, bool is_of_ros2) {
  const Place& place = arrival.place;
  Counts& counts = threads_[{place.host, place.vpid, place.vtid, arrival.event.procname}];
  ++counts.events;
  if (is_of_ros2) ++counts.ros2_events;
}

void LeftOut::finish(Rows& rows) const {
  LeftOutRows& left = rows.left_out;
  for (const auto& [thread, counts] : threads_) {
    const auto row = static_cast<size_t>(left.add());
    std::tie(left.host[row], left.vpid[row], left.vtid[row], left.name[row]) = thread;
    left.events[row] = counts.events;
    left.ros2_events[row] = counts.ros2_events;
  }
}

}  // namespace strata
