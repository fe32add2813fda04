# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The sensor: its formats, and an emulator of it. Needs NumPy, no ROS."""
