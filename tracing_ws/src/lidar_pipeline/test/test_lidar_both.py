# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver in C++ against the one in Python: the same packets make the same messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lidar_process import PACKAGE, WITH_RCLCPP, counts, emulator, finish, start, start_driver
from traced_ros import free_domain

from lidar_pipeline.sensor.capture import CaptureWriter
from lidar_pipeline.sensor.packet import COLUMN, COLUMNS, GOOD, IMU, MODES

COLLECTOR = PACKAGE / "test/programs/collect_messages.py"
MODE = MODES["512x10"]
SCANS = 12
FIRST_NS = 1_700_000_000_123_456_789
STEP_NS = 1_000_000_000 // MODE.hz // MODE.packets


def any_columns() -> np.ndarray:
    """Give a sensor's columns, (scans, columns), with values that no sensor's scene has."""
    random = np.random.default_rng(7)
    columns = np.zeros((SCANS, MODE.columns), COLUMN)
    pixels = columns["pixels"]
    # All 32 bits of a range, of which 20 count.
    pixels["range"] = random.integers(0, 1 << 32, pixels.shape)
    for name in ("reflectivity", "signal", "noise"):
        pixels[name] = random.integers(0, 1 << 16, pixels.shape)
    # Nothing came back: a range of zero makes signed zeros of a direction.
    pixels["range"][random.random(pixels.shape) < 0.2] = 0
    pixels["signal"][random.random(pixels.shape) < 0.5] //= 256
    # Channels without a beam, which are not those of every scan.
    for scan in range(SCANS):
        pixels[scan, :, random.choice(64, 5 * scan % 64, replace=False)] = 0
    columns["measurement"] = np.arange(MODE.columns)
    columns["frame"] = (65530 + np.arange(SCANS))[:, None] % 65536
    columns["timestamp"] = FIRST_NS + STEP_NS // COLUMNS * np.arange(columns.size).reshape(
        columns.shape
    )
    columns["status"] = np.where(random.random(columns.shape) < 0.02, 0, GOOD)
    return columns


def write_packets(path: Path) -> None:
    """Record the columns as a sensor would send them over a bad network."""
    packets = [packet.tobytes() for packet in any_columns().reshape(-1, COLUMNS)]
    order = list(range(len(packets)))
    first = {scan: scan * MODE.packets for scan in range(SCANS)}
    # Swapped within a scan and between two, twice, and never: some packets, and all of a scan.
    for at in (first[1] + 5, first[3] - 1):
        order[at], order[at + 1] = order[at + 1], order[at]
    order.insert(first[2] + 9, order[first[2] + 8])
    lost = {first[4], first[5] + 7, first[5] + 31, *range(first[7], first[8])}
    imu = np.zeros(1, IMU)
    random = np.random.default_rng(8)
    capture = CaptureWriter(path)
    for place, number in enumerate(order):
        at_ns = FIRST_NS + place * STEP_NS
        if number not in lost:
            capture.write(at_ns, 7502, packets[number])
        if place % 3 == 0:
            imu["gyroscope"] = at_ns
            imu["acceleration"] = random.normal(0, 1, 3)
            imu["angular_velocity"] = random.normal(0, 90, 3)
            capture.write(at_ns, 7503, imu.tobytes())
    capture.close()


def messages_of(program: str, packets: Path, **parameters: Any) -> tuple[Any, dict[str, Any]]:
    """Give what a driver made of recorded packets: digests of messages, and its counts."""
    domain = free_domain()
    with emulator("--replay", str(packets)) as sensor:
        collector = start(domain, COLLECTOR)
        driver = start_driver(
            domain, sensor.port, program, lidar_mode=MODE.name, listeners=6, **parameters
        )
        status, out, errors = finish(collector)
        assert status == 0, errors
        status, _, told = finish(driver, end=True)
        assert status == 0, told
    return json.loads(out), counts(told)


@WITH_RCLCPP
@pytest.mark.parametrize(
    ("closing", "layout", "poll_hz"),
    [("complete", "column", 0.0), ("next", "row", 0.0), ("next", "column", 4000.0)],
)
def test_both_drivers_make_the_same_messages_of_the_same_packets(
    tmp_path: Path, closing: str, layout: str, poll_hz: float
) -> None:
    packets = tmp_path / "packets.pcap"
    write_packets(packets)
    words = {"closing": closing, "cloud_layout": layout, "poll_hz": poll_hz}
    theirs, their_counts = messages_of("ouster_driver", packets, **words)
    ours, our_counts = messages_of("ouster_driver_cpp", packets, **words)
    assert our_counts == their_counts
    assert our_counts["scans"] >= SCANS - 2
    assert min(our_counts[kind] for kind in ("missing_packets", "missing_columns")) > 0
    assert (our_counts["late_packets"], our_counts["duplicate_packets"]) == (1, 1)
    assert our_counts["lost_scans"] == 1
    assert len(theirs) == 7
    assert set(ours) == set(theirs)
    for topic, expected in theirs.items():
        found = ours[topic]
        shared = set(found) & set(expected)
        # Best effort: a busy machine may lose one. Nothing that came may differ.
        assert len(shared) >= 0.8 * len(expected), (topic, len(found), len(expected))
        assert {at: found[at] for at in shared} == {at: expected[at] for at in shared}, topic
