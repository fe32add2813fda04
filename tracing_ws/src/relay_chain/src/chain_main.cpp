// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Several nodes in one process, each of the kind that its name begins with:
//   chain_cpp [--parent PID] NAME... --ros-args -p NAME:rate:=10.0
#include <cstdio>
#include <exception>
#include <vector>

#include "nodes.hpp"
#include "process.hpp"

namespace {

std::vector<std::string> read_names(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--parent" && i + 1 < words.size()) {
      workload::end_with(std::stoi(words[++i]));
    } else if (words[i].rfind("--", 0) == 0) {
      throw workload::Error("Cannot use option " + words[i] +
                            ": there is --parent PID alone, before --ros-args.");
    } else {
      names.push_back(words[i]);
    }
  }
  if (names.empty()) {
    throw workload::Error("Cannot run the chain: no node is named. Name some, like source sink.");
  }
  return names;
}

int run(int argc, char** argv) {
  const auto words = rclcpp::remove_ros_arguments(argc, argv);
  const auto names = read_names(words);
  workload::init_ros(argc, argv);
  const auto make = [&] {
    relay_chain::Nodes nodes;
    for (const auto& name : names) {
      rclcpp::NodeOptions options;
      options.arguments({"--ros-args", "-r", "__node:=" + name});
      nodes.push_back(relay_chain::make_node(name, options));
    }
    return nodes;
  };
  const int status = relay_chain::run_nodes(make);
  rclcpp::shutdown();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  // Before anything starts a thread.
  workload::hold_signals();
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
