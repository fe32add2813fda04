// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "image_subscriber_program.hpp"

int main(int argc, char** argv) { return camera_pipeline::run_image_subscriber(argc, argv); }
