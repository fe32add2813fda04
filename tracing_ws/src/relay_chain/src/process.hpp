// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>
#include <workload_rclcpp/process.hpp>

#include "chain_node.hpp"

namespace relay_chain {

using Nodes = std::vector<std::shared_ptr<ChainNode>>;

/// Runs nodes until the sinks or a signal end them, then writes their stamps; the exit status.
///
/// The first node's parameters `executor` and `threads` tell the executor. ROS must be initialized,
/// and the signals held.
int run_nodes(const std::function<Nodes()>& make);

}  // namespace relay_chain
