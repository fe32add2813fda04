# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A camera workload: GStreamer to sensor_msgs/Image, and a subscriber that measures the images."""
