# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios: workloads described by one YAML file, for `strata run` and for `ros2 launch`."""
