// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// The node perf_node, one process: perf_node_cpp --ros-args ...
#include <cstdio>
#include <exception>
#include <memory>
#include <workload_rclcpp/process.hpp>

#include "perf_node.hpp"

int main(int argc, char** argv) {
  // Before anything starts a thread.
  workload::hold_signals();
  try {
    workload::init_ros(argc, argv);
    const auto node = std::make_shared<lidar_pipeline::PerfNode>(rclcpp::NodeOptions());
    const auto executor = workload::make_executor(workload::execution_of(*node));
    workload::Spinning spinning(*executor);
    node->when_done([&] { spinning.stop(); });
    executor->add_node(node);
    spinning.spin();
    const int status = node->report();
    rclcpp::shutdown();
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
