// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <sensor_msgs/msg/camera_info.hpp>
#include <sensor_msgs/msg/compressed_image.hpp>
#include <sensor_msgs/msg/image.hpp>
#include <string>
#include <vector>

struct capture;
struct frame;

namespace camera_pipeline {

/// A row of the log: camera_pipeline/source.py says what each column is.
struct Stamps {
  std::int64_t frame;
  std::int64_t pts_ns;
  std::int64_t stamp_ns;
  std::int64_t arrived_ns;
  std::int64_t pulled_ns;
  std::int64_t publish_ns;
  std::int64_t published_ns;
};

/// The node `gscam_publisher` in C++: parameters, topics, stamps, log and trace events are those of
/// camera_pipeline/source.py.
class CameraSource : public rclcpp::Node {
 public:
  /// Throws Error when a parameter cannot be used.
  explicit CameraSource(const rclcpp::NodeOptions& options);
  ~CameraSource() override;

  /// Publishes on this thread until the stream ends, the wanted images are published, or `stop` is
  /// called. Throws Error when the pipeline fails.
  void run();
  /// Ends `run` soon; from any thread.
  void stop() { stop_ = true; }

  [[nodiscard]] std::int64_t published() const { return published_; }
  /// Buffers that the appsink dropped.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  /// Images that the middleware did not take, as without free memory: they are lost.
  [[nodiscard]] std::int64_t refused() const { return refused_; }

 private:
  [[nodiscard]] std::string pipeline();
  void read_calibration();
  void make_publishers();
  void wait_for_peers();
  [[nodiscard]] std::size_t connected() const;
  [[nodiscard]] bool done() const { return stop_ || (images_ > 0 && published_ >= images_); }
  void run_stream();
  void play(capture& stream);
  void publish(const frame& pulled, std::uint64_t source, std::int64_t offset_ns);
  void publish_image(const frame& pulled, const builtin_interfaces::msg::Time& stamp,
                     std::uint64_t source, Stamps& row);
  /// Publishes by `act`; false, with a warning once, when the middleware refuses the image.
  bool is_taken(const std::function<void()>& act);
  void write_log() const;
  void acknowledged();

  std::string description_;
  bool sync_;
  bool preroll_;
  bool use_gst_timestamps_;
  bool reopen_on_eof_;
  std::string encoding_;
  std::string frame_id_;
  std::int64_t images_;
  std::size_t peers_;
  std::chrono::duration<double> peers_wait_;
  unsigned max_buffers_;
  std::string log_;

  rclcpp::Publisher<sensor_msgs::msg::Image>::SharedPtr image_publisher_;
  rclcpp::Publisher<sensor_msgs::msg::CompressedImage>::SharedPtr compressed_publisher_;
  rclcpp::Publisher<sensor_msgs::msg::CameraInfo>::SharedPtr info_publisher_;
  std::string ready_topic_;
  /// Messages that are used again: a new one of 25 MB would have its memory cleared by the kernel.
  sensor_msgs::msg::Image image_;
  sensor_msgs::msg::CompressedImage compressed_;
  sensor_msgs::msg::CameraInfo info_;

  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> published_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::int64_t> refused_{0};
  std::vector<Stamps> rows_;
};

}  // namespace camera_pipeline
