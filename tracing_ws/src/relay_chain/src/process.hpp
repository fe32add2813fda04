// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chain_node.hpp"

namespace relay_chain {

/// Kind of an executor (single, multi or events) and its threads; 0: one a CPU.
struct Execution {
  std::string kind;
  std::size_t threads = 0;
};

using Nodes = std::vector<std::shared_ptr<ChainNode>>;

/// Keeps SIGINT and SIGTERM pending in this thread and those that it starts: call it first.
void hold_signals();

/// Has the kernel send SIGTERM to this process when its parent, of that id, ends.
void end_with(int parent);

/// Runs nodes until the sinks or a signal end them, then writes their stamps; the exit status.
///
/// Without `execution` the first node's parameters `executor` and `threads` say it. ROS must be
/// initialized, and the signals held.
int run_nodes(const std::function<Nodes()>& make, const std::optional<Execution>& execution);

}  // namespace relay_chain
