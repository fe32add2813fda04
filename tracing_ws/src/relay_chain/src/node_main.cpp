// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "programs.hpp"

// RELAY_CHAIN_NODE is the kind: an executable each.
int main(int argc, char** argv) { return relay_chain::run_node(RELAY_CHAIN_NODE, argc, argv); }
