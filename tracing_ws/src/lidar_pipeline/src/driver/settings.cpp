// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <algorithm>
#include <sstream>
#include <vector>
#include <workload_rclcpp/settings.hpp>

namespace lidar_pipeline {

namespace {

using Parameters = rclcpp::node_interfaces::NodeParametersInterface;
using workload::choice;
using Names = std::vector<std::string>;

const Names kProcessors{"IMG", "PCL", "IMU", "SCAN"};
const Names kTimestampModes{"TIME_FROM_INTERNAL_OSC", "TIME_FROM_SYNC_PULSE_IN",
                            "TIME_FROM_PTP_1588", kRosReception};

/// Bytes that a socket can have on Linux.
constexpr std::int64_t kLargestBuffer = 2'147'483'647;
/// Hz: the period in ns is a whole number above 0 of 64 bits.
constexpr std::int64_t kFastestPoll = 1'000'000'000;
constexpr double kSlowestPoll = 0.001;

std::string join(const Names& names, const char* between) {
  std::string out;
  for (const auto& name : names) {
    out += (out.empty() ? "" : between) + name;
  }
  return out;
}

std::string text_setting(Parameters& parameters, const char* name, const std::string& value = "") {
  return workload::setting(parameters, name, value);
}

std::string address(Parameters& parameters, const char* name) {
  auto value = text_setting(parameters, name);
  if (value.empty()) {
    throw workload::Error(std::string("Cannot use parameter ") + name +
                          ": it is empty. Give an address.");
  }
  return value;
}

/// Declares a parameter between two bounds.
template <typename Value>
Value bounded(Parameters& parameters, const char* name, Value value, std::int64_t least,
              std::int64_t most) {
  const Value found = workload::setting(parameters, name, value, least);
  if (found > static_cast<Value>(most)) {
    throw workload::Error(std::string("Cannot use parameter ") + name + ": " +
                          rclcpp::to_string(rclcpp::ParameterValue(found)) + " is above " +
                          std::to_string(most) + ".");
  }
  return found;
}

std::uint16_t port(Parameters& parameters, const char* name, std::int64_t value,
                   std::int64_t least) {
  return static_cast<std::uint16_t>(bounded(parameters, name, value, least, 0xFFFF));
}

LidarMode lidar_mode(Parameters& parameters) {
  Names names;
  for (const auto& mode : kModes) {
    names.emplace_back(mode.name);
  }
  const auto name = choice(parameters, "lidar_mode", names);
  return *std::find_if(kModes.begin(), kModes.end(),
                       [&](const LidarMode& mode) { return mode.name == name; });
}

double poll_hz(Parameters& parameters) {
  const auto found = bounded(parameters, "poll_hz", 0.0, 0, kFastestPoll);
  if (found != 0 && found < kSlowestPoll) {
    throw workload::Error(
        "Cannot use parameter poll_hz: a poll takes more than 1000 s. Use 0 for "
        "threads, or at least 0.001.");
  }
  return found;
}

std::set<std::string> proc_mask(Parameters& parameters) {
  std::istringstream given(text_setting(parameters, "proc_mask", join(kProcessors, "|")));
  std::set<std::string> names;
  for (std::string name; std::getline(given, name, '|');) {
    if (!name.empty()) {
      names.insert(name);
    }
  }
  for (const auto& name : names) {
    workload::refuse_unknown("proc_mask", name, kProcessors);
  }
  return names;
}

}  // namespace

rclcpp::QoS topic_qos(Parameters& parameters) {
  if (workload::setting(parameters, "use_system_default_qos", false)) {
    return rclcpp::SystemDefaultsQoS();
  }
  return rclcpp::SensorDataQoS();
}

Settings read_settings(Parameters& parameters) {
  const auto whole = [&](const char* name, std::int64_t value) {
    return workload::setting(parameters, name, value, 0);
  };
  const auto real = [&](const char* name, double value) {
    return workload::setting(parameters, name, value, 0);
  };
  return {{address(parameters, "lidar_ip"), address(parameters, "computer_ip"),
           port(parameters, "tcp_port", 7501, 1), port(parameters, "lidar_port", 7502, 0),
           port(parameters, "imu_port", 7503, 0), lidar_mode(parameters),
           choice(parameters, "timestamp_mode", kTimestampModes)},
          text_setting(parameters, "sensor_frame", "laser_sensor_frame"),
          text_setting(parameters, "laser_frame", "laser_data_frame"),
          text_setting(parameters, "imu_frame", "imu_data_frame"),
          topic_qos(parameters),
          proc_mask(parameters),
          choice(parameters, "closing", {"complete", "next"}) == "complete",
          choice(parameters, "cloud_layout", {"column", "row"}) == "column",
          poll_hz(parameters),
          bounded(parameters, "receive_buffer", std::int64_t{26'214'400}, 0, kLargestBuffer),
          static_cast<std::size_t>(whole("listeners", 0)),
          std::chrono::duration<double>(real("discovery_s", 30.0)),
          whole("scans", 0),
          workload::setting(parameters, "intra_process", false)};
}

}  // namespace lidar_pipeline
