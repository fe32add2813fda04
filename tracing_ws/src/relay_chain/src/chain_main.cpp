// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// Several nodes in one process, each of the kind that its name begins with:
//   chain_cpp [--parent PID] [--executor KIND] [--threads N] NAME... --ros-args -p NAME:rate:=10.0
#include <cstdio>
#include <exception>
#include <vector>

#include "nodes.hpp"
#include "process.hpp"

namespace {

struct Arguments {
  std::optional<workload::Execution> execution;
  std::vector<std::string> names;
};

Arguments read(const std::vector<std::string>& words) {
  Arguments out;
  std::string threads = "0";
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool has_value = i + 1 < words.size();
    if (words[i] == "--parent" && has_value) {
      workload::end_with(std::stoi(words[++i]));
    } else if (words[i] == "--executor" && has_value) {
      out.execution.emplace().kind = words[++i];
    } else if (words[i] == "--threads" && has_value) {
      threads = words[++i];
    } else if (words[i].rfind("--", 0) == 0) {
      throw workload::Error("Cannot use option " + words[i] +
                            ": it is none of --parent PID, --executor KIND, --threads N.");
    } else {
      out.names.push_back(words[i]);
    }
  }
  if (out.execution) {
    out.execution->threads = std::stoul(threads);
  }
  if (out.names.empty()) {
    throw workload::Error("Cannot run the chain: no node is named. Name some, like source sink.");
  }
  return out;
}

int run(int argc, char** argv) {
  const auto words = rclcpp::remove_ros_arguments(argc, argv);
  const Arguments arguments = read(words);
  workload::init_ros(argc, argv);
  const auto make = [&] {
    relay_chain::Nodes nodes;
    for (const auto& name : arguments.names) {
      rclcpp::NodeOptions options;
      options.arguments({"--ros-args", "-r", "__node:=" + name});
      nodes.push_back(relay_chain::make_node(name, options));
    }
    return nodes;
  };
  const int status = relay_chain::run_nodes(make, arguments.execution);
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
