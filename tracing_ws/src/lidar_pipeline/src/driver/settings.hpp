// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// The driver's parameters, named as ros2_ouster's where it has them.
#pragma once

#include <chrono>
#include <cstdint>
#include <rclcpp/node_interfaces/node_parameters_interface.hpp>
#include <rclcpp/qos.hpp>
#include <set>
#include <string>

#include "sensor_client.hpp"

namespace lidar_pipeline {

/// What the parameters say.
struct Settings {
  Connection connection;
  std::string sensor_frame;
  std::string laser_frame;
  std::string imu_frame;
  rclcpp::QoS qos;
  std::set<std::string> proc_mask;
  bool closes_at_once;
  bool by_column;
  /// Hz of the timer that reads; 0: threads read.
  double poll_hz;
  std::int64_t receive_buffer;
  std::size_t listeners;
  std::chrono::duration<double> discovery;
  std::int64_t scans;
  bool intra_process;
};

/// Declares and reads all parameters. Throws workload::Error.
Settings read_settings(rclcpp::node_interfaces::NodeParametersInterface& parameters);

/// SensorDataQoS, or by the parameter use_system_default_qos the middleware's.
rclcpp::QoS topic_qos(rclcpp::node_interfaces::NodeParametersInterface& parameters);

}  // namespace lidar_pipeline
