# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An Ouster OS1-16: sensor emulator, rclpy driver, performance node."""
