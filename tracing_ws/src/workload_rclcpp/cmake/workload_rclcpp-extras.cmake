# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# How nodes in C++ are compiled. Each file that includes rclcpp costs 6 s for its headers alone, so the files
# of a target are compiled together; debug information and full optimization would double the time of what
# rclcpp makes of a message type. rclcpp itself is installed, as it was compiled.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
add_compile_options(-O1 -g0)
