// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// The driver's side of the text protocol on TCP port 7501: sets the sensor up and asks what it is.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>

#include "projection.hpp"

namespace lidar_pipeline {

constexpr const char* kRosReception = "TIME_FROM_ROS_RECEPTION";

/// The sensor cannot be reached, or refuses what it is told; the text is the whole sentence.
class SensorError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How the sensor is to be reached, and where it is to send.
struct Connection {
  std::string lidar_ip;
  std::string computer_ip;
  std::uint16_t tcp_port;
  std::uint16_t lidar_port;
  std::uint16_t imu_port;
  LidarMode lidar_mode;
  std::string timestamp_mode;

  [[nodiscard]] bool by_reception() const { return timestamp_mode == kRosReception; }
};

/// A row-major 4 x 4 matrix in mm.
using Matrix = std::array<double, 16>;

/// What the sensor said of itself.
struct Metadata {
  /// Its answers and the connection, a JSON object.
  std::string json;
  Angles azimuths;
  Angles altitudes;
  Matrix imu_to_sensor;
  Matrix lidar_to_sensor;
};

/// Configures the sensor, restarts it, and gives what it is. Throws SensorError.
Metadata set_up(const Connection& connection);

}  // namespace lidar_pipeline
