// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "workload_rclcpp/process.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <rclcpp/rclcpp.hpp>
#include <thread>

#include "workload_rclcpp/settings.hpp"

namespace workload {

namespace {

sigset_t signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void hold_signals() {
  const auto set = signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void end_with(int parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) {
    std::exit(1);
  }
}

void init_ros(int argc, char** argv) {
  rclcpp::init(argc, argv, rclcpp::InitOptions(), rclcpp::SignalHandlerOptions::None);
}

Execution execution_of(rclcpp::Node& node) {
  return execution_of(*node.get_node_parameters_interface());
}

Execution execution_of(Parameters& parameters) {
  const auto kind = setting(parameters, "executor", std::string("single"));
  const auto threads = setting(parameters, "threads", std::int64_t{0}, 0);
  return {kind, static_cast<std::size_t>(threads)};
}

std::unique_ptr<rclcpp::Executor> make_executor(const Execution& execution) {
  if (execution.kind == "single") {
    return std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
  }
  if (execution.kind == "multi") {
    return std::make_unique<rclcpp::executors::MultiThreadedExecutor>(rclcpp::ExecutorOptions(),
                                                                      execution.threads);
  }
  if (execution.kind == "events") {
    return std::make_unique<rclcpp::experimental::executors::EventsExecutor>();
  }
  throw Error("Cannot use parameter executor: '" + execution.kind +
              "' is none of single, multi, events.");
}

int Spinning::spin(const std::function<void()>& on_signal) {
  std::thread waiter([&] { wait_signal(on_signal); });
  executor_.spin();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  pthread_kill(waiter.native_handle(), SIGTERM);
  waiter.join();
  return signal_;
}

void Spinning::wait_signal(const std::function<void()>& on_signal) {
  const auto set = signals();
  int number = 0;
  sigwait(&set, &number);
  std::unique_lock lock(mutex_);
  if (ended_) {
    return;
  }
  signal_ = number;
  on_signal();
  // Again and again: an executor that does not spin yet would forget it.
  while (!ended_) {
    executor_.cancel();
    changed_.wait_for(lock, std::chrono::milliseconds(20));
  }
}

}  // namespace workload
