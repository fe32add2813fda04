# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver's own tracepoints, recorded by a real LTTng session."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest
from lidar_process import (
    DRIVERS,
    JAZZY,
    SPACE,
    counts,
    emulator,
    environment,
    finish,
    start,
)
from traced_ros import Lttng, alone, free_domain

_LINE = re.compile(r"driver:(?P<name>\w+): .*?vtid = (?P<vtid>\d+) \}, \{ (?P<fields>.*) \}$")
_FIELD = re.compile(r'(\w+) = ("[^"]*"|-?\d+)')


def events(trace: Any) -> list[tuple[str, int, dict[str, str]]]:
    done = subprocess.run(["babeltrace2", str(trace)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "discarded" not in done.stderr, done.stderr
    found = []
    for line in done.stdout.splitlines():
        match = _LINE.search(line)
        assert match, line
        fields = {name: text.strip('"') for name, text in _FIELD.findall(match["fields"])}
        found.append((match["name"], int(match["vtid"]), fields))
    return found


@pytest.mark.parametrize("poll_hz", [0.0, 4000.0])
@pytest.mark.parametrize("program", DRIVERS)
def test_every_frame_is_traced_from_packet_to_publication(
    lttng: Lttng, program: str, poll_hz: float
) -> None:
    domain = free_domain()
    session, output = lttng.start("driver:*")
    with emulator("--scans", "8") as sensor:
        perf = start(domain, "perf_node", n_samples=100, quiet_s=2.0, topics="[/points]")
        words = {
            "lidar_ip": "127.0.0.1",
            "computer_ip": "127.0.0.1",
            "tcp_port": sensor.port,
            "lidar_port": 0,
            "imu_port": 0,
            "lidar_mode": "512x20",
            "listeners": 1,
            "poll_hz": poll_hz,
        }
        parameters = [word for item in words.items() for word in ("-p", "{}:={}".format(*item))]
        path = SPACE / "lib/lidar_pipeline" / program
        interpreter = [] if program.endswith("_cpp") else ["python3"]
        line = JAZZY.command(*interpreter, path, "--ros-args", *parameters)
        driver = subprocess.Popen(
            alone(line, environment(domain) | lttng.variables, lttng),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        sensor.sent()
        # The own session daemon has a /dev/shm of its own: messages need not arrive.
        finish(perf, end=True)
        _, _, told = finish(driver, end=True)
    lttng.stop(session)
    received = counts(told)
    found = events(output)

    sources = {fields["name"]: fields for name, _, fields in found if name == "source_init"}
    assert set(sources) == {"lidar", "imu"}
    lidar = sources["lidar"]["source"]
    assert sources["lidar"]["kind"] == "udp"

    def of(name: str, source: str) -> list[tuple[int, dict[str, str]]]:
        return [
            (tid, each) for kind, tid, each in found if kind == name and each["source"] == source
        ]

    packets = of("packet_received", lidar)
    assert len(packets) == received["lidar_packets"] == 8 * 32
    assert [int(each["sequence"]) for _, each in packets] == list(range(256))
    assert {each["bytes"] for _, each in packets} == {"12608"}
    # The kernel begins to stamp a little after it is asked to (deferred work, later on a busy
    # machine): the first packets have no time of their own. Once it stamps, it stamps all.
    stamped = [int(each["queue_ns"]) >= 0 for _, each in packets]
    assert stamped == sorted(stamped)
    assert all(stamped[32:])
    boundaries = of("frame_boundary", lidar)
    assert [
        tuple(int(each[name]) for name in ("frame", "packets", "missing", "first_sequence"))
        for _, each in boundaries
    ] == [(frame, 32, 0, 32 * frame) for frame in range(8)]
    assert [int(each["last_sequence"]) for _, each in boundaries] == [
        31 + 32 * at for at in range(8)
    ]
    ready = of("cloud_ready", lidar)
    assert [int(each["frame"]) for _, each in ready] == list(range(8))
    assert {each["bytes"] for _, each in ready} == {str(512 * 64 * 48)}
    reading, publishing = {tid for tid, _ in packets}, {tid for tid, _ in ready}
    assert len(reading) == len(publishing) == 1
    assert (reading == publishing) == bool(poll_hz)
    imu = of("frame_boundary", sources["imu"]["source"])
    assert (
        len(imu) == received["imu_packets"] == len(of("packet_received", sources["imu"]["source"]))
    )
