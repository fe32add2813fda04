// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// What main() does. Without rclcpp's headers, which cost it seconds.
#pragma once

namespace lidar_pipeline {

/// The node ouster_driver, one process: --ros-args ... Gives the exit status.
int run_driver(int argc, char** argv);

/// The nodes perf_node and ouster_driver in one process, on one executor, until perf_node has its
/// samples: [perf_node] [ouster_driver] --ros-args ... Gives the exit status.
int run_composed(int argc, char** argv);

}  // namespace lidar_pipeline
