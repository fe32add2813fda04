// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// One node, one process: source_cpp [--parent PID] --ros-args ...; RELAY_CHAIN_NODE is its kind.
#include <cstdio>
#include <cstring>
#include <exception>

#include "nodes.hpp"
#include "process.hpp"

int main(int argc, char** argv) {
  // Before anything starts a thread.
  workload::hold_signals();
  try {
    if (argc > 2 && std::strcmp(argv[1], "--parent") == 0) {
      workload::end_with(std::stoi(argv[2]));
    }
    workload::init_ros(argc, argv);
    const auto make = [] {
      return relay_chain::Nodes{relay_chain::make_node(RELAY_CHAIN_NODE, rclcpp::NodeOptions())};
    };
    const int status = relay_chain::run_nodes(make);
    rclcpp::shutdown();
    return status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
