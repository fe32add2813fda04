// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "messages.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <workload_rclcpp/measuring_node.hpp>

namespace lidar_pipeline {

namespace {

using sensor_msgs::msg::PointField;

constexpr double kStandardG = 9.80665;

struct PointFieldOf {
  const char* name;
  std::size_t offset;
  std::uint8_t type;
};

constexpr std::array<PointFieldOf, 9> kPointFields{{
    {"x", offsetof(Point, x), PointField::FLOAT32},
    {"y", offsetof(Point, y), PointField::FLOAT32},
    {"z", offsetof(Point, z), PointField::FLOAT32},
    {"intensity", offsetof(Point, intensity), PointField::FLOAT32},
    {"t", offsetof(Point, t), PointField::UINT32},
    {"reflectivity", offsetof(Point, reflectivity), PointField::UINT16},
    {"ring", offsetof(Point, ring), PointField::UINT8},
    {"noise", offsetof(Point, noise), PointField::UINT16},
    {"range", offsetof(Point, range), PointField::UINT32},
}};

builtin_interfaces::msg::Time time_of(std::int64_t at_ns) {
  builtin_interfaces::msg::Time time;
  time.sec = static_cast<std::int32_t>(at_ns / workload::kSecondNs);
  time.nanosec = static_cast<std::uint32_t>(at_ns % workload::kSecondNs);
  return time;
}

template <typename Message>
std::unique_ptr<Message> copy_of(const Message& empty, std::int64_t at_ns) {
  auto message = std::make_unique<Message>(empty);
  message->header.stamp = time_of(at_ns);
  return message;
}

}  // namespace

Cloud::Cloud(const Settings& settings, const Metadata& metadata)
    : writer_(
          directions(settings.connection.lidar_mode.columns, metadata.azimuths, metadata.altitudes),
          settings.by_column) {
  const auto columns = static_cast<std::uint32_t>(settings.connection.lidar_mode.columns);
  empty_.header.frame_id = settings.laser_frame;
  empty_.height = kPixels;
  empty_.width = columns;
  for (const auto& each : kPointFields) {
    PointField field;
    field.name = each.name;
    field.offset = static_cast<std::uint32_t>(each.offset);
    field.datatype = each.type;
    field.count = 1;
    empty_.fields.push_back(field);
  }
  empty_.point_step = sizeof(Point);
  empty_.row_step = empty_.point_step * columns;
  empty_.is_dense = true;
}

std::unique_ptr<Cloud::Message> Cloud::make(const Scan& scan, std::int64_t at_ns) const {
  auto message = copy_of(empty_, at_ns);
  message->data.resize(std::size_t{message->row_step} * message->height);
  writer_.write(scan, message->data.data());
  return message;
}

Plane::Plane(const Settings& settings, const Metadata& metadata)
    : channel_(level_channel(metadata.altitudes)) {
  const auto& mode = settings.connection.lidar_mode;
  const auto columns = static_cast<double>(mode.columns);
  const double increment = -2 * M_PI / columns;
  const double first = -radians(metadata.azimuths[channel_]);
  empty_.header.frame_id = settings.laser_frame;
  empty_.angle_min = static_cast<float>(first);
  empty_.angle_max = static_cast<float>(first + (columns - 1) * increment);
  empty_.angle_increment = static_cast<float>(increment);
  empty_.time_increment = static_cast<float>(1.0 / mode.hz / columns);
  empty_.scan_time = static_cast<float>(1.0 / mode.hz);
  empty_.range_min = 0.1F;
  empty_.range_max = 120.0F;
}

std::unique_ptr<Plane::Message> Plane::make(const Scan& scan, std::int64_t at_ns) const {
  auto message = copy_of(empty_, at_ns);
  message->ranges.resize(scan.columns.size());
  message->intensities.resize(scan.columns.size());
  for (std::size_t at = 0; at < scan.columns.size(); ++at) {
    if (scan.columns[at] != nullptr) {
      const Pixel& pixel = scan.columns[at]->pixels[channel_];
      message->ranges[at] = static_cast<float>((pixel.range & kRangeMask) * 1e-3);
      message->intensities[at] = std::min<std::uint16_t>(pixel.signal, 255);
    }
  }
  return message;
}

Picture::Picture(const Settings& settings, Field field) : field_(field) {
  const auto columns = static_cast<std::uint32_t>(settings.connection.lidar_mode.columns);
  empty_.header.frame_id = settings.laser_frame;
  empty_.height = kPixels;
  empty_.width = columns;
  empty_.step = columns;
  empty_.encoding = "mono8";
}

std::unique_ptr<Picture::Message> Picture::make(const Scan& scan, std::int64_t at_ns) const {
  auto message = copy_of(empty_, at_ns);
  message->data.resize(std::size_t{message->step} * message->height);
  write_image(scan, field_, message->data.data());
  return message;
}

Inertia::Inertia(const std::string& frame) {
  empty_.header.frame_id = frame;
  empty_.orientation.w = 1.0;
  empty_.orientation_covariance.fill(-1.0);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    empty_.linear_acceleration_covariance[4 * axis] = 0.01;
    empty_.angular_velocity_covariance[4 * axis] = 6e-4;
  }
}

std::unique_ptr<Inertia::Message> Inertia::make(const ImuSample& sample,
                                                std::optional<std::int64_t> at_ns) const {
  auto message = copy_of(empty_, at_ns.value_or(static_cast<std::int64_t>(sample.gyroscope)));
  auto& force = message->linear_acceleration;
  force.x = sample.acceleration[0] * kStandardG;
  force.y = sample.acceleration[1] * kStandardG;
  force.z = sample.acceleration[2] * kStandardG;
  auto& turn = message->angular_velocity;
  turn.x = radians(sample.angular_velocity[0]);
  turn.y = radians(sample.angular_velocity[1]);
  turn.z = radians(sample.angular_velocity[2]);
  return message;
}

}  // namespace lidar_pipeline
