// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <cstdio>

#include "nodes.hpp"

namespace relay_chain {

namespace {

/// Whether nodes have nothing more to do: sinks and pings end when they have everything, others at
/// a fault.
bool all_done(const Nodes& nodes) {
  bool ends_done = true;
  bool fault = false;
  for (const auto& node : nodes) {
    ends_done = ends_done && (!node->ends() || node->done());
    fault = fault || (!node->ends() && node->done());
  }
  return ends_done || fault;
}

/// Writes the stamps and says how it ended; the exit status.
int report(const Nodes& nodes, int number) {
  int status = 0;
  for (const auto& node : nodes) {
    const auto* name = node->get_name();
    for (const auto& path : node->write()) {
      std::fprintf(stderr, "%s: wrote %s\n", name, path.c_str());
    }
    if (node->problem()) {
      std::fprintf(stderr, "%s\n", node->problem()->c_str());
      status = 1;
    }
    if (const auto text = node->says()) {
      std::fprintf(stderr, "%s: %s\n", name, text->c_str());
    }
    // A chain that was ended before its time did not do what it was asked to.
    if (number != 0 && node->cut_short()) {
      status = 128 + number;
    }
  }
  return status;
}

}  // namespace

int run_nodes(const std::function<Nodes()>& make) {
  try {
    const Nodes nodes = make();
    const auto executor = workload::make_executor(workload::execution_of(*nodes.front()));
    workload::Spinning spinning(*executor);
    for (const auto& node : nodes) {
      node->when_done([&] {
        if (all_done(nodes)) {
          spinning.stop();
        }
      });
      executor->add_node(node);
    }
    return report(nodes, spinning.spin());
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Cannot run the nodes: %s.\n", error.what());
  }
  return 1;
}

}  // namespace relay_chain
