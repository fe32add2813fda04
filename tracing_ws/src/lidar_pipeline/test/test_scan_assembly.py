# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From packets to scans and points; needs no ROS."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

from lidar_pipeline.driver.assembly import Scan, ScanAssembler
from lidar_pipeline.driver.points import POINT, PointFiller
from lidar_pipeline.driver.projection import directions
from lidar_pipeline.sensor import scene
from lidar_pipeline.sensor.intrinsics import ALTITUDES, AZIMUTHS, USED_CHANNELS
from lidar_pipeline.sensor.packet import COLUMN, LIDAR_BYTES, MODES
from lidar_pipeline.sensor.rendering import ScanRenderer

MODE = MODES["512x10"]


def packets(scans: int) -> list[bytes]:
    renderer = ScanRenderer(MODE)
    return [renderer.packet(number, 5).tobytes() for number in range(scans * MODE.packets)]


def feed(assembler: ScanAssembler, data: list[bytes]) -> list[tuple[int, Scan]]:
    """Give each scan with the number of the packet that closed it."""
    closed = []
    for sequence, packet in enumerate(data):
        slot = assembler.slot()
        size = min(len(packet), len(slot))
        slot[:size] = packet[:size]
        scan = assembler.accept(size, sequence)
        if scan is not None:
            closed.append((sequence, scan))
    return closed


def check(scan: Scan, frame: int, valid: np.ndarray) -> None:
    expected = scene.pixels(frame, 0, MODE.columns, MODE.columns)
    assert scan.frame_id == frame % 65536
    assert (scan.valid == valid).all()
    pixels = scan.columns["pixels"][:, USED_CHANNELS]
    assert (pixels[valid] == expected[valid]).all()
    assert not scan.columns[~valid].view("u1").any()


@pytest.mark.parametrize(("policy", "closing"), [("complete", [31, 63, 95]), ("next", [32, 64])])
def test_a_scan_closes_by_its_policy(policy: str, closing: list[int]) -> None:
    closed = feed(ScanAssembler(MODE, policy), packets(3))
    assert [sequence for sequence, _ in closed] == closing
    for number, (sequence, scan) in enumerate(closed):
        check(scan, number, np.ones(MODE.columns, bool))
        assert (scan.number, scan.packets, scan.missing) == (number, 32, 0)
        assert (scan.first_sequence, scan.last_sequence) == (32 * number, sequence)
        assert scan.stamp_ns == 5 + number * 100_000_000


@pytest.mark.parametrize("policy", ["complete", "next"])
def test_missing_packets_are_counted_by_measurement(policy: str) -> None:
    data = packets(4)
    lost = {3, 31, 32 + 10, *range(64, 96)}
    assembler = ScanAssembler(MODE, policy)
    kept = [packet for number, packet in enumerate(data) if number not in lost]
    closed = [scan for _, scan in feed(assembler, kept)]
    valid = np.ones((4, MODE.columns), bool)
    for number in lost:
        valid[number // 32, number % 32 * 16 : number % 32 * 16 + 16] = False
    frames = [0, 1, 3] if policy == "complete" else [0, 1]
    for scan, frame in zip(closed, frames, strict=True):
        check(scan, frame, valid[frame])
        assert scan.missing_columns == 16 * scan.missing
    assert [scan.missing for scan in closed] == [2, 1, 0][: len(frames)]
    assert assembler.counts.lost_scans == 1


def test_swapped_packets_are_put_where_they_belong() -> None:
    data = packets(2)
    data[4], data[5] = data[5], data[4]
    data[31], data[32] = data[32], data[31]
    assembler = ScanAssembler(MODE, "complete")
    first, second = (scan for _, scan in feed(assembler, data))
    valid = np.ones(MODE.columns, bool)
    valid[-16:] = False
    # Scan 1 had begun when the last packet of scan 0 came.
    check(first, 0, valid)
    check(second, 1, np.ones(MODE.columns, bool))
    assert assembler.counts.late == 1
    assert first.last_sequence == 31


def test_packets_that_are_twice_or_wrong_or_before_the_first_scan_are_in_none() -> None:
    data = packets(3)
    long = data[80] + b"x"
    stream = [*data[20:33], data[32], data[33], b"short", *data[34:70], long, *data[70:96]]
    assembler = ScanAssembler(MODE, "complete")
    closed = [scan for _, scan in feed(assembler, stream)]
    assert [scan.frame_id for scan in closed] == [1, 2]
    counts = assembler.counts
    assert (counts.before_first, counts.duplicate, counts.wrong, counts.late) == (12, 1, 2, 0)
    assert counts.lost_scans == 0


def test_frame_ids_wrap() -> None:
    data = []
    for packet in packets(3):
        columns = np.frombuffer(bytearray(packet), COLUMN)
        columns["frame"] += np.uint16(65534)
        data.append(columns.tobytes())
    assembler = ScanAssembler(MODE, "next")
    assert [scan.frame_id for _, scan in feed(assembler, data)] == [65534, 65535]
    assert assembler.counts.late == assembler.counts.lost_scans == 0


def test_a_sensor_that_begins_anew_is_followed() -> None:
    data = packets(6)
    assembler = ScanAssembler(MODE, "complete")
    frames = [scan.frame_id for _, scan in feed(assembler, [*data, *data])]
    assert frames == [0, 1, 2, 3, 4, 5] * 2
    assert assembler.counts.late == assembler.counts.lost_scans == 0


def test_bad_columns_count_as_missing() -> None:
    data = packets(1)
    columns = np.frombuffer(bytearray(data[7]), COLUMN)
    columns["status"][3] = 0
    data[7] = columns.tobytes()
    ((_, scan),) = feed(ScanAssembler(MODE, "complete"), data)
    assert (scan.missing, scan.missing_columns) == (0, 1)
    assert not scan.valid[7 * 16 + 3]


@pytest.mark.parametrize("layout", ["column", "row"])
def test_points_of_missing_columns_are_zero_and_come_back(layout: str) -> None:
    data = packets(2)
    assembler = ScanAssembler(MODE, "complete")
    whole = [data[number] for number in range(64) if number != 2]
    first, second = (scan for _, scan in feed(assembler, whole))
    memory = array("B", bytes(POINT.itemsize * 64 * MODE.columns))
    filler = PointFiller(memoryview(memory), directions(MODE.columns, AZIMUTHS, ALTITUDES), layout)
    points = np.frombuffer(memory, POINT)
    points = points.reshape(-1, 64) if layout == "column" else points.reshape(64, -1).T
    filler.fill(first)
    assert (points[32:48] == np.zeros((), POINT)).all()
    filler.fill(second)
    expected = scene.pixels(1, 0, MODE.columns, MODE.columns)
    assert (points["range"][:, USED_CHANNELS] == expected["range"]).all()
    assert (points["ring"] == np.arange(64)).all()
    distance = np.sqrt(sum(points[name].astype(float) ** 2 for name in "xyz"))
    assert np.allclose(distance, points["range"] * 1e-3, atol=1e-5)
    blank = second.columns.copy()
    blank["pixels"] = 0
    second.columns = blank
    filler.fill(second)
    assert not points["range"].any()
    assert not points["x"].any()


def test_the_packets_have_the_size_of_the_format() -> None:
    assert len(packets(1)[0]) == LIDAR_BYTES == 16 * 788
