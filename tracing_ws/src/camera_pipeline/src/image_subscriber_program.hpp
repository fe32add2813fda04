// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// What main() does. Without rclcpp's headers, which cost it seconds.
#pragma once

namespace camera_pipeline {

/// The node image_subscriber, one process: --ros-args ... Gives the exit status.
int run_image_subscriber(int argc, char** argv);

}  // namespace camera_pipeline
