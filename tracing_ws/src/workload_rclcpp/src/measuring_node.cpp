// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "workload_rclcpp/measuring_node.hpp"

#include <cstdio>
#include <exception>
#include <rclcpp/utilities.hpp>

#include "workload_rclcpp/process.hpp"

namespace workload {

namespace {

/// A node that cannot run must leave no results: they would keep the next run from its files.
std::unique_ptr<rclcpp::Executor> executor_of(MeasuringNode& node) {
  try {
    return make_executor(execution_of(node));
  } catch (...) {
    node.withdraw();
    throw;
  }
}

}  // namespace

int MeasuringNode::report() {
  if (std::exchange(reported_, true)) {
    return 0;
  }
  const int status = write_results();
  if (problem_) {
    std::fprintf(stderr, "%s\n", problem_->c_str());
    return 1;
  }
  return status;
}

void MeasuringNode::finish(std::optional<std::string> problem) {
  if (done_) {
    return;
  }
  done_ = true;
  problem_ = std::move(problem);
  if (act_) {
    act_();
  }
}

void MeasuringNode::report_at_last() noexcept {
  try {
    report();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

int run_measuring(int argc, char** argv,
                  const std::function<std::shared_ptr<MeasuringNode>()>& make) {
  // Before anything starts a thread.
  hold_signals();
  try {
    init_ros(argc, argv);
    const auto node = make();
    const auto executor = executor_of(*node);
    Spinning spinning(*executor);
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

}  // namespace workload
