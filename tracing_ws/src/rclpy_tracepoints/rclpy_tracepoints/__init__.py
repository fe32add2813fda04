# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The executor and callback tracepoints of rclcpp, for unmodified rclpy programs.

`sitecustomize` (installed beside this package, in lib/rclpy_tracepoints) calls `patches.patch` for
rclpy's modules; `registry` names callbacks and gives them ids; `_emit` calls libtracetools.
"""
