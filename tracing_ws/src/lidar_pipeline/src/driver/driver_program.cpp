// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "driver_program.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <workload_rclcpp/process.hpp>
#include <workload_rclcpp/settings.hpp>

#include "../perf_node.hpp"
#include "driver_node.hpp"

namespace lidar_pipeline {

namespace {

/// Makes nodes and runs them until one has nothing more to do, or a signal; the exit status.
int run_nodes(int argc, char** argv, bool with_perf_node) {
  // Before anything starts a thread.
  workload::hold_signals();
  int status = 1;
  bool spun = false;
  std::shared_ptr<PerfNode> perf_node;
  std::shared_ptr<OusterDriver> driver;
  try {
    workload::init_ros(argc, argv);
    if (with_perf_node) {
      perf_node = std::make_shared<PerfNode>(rclcpp::NodeOptions());
    }
    driver = std::make_shared<OusterDriver>(rclcpp::NodeOptions());
    const auto executor = workload::make_executor(
        workload::execution_of(with_perf_node ? *perf_node->get_node_parameters_interface()
                                              : *driver->get_node_parameters_interface()));
    workload::Spinning spinning(*executor);
    driver->when_done([&] { spinning.stop(); });
    if (perf_node) {
      perf_node->when_done([&] { spinning.stop(); });
      executor->add_node(perf_node);
    }
    executor->add_node(driver->get_node_base_interface());
    spun = true;
    spinning.spin([&] { driver->stop(); });
    status = driver->report();
    if (perf_node && status == 0) {
      status = perf_node->report();
    } else if (perf_node) {
      perf_node->withdraw();
    }
    rclcpp::shutdown();
  } catch (const std::exception& error) {
    status = 1;
    std::fprintf(stderr, "%s\n", error.what());
    // What did not run must leave no results: they would keep the next run from its files.
    if (perf_node && !spun) {
      perf_node->withdraw();
    }
    if (driver && !spun) {
      driver->withdraw();
    }
  }
  return status;
}

}  // namespace

int run_driver(int argc, char** argv) { return run_nodes(argc, argv, false); }

int run_composed(int argc, char** argv) {
  for (int at = 1; at < argc && std::string(argv[at]) != "--ros-args"; ++at) {
    const std::string word = argv[at];
    if (word != "perf_node" && word != "ouster_driver") {
      std::fprintf(stderr, "Cannot run %s: it is none of perf_node, ouster_driver.\n", argv[at]);
      return 2;
    }
  }
  return run_nodes(argc, argv, true);
}

}  // namespace lidar_pipeline
