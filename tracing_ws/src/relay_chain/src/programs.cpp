// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "nodes.hpp"
#include "process.hpp"

namespace relay_chain {

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

int run_made(int argc, char** argv, const std::function<Nodes()>& make) {
  workload::init_ros(argc, argv);
  const int status = run_nodes(make);
  rclcpp::shutdown();
  return status;
}

int run_named(int argc, char** argv) {
  const auto words = rclcpp::remove_ros_arguments(argc, argv);
  const auto names = read_names(words);
  return run_made(argc, argv, [&] {
    Nodes nodes;
    for (const auto& name : names) {
      rclcpp::NodeOptions options;
      options.arguments({"--ros-args", "-r", "__node:=" + name});
      nodes.push_back(make_node(name, options));
    }
    return nodes;
  });
}

int run_one(const char* kind, int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "--parent") == 0) {
    workload::end_with(std::stoi(argv[2]));
  }
  return run_made(argc, argv, [&] { return Nodes{make_node(kind, rclcpp::NodeOptions())}; });
}

/// The exit status of `run`; that of an error, which it says, is 2.
int run_safely(const std::function<int()>& run) {
  // Before anything starts a thread.
  workload::hold_signals();
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

}  // namespace

int run_node(const char* kind, int argc, char** argv) {
  return run_safely([&] { return run_one(kind, argc, argv); });
}

int run_chain(int argc, char** argv) {
  return run_safely([&] { return run_named(argc, argv); });
}

}  // namespace relay_chain
