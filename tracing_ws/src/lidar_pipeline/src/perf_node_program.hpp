// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// What main() does. Without rclcpp's headers, which cost it seconds.
#pragma once

namespace lidar_pipeline {

/// The node perf_node, one process: --ros-args ... Gives the exit status.
int run_perf_node(int argc, char** argv);

}  // namespace lidar_pipeline
