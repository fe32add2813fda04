// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>
#include <workload_rclcpp/process.hpp>

#include "chain_node.hpp"

namespace relay_chain {

using Nodes = std::vector<std::shared_ptr<ChainNode>>;

/// Runs nodes until the sinks or a signal end them, then writes their stamps; the exit status.
///
/// Without `execution` the first node's parameters `executor` and `threads` say it. ROS must be
/// initialized, and the signals held.
int run_nodes(const std::function<Nodes()>& make,
              const std::optional<workload::Execution>& execution);

}  // namespace relay_chain
