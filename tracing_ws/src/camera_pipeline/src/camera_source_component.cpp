// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <rclcpp_components/register_node_macro.hpp>
#include <thread>

#include "camera_source.hpp"

namespace camera_pipeline {

/// The camera as a component: it publishes on a thread of its own, as gscam's does.
class CameraSourceComponent : public CameraSource {
 public:
  /// Throws Error when a parameter cannot be used.
  explicit CameraSourceComponent(const rclcpp::NodeOptions& options)
      : CameraSource(options), thread_([this] { publish_all(); }) {}

  ~CameraSourceComponent() override {
    stop();
    thread_.join();
  }

 private:
  void publish_all() noexcept {
    try {
      run();
    } catch (const std::exception& error) {
      RCLCPP_ERROR(get_logger(), "%s", error.what());
    }
  }

  std::thread thread_;
};

}  // namespace camera_pipeline

RCLCPP_COMPONENTS_REGISTER_NODE(camera_pipeline::CameraSourceComponent)
