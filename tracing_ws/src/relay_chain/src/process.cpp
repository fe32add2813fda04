// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <thread>

#include "nodes.hpp"

namespace relay_chain {

namespace {

sigset_t signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
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

Execution execution_of(ChainNode& node) {
  const auto kind = setting(node, "executor", std::string("single"));
  const auto threads = setting(node, "threads", std::int64_t{0}, 0);
  return {kind, static_cast<std::size_t>(threads)};
}

/// Spins an executor until the nodes are done or a signal comes.
class Spinning {
 public:
  Spinning(rclcpp::Executor& executor, const Nodes& nodes) : executor_(executor), nodes_(nodes) {
    for (const auto& node : nodes_) {
      node->when_done([this] { on_done(); });
      executor_.add_node(node);
    }
  }

  /// The number of the signal; 0 when there was none.
  int spin() {
    std::thread waiter([this] { wait_signal(); });
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

 private:
  void on_done() {
    // Sinks end when they have everything, others because of a fault.
    bool sinks_done = true;
    bool fault = false;
    for (const auto& node : nodes_) {
      const bool is_sink = dynamic_cast<Sink*>(node.get()) != nullptr;
      sinks_done = sinks_done && (!is_sink || node->done());
      fault = fault || (!is_sink && node->done());
    }
    if (sinks_done || fault) {
      executor_.cancel();
    }
  }

  void wait_signal() {
    const auto set = signals();
    int number = 0;
    sigwait(&set, &number);
    std::unique_lock lock(mutex_);
    if (ended_) {
      return;
    }
    signal_ = number;
    // Again and again: an executor that does not spin yet would forget it.
    while (!ended_) {
      executor_.cancel();
      changed_.wait_for(lock, std::chrono::milliseconds(20));
    }
  }

  rclcpp::Executor& executor_;
  const Nodes& nodes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  int signal_ = 0;
};

/// Writes the stamps and says how it ended; the exit status.
int report(const Nodes& nodes, int number) {
  int status = 0;
  for (const auto& node : nodes) {
    const auto* name = node->get_name();
    if (const auto path = node->truth().write()) {
      std::fprintf(stderr, "%s: wrote %s\n", name, path->c_str());
    }
    if (node->problem()) {
      std::fprintf(stderr, "%s\n", node->problem()->c_str());
      status = 1;
    }
    if (const auto* sink = dynamic_cast<Sink*>(node.get())) {
      std::fprintf(stderr, "%s: received %lld of %lld messages\n", name,
                   static_cast<long long>(sink->received()),
                   static_cast<long long>(sink->expected()));
      // A chain that was ended before its time did not do what it was asked to.
      if (number != 0 && sink->received() < sink->expected()) {
        status = 128 + number;
      }
    }
  }
  return status;
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

int run_nodes(const std::function<Nodes()>& make, const std::optional<Execution>& execution) {
  try {
    const Nodes nodes = make();
    const auto executor = make_executor(execution ? *execution : execution_of(*nodes.front()));
    const int number = Spinning(*executor, nodes).spin();
    return report(nodes, number);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Cannot run the nodes: %s.\n", error.what());
  }
  return 1;
}

}  // namespace relay_chain
