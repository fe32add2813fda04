// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// From a scan or an IMU packet to published messages; only what somebody listens to is made.
#pragma once

#include <functional>
#include <memory>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <string>
#include <vector>

#include "messages.hpp"

namespace lidar_pipeline {

/// A topic of messages of one type; null when proc_mask does not ask for it.
template <typename Message>
using Topic = std::shared_ptr<rclcpp_lifecycle::LifecyclePublisher<Message>>;

/// The topics that proc_mask asks for.
class Topics {
 public:
  Topics(rclcpp_lifecycle::LifecycleNode& node, const Settings& settings);

  /// Counts the subscriptions on the topics made of scans.
  [[nodiscard]] std::size_t listened() const;

  Topic<sensor_msgs::msg::PointCloud2> points;
  std::vector<Topic<sensor_msgs::msg::Image>> images;
  Topic<sensor_msgs::msg::LaserScan> scan;
  Topic<sensor_msgs::msg::Imu> imu;

 private:
  rclcpp_lifecycle::LifecycleNode& node_;
  bool by_pointer_;
  std::vector<std::shared_ptr<rclcpp::PublisherBase>> of_scans_;
};

/// Makes and publishes the messages of scans, on whichever thread calls it.
class ScanPublisher {
 public:
  ScanPublisher(const Topics& topics, const Settings& settings, const Metadata& metadata,
                std::uint64_t source);

  /// Publishes a scan that was closed at a time of CLOCK_REALTIME.
  void publish(const Scan& scan, std::int64_t closed_ns);

  Count scans{0};
  /// Of which at least one message went out.
  Count published{0};
  Count unheard{0};
  Count messages{0};
  /// Messages that the middleware did not take.
  Count refused{0};

 private:
  /// Publishes one message of a scan; false when nobody listens. `ready`: the scan's event was
  /// emitted before.
  using Product = std::function<bool(const Scan& scan, std::int64_t at_ns, bool ready)>;

  /// Adds a topic and what makes its messages; nothing for a null topic.
  template <typename Maker>
  void add(const Topic<typename Maker::Message>& topic, Maker maker);

  std::uint64_t source_;
  bool by_reception_;
  std::vector<Product> products_;
};

/// Makes and publishes IMU messages; each packet is a frame of its own.
class ImuPublisher {
 public:
  ImuPublisher(const Topics& topics, const Settings& settings, std::uint64_t source);

  void publish(const ImuSample& sample, std::uint64_t sequence);

  Count refused{0};

 private:
  Topic<sensor_msgs::msg::Imu> topic_;
  Inertia message_;
  std::uint64_t source_;
  bool by_reception_;
  std::uint64_t packets_ = 0;
};

}  // namespace lidar_pipeline
