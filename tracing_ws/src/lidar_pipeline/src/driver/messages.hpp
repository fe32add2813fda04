// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// The driver's messages. Each is made anew, as publishing gives it away: by pointer within a
// process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <sensor_msgs/msg/image.hpp>
#include <sensor_msgs/msg/imu.hpp>
#include <sensor_msgs/msg/laser_scan.hpp>
#include <sensor_msgs/msg/point_cloud2.hpp>

#include "images.hpp"
#include "points.hpp"
#include "settings.hpp"

namespace lidar_pipeline {

/// Makes the message of `points`.
class Cloud {
 public:
  using Message = sensor_msgs::msg::PointCloud2;

  Cloud(const Settings& settings, const Metadata& metadata);
  [[nodiscard]] std::unique_ptr<Message> make(const Scan& scan, std::int64_t at_ns) const;
  static std::size_t bytes(const Message& message) { return message.data.size(); }

 private:
  Message empty_;
  PointWriter writer_;
};

/// Makes the message of `scan`: the channel nearest to the horizon, in the order of measurement.
/// The sensor turns clockwise, so the angle's increment is negative.
class Plane {
 public:
  using Message = sensor_msgs::msg::LaserScan;

  Plane(const Settings& settings, const Metadata& metadata);
  [[nodiscard]] std::unique_ptr<Message> make(const Scan& scan, std::int64_t at_ns) const;
  static std::size_t bytes(const Message& message) { return sizeof(float) * message.ranges.size(); }

 private:
  std::size_t channel_;
  Message empty_;
};

/// Makes the message of one of the images.
class Picture {
 public:
  using Message = sensor_msgs::msg::Image;

  Picture(const Settings& settings, Field field);
  [[nodiscard]] std::unique_ptr<Message> make(const Scan& scan, std::int64_t at_ns) const;
  static std::size_t bytes(const Message& message) { return message.data.size(); }

 private:
  Field field_;
  Message empty_;
};

/// Makes the message of `imu`: no orientation is measured.
class Inertia {
 public:
  using Message = sensor_msgs::msg::Imu;

  explicit Inertia(const std::string& frame);
  /// Without a time it is stamped with the gyroscope's.
  [[nodiscard]] std::unique_ptr<Message> make(const ImuSample& sample,
                                              std::optional<std::int64_t> at_ns) const;

 private:
  Message empty_;
};

}  // namespace lidar_pipeline
