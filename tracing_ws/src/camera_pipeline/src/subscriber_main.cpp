// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// The node image_subscriber, one process: image_subscriber_cpp --ros-args ...
#include "image_subscriber.hpp"

int main(int argc, char** argv) {
  return workload::run_measuring(argc, argv, [] {
    return std::make_shared<camera_pipeline::ImageSubscriber>(rclcpp::NodeOptions());
  });
}
