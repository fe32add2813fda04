// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf_node_program.hpp"

#include "perf_node.hpp"

namespace lidar_pipeline {

int run_perf_node(int argc, char** argv) {
  return workload::run_measuring(argc, argv,
                                 [] { return std::make_shared<PerfNode>(rclcpp::NodeOptions()); });
}

}  // namespace lidar_pipeline
