# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A driver that outlives recording sessions: emits a frame for each line that it is given."""

import sys

import driver_tracepoints as driver

source = driver.source_init("udp", "lidar", "0.0.0.0:7502")
for frame, _ in enumerate(sys.stdin):
    driver.cloud_ready(source, frame, 10)
    print("done", flush=True)
