// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "transforms.hpp"

#ifdef LIDAR_PIPELINE_HAS_TF2_MSGS

#include <cmath>
#include <tf2_msgs/msg/tf_message.hpp>

namespace lidar_pipeline {

namespace {

/// Of a matrix that turns about z, as the sensor's do.
geometry_msgs::msg::TransformStamped transform(const std::string& frame, const std::string& child,
                                               const Matrix& matrix) {
  geometry_msgs::msg::TransformStamped made;
  made.header.frame_id = frame;
  made.child_frame_id = child;
  auto& moved = made.transform.translation;
  moved.x = matrix[3] / 1e3;
  moved.y = matrix[7] / 1e3;
  moved.z = matrix[11] / 1e3;
  const double half = std::atan2(matrix[4], matrix[0]) / 2;
  made.transform.rotation.z = std::sin(half);
  made.transform.rotation.w = std::cos(half);
  return made;
}

}  // namespace

std::shared_ptr<void> send_transforms(rclcpp_lifecycle::LifecycleNode& node,
                                      const Settings& settings, const Metadata& metadata) {
  rclcpp::PublisherOptions options;
  // Intra-process communication keeps nothing for late subscriptions.
  options.use_intra_process_comm = rclcpp::IntraProcessSetting::Disable;
  auto publisher = rclcpp::create_publisher<tf2_msgs::msg::TFMessage>(
      node, "/tf_static", rclcpp::QoS(1).transient_local(), options);
  tf2_msgs::msg::TFMessage message;
  message.transforms = {
      transform(settings.sensor_frame, settings.imu_frame, metadata.imu_to_sensor),
      transform(settings.sensor_frame, settings.laser_frame, metadata.lidar_to_sensor)};
  for (auto& each : message.transforms) {
    each.header.stamp = node.now();
  }
  publisher->publish(message);
  return publisher;
}

}  // namespace lidar_pipeline

#else

namespace lidar_pipeline {

std::shared_ptr<void> send_transforms(rclcpp_lifecycle::LifecycleNode& node,
                                      const Settings& /*settings*/, const Metadata& /*metadata*/) {
  RCLCPP_INFO(node.get_logger(), "no static transforms: tf2_msgs is not installed");
  return nullptr;
}

}  // namespace lidar_pipeline

#endif
