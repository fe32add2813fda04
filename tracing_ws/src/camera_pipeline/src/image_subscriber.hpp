// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <sensor_msgs/msg/camera_info.hpp>
#include <sensor_msgs/msg/image.hpp>
#include <string>
#include <vector>
#include <workload_rclcpp/measuring_node.hpp>

namespace camera_pipeline {

/// What the metrics need of an image or, without a size, of a camera_info.
struct Arrival {
  /// Times in ns since the epoch.
  std::int64_t at_ns = 0;
  std::int64_t stamp_ns = 0;
  bool is_image = false;
  /// Number of the publication, from 1; 0 when the middleware tells none.
  std::int64_t sequence = 0;
  /// Of the pixels.
  std::int64_t bytes = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t step = 0;
  std::string encoding;
};

/// The node `image_subscriber` in C++: its parameters and results are those of
/// camera_pipeline/subscriber.py, whose metrics it has made of what arrived. As a component it
/// writes them when it is unloaded.
class ImageSubscriber : public workload::MeasuringNode {
 public:
  /// Throws Error when a parameter cannot be used.
  explicit ImageSubscriber(const rclcpp::NodeOptions& options);
  ~ImageSubscriber() override { report_at_last(); }

 private:
  int write_results() override;
  void subscribe();
  void on_image(const std::shared_ptr<const sensor_msgs::msg::Image>& message,
                const rclcpp::MessageInfo& info);
  void on_serialized(const std::shared_ptr<const rclcpp::SerializedMessage>& message,
                     const rclcpp::MessageInfo& info);
  void on_info(const std::shared_ptr<const sensor_msgs::msg::CameraInfo>& message);
  void on_poll();
  void add(Arrival&& image, const rclcpp::MessageInfo& info);
  /// How many images before the first are lost: those whose camera_info came.
  [[nodiscard]] std::int64_t lost_before(const Arrival& first) const;
  /// Images received and, where the middleware numbers them, lost.
  [[nodiscard]] std::int64_t counted() const {
    return std::max(received_, last_sequence_ - before_first_);
  }
  [[nodiscard]] std::string nothing_came() const;

  std::int64_t images_;
  std::chrono::duration<double> seconds_;
  std::chrono::duration<double> quiet_;
  std::chrono::duration<double> discovery_;
  bool raw_;
  double expected_fps_;
  bool force_;
  std::string csv_;
  std::string summary_;

  rclcpp::SubscriptionBase::SharedPtr image_;
  rclcpp::SubscriptionBase::SharedPtr camera_info_;
  rclcpp::PublisherBase::SharedPtr ready_;
  rclcpp::TimerBase::SharedPtr poll_;
  std::string incompatible_;

  std::vector<Arrival> arrivals_;
  std::int64_t received_ = 0;
  std::int64_t last_sequence_ = 0;
  /// Published before this subscription was there, as the first number tells.
  std::int64_t before_first_ = 0;
  bool gave_up_ = false;
  std::chrono::steady_clock::time_point began_;
  std::optional<std::chrono::steady_clock::time_point> first_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace camera_pipeline
