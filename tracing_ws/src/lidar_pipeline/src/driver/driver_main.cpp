// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "driver_program.hpp"

int main(int argc, char** argv) { return lidar_pipeline::run_driver(argc, argv); }
