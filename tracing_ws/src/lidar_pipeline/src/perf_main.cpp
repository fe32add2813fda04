// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf_node_program.hpp"

int main(int argc, char** argv) { return lidar_pipeline::run_perf_node(argc, argv); }
