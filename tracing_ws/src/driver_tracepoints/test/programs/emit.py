# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Emits every event with the largest and the least of values; then again in a forked child."""

import os
import sys
import threading

import driver_tracepoints as driver

lidar = driver.source_init("udp", "lidar", "0.0.0.0:7502")
camera = driver.source_init("appsink", "camera", "sink0")
assert (lidar, camera) == (1, 2)


def emit():
    driver.packet_received(lidar, 2**64 - 1, 2**32 - 1, -1, 2**32 - 1)
    driver.packet_received(lidar, 0, 12608, 2**62, 0)
    driver.frame_boundary(lidar, 7, 128, 3, 1000, 1128)
    driver.buffer_pulled(camera, 8, 640 * 480 * 3, -1, 12345, 2**63)
    driver.cloud_ready(lidar, 7, 6_291_456)
    driver.copy_done(camera, 8, 921_600)


thread = threading.Thread(target=emit)
thread.start()
thread.join()
for wrong in (
    lambda: driver.cloud_ready(1, 2),
    lambda: driver.copy_done(1, 2, "3"),
    lambda: driver.source_init("udp", "lidar"),
    lambda: driver.receive(-1, bytearray(9), 1),
    lambda: driver.prepare(0) if not os.isatty(0) else 1 / 0,
):
    try:
        wrong()
    except (TypeError, ValueError, OSError) as error:
        sys.stdout.write(f"{type(error).__name__}\n")
child = os.fork()
if child == 0:
    emit()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
