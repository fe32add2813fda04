// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// The node perf_node, one process: perf_node_cpp --ros-args ...
#include "perf_node.hpp"

int main(int argc, char** argv) {
  return workload::run_measuring(
      argc, argv, [] { return std::make_shared<lidar_pipeline::PerfNode>(rclcpp::NodeOptions()); });
}
