# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver: from UDP packets to ROS messages."""
