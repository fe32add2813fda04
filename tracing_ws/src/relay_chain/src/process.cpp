// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <cstdio>

#include "nodes.hpp"

namespace relay_chain {

namespace {

/// Whether nodes have nothing more to do: sinks end when they have everything, others at a fault.
bool all_done(const Nodes& nodes) {
  bool sinks_done = true;
  bool fault = false;
  for (const auto& node : nodes) {
    const bool is_sink = dynamic_cast<Sink*>(node.get()) != nullptr;
    sinks_done = sinks_done && (!is_sink || node->done());
    fault = fault || (!is_sink && node->done());
  }
  return sinks_done || fault;
}

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
