# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The times of columns that perf_node notes, against the packets that the sensor sent."""

from __future__ import annotations

import csv
import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from lidar_process import PACKAGE, PERF_NODES, emulator, finish, start, start_driver
from traced_ros import free_domain

from lidar_pipeline.perf.column_times import ColumnTimes
from lidar_pipeline.sensor.capture import read_capture
from lidar_pipeline.sensor.packet import COLUMN, LIDAR_BYTES

PTP = "TIME_FROM_PTP_1588"
STEP = 100


def rows_of(path: Path) -> list[dict[str, int]]:
    with path.open() as file:
        return [{name: int(value) for name, value in row.items()} for row in csv.DictReader(file)]


@pytest.mark.parametrize("layout", ["column", "row"])
@pytest.mark.parametrize("program", PERF_NODES)
def test_columns_have_the_times_at_which_the_sensor_measured_and_sent_them(
    tmp_path: Path, program: str, layout: str
) -> None:
    domain = free_domain()
    record = tmp_path / "sent.pcap"
    with emulator("--record", str(record)) as sensor:
        perf = start(domain, program, n_samples=10, log=tmp_path / "results", column_step=STEP)
        driver = start_driver(
            domain,
            sensor.port,
            lidar_mode="512x20",
            timestamp_mode=PTP,
            listeners=1,
            cloud_layout=layout,
        )
        status, _, told = finish(perf)
        assert status == 0, told
        finish(driver, end=True)
    samples = rows_of(tmp_path / "results/perf_points.csv")
    columns = rows_of(tmp_path / "results/perf_points_columns.csv")
    assert {row["scan"] for row in columns} == set(range(10))
    assert {row["column"] for row in columns} == {0, 100, 200, 300, 400, 500, 511}
    sent_ns: dict[tuple[int, int], int] = {}
    for at_ns, payload in sent(record):
        packet = np.frombuffer(payload, COLUMN)
        for one in packet:
            sent_ns[int(one["measurement"]), int(one["timestamp"])] = at_ns
    travelled_ns = []
    for row in columns:
        sample = samples[row["scan"]]
        measured_ns = sample["msg_stamp"] + row["t_ns"]
        # The very time that the sensor gave that column.
        assert (row["column"], measured_ns) in sent_ns, row
        left_ns = sent_ns[row["column"], measured_ns]
        assert measured_ns <= left_ns + 1_000_000, row
        assert measured_ns < sample["recv_stamp"], row
        travelled_ns.append(sample["recv_stamp"] - left_ns)
    # A busy machine may stop the sensor between a packet and its note of the time.
    assert np.median(travelled_ns) > 0


def sent(record: Path) -> list[tuple[int, bytes]]:
    return [
        (one.at_ns, one.payload) for one in read_capture(record) if len(one.payload) == LIDAR_BYTES
    ]


def test_a_step_of_0_notes_nothing(tmp_path: Path) -> None:
    domain = free_domain()
    with emulator() as sensor:
        perf = start(domain, "perf_node", n_samples=3, log=tmp_path / "results", column_step=0)
        driver = start_driver(domain, sensor.port, lidar_mode="512x20", listeners=1)
        assert finish(perf)[0] == 0
        finish(driver, end=True)
    names = {path.name for path in (tmp_path / "results").iterdir()}
    assert names == {"perf_points.csv", "perf.json"}


def cloud_of(width: int, height: int = 4, **changes: Any) -> SimpleNamespace:
    """Make a cloud by rows of points of 8 bytes: `t`, then `ring`."""
    data = b"".join(
        struct.pack("<IB3x", 1000 * column, row) for row in range(height) for column in range(width)
    )
    fields = [
        SimpleNamespace(name="t", offset=0, datatype=6),
        SimpleNamespace(name="ring", offset=4, datatype=2),
    ]
    own = {"width": width, "height": height, "point_step": 8, "is_bigendian": False}
    return SimpleNamespace(**{**own, "fields": fields, "data": data, **changes})


BAD = {
    "no data": cloud_of(4, data=b""),
    "a byte too few": cloud_of(4, data=cloud_of(4).data[:-1]),
    "no column": cloud_of(0),
    "no size of points": cloud_of(4, point_step=0),
    "a field beyond the point": cloud_of(4, point_step=4),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_cloud_that_lacks_data_has_no_times(kind: str) -> None:
    times = ColumnTimes(2)
    times.take(0, BAD[kind])
    assert list(times.rows()) == []
    # Also as one of several whose layout is known.
    times.take(1, cloud_of(4))
    times.take(2, BAD[kind])
    times.take(3, cloud_of(4))
    own = [(column, 1000 * column) for column in (0, 2, 3)]
    assert list(times.rows()) == [(scan, *one) for scan in (1, 3) for one in own]


@pytest.mark.parametrize("program", PERF_NODES)
def test_a_node_survives_a_cloud_that_is_cut_short(tmp_path: Path, program: str) -> None:
    domain = free_domain()
    perf = start(domain, program, n_samples=3, log=tmp_path, column_step=STEP)
    status, _, errors = finish(start(domain, PACKAGE / "test/programs/send_clouds.py"))
    assert status == 0, errors
    status, _, errors = finish(perf)
    assert status == 0, errors
    columns = rows_of(tmp_path / "perf_points_columns.csv")
    expected = (0, 100, 200, 300, 400, 500, 511)
    assert [(row["scan"], row["column"], row["t_ns"]) for row in columns] == [
        (scan, column, 1000 * column) for scan in (0, 2) for column in expected
    ]
