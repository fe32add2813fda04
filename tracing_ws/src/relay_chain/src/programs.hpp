// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
// What main() of the executables does. Without rclcpp's headers, which cost each of them seconds.
#pragma once

namespace relay_chain {

/// One node, one process: [--parent PID] --ros-args ...; the kind is one of make_node. Gives the
/// exit status.
int run_node(const char* kind, int argc, char** argv);

/// Several nodes in one process, each of the kind that its name begins with:
///   [--parent PID] NAME... --ros-args -p NAME:rate:=10.0
/// Gives the exit status.
int run_chain(int argc, char** argv);

}  // namespace relay_chain
