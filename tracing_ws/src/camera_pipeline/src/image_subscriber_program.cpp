// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "image_subscriber_program.hpp"

#include "image_subscriber.hpp"

namespace camera_pipeline {

int run_image_subscriber(int argc, char** argv) {
  return workload::run_measuring(
      argc, argv, [] { return std::make_shared<ImageSubscriber>(rclcpp::NodeOptions()); });
}

}  // namespace camera_pipeline
