// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <rclcpp/executor.hpp>
#include <rclcpp/node.hpp>
#include <string>

namespace workload {

/// Keeps SIGINT and SIGTERM pending in this thread and those that it starts: call it first.
void hold_signals();

/// Has the kernel send SIGTERM to this process when its parent, of that id, ends.
void end_with(int parent);

/// Initializes ROS without its signal handlers, which would end the context under the nodes.
void init_ros(int argc, char** argv);

/// Kind of an executor (single, multi or events) and its threads; 0: one a CPU.
struct Execution {
  std::string kind = "single";
  std::size_t threads = 0;
};

/// Declares a node's parameters `executor` and `threads`. Throws Error when they cannot be used.
Execution execution_of(rclcpp::Node& node);
/// The same of a node that is no rclcpp::Node, as lifecycle nodes are.
Execution execution_of(rclcpp::node_interfaces::NodeParametersInterface& parameters);

/// Makes an executor. Throws Error for a kind that is none.
std::unique_ptr<rclcpp::Executor> make_executor(const Execution& execution);

/// Spins an executor until `stop` or a signal. The signals must be held already.
class Spinning {
 public:
  explicit Spinning(rclcpp::Executor& executor) : executor_(executor) {}

  /// The number of the signal that ended it; 0 when there was none. `on_signal` is called at a
  /// signal, on another thread: a callback may be busy then, and must learn that it is to end.
  int spin(const std::function<void()>& on_signal = [] {});
  /// Ends `spin`, from a callback that it runs.
  void stop() { executor_.cancel(); }

 private:
  void wait_signal(const std::function<void()>& on_signal);

  rclcpp::Executor& executor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  int signal_ = 0;
};

}  // namespace workload
