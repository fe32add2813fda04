// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Notices a sensor that falls silent, or sends what it was not told to.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "scan_assembly.hpp"
#include "udp_source.hpp"

namespace lidar_pipeline {

/// From one look to the next.
constexpr std::chrono::seconds kWatchPeriod{2};

/// Compares what came between two looks; a state is told once, when it begins.
class SensorWatch {
 public:
  SensorWatch(const UdpSource& udp, const AssemblyCounts& counts);

  /// Gives a sentence when something is wrong that was not so at the last look, else none.
  std::string look();

 private:
  enum class State { good, silent, wrong };

  const UdpSource& udp_;
  const AssemblyCounts& counts_;
  std::int64_t received_;
  std::int64_t wrong_;
  State state_ = State::good;
};

}  // namespace lidar_pipeline
