// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <rclcpp_lifecycle/lifecycle_node.hpp>

#include "settings.hpp"

namespace lidar_pipeline {

/// Publishes where the sensor's parts are, on /tf_static; gives what keeps them published, null
/// when the driver was built without tf2_msgs.
std::shared_ptr<void> send_transforms(rclcpp_lifecycle::LifecycleNode& node,
                                      const Settings& settings, const Metadata& metadata);

}  // namespace lidar_pipeline
