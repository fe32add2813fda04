// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "watch.hpp"

#include <utility>

namespace lidar_pipeline {

SensorWatch::SensorWatch(const UdpSource& udp, const AssemblyCounts& counts)
    : udp_(udp), counts_(counts), received_(udp.received()), wrong_(counts.wrong) {}

std::string SensorWatch::look() {
  const std::int64_t received = udp_.received();
  const std::int64_t wrong = counts_.wrong;
  const auto came = received - std::exchange(received_, received);
  const auto bad = wrong - std::exchange(wrong_, wrong);
  const auto port = "UDP port " + std::to_string(udp_.port());
  auto state = State::good;
  std::string text;
  if (came == 0) {
    state = State::silent;
    text = "No packet on " + port + " for " + std::to_string(kWatchPeriod.count()) +
           " s. Check the sensor, and computer_ip.";
  } else if (bad != 0) {
    state = State::wrong;
    text = std::to_string(bad) + " of " + std::to_string(came) + " packets on " + port +
           " are not of the lidar mode. Another client may have set the sensor up, or another one "
           "sends to this port.";
  }
  return state == std::exchange(state_, state) ? "" : text;
}

}  // namespace lidar_pipeline
