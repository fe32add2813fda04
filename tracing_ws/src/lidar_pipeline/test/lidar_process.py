# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the installed lidar_pipeline as a user would, in a ROS domain of its own, on free ports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from traced_ros import ROOT, Ros

PACKAGE = Path(__file__).resolve().parents[1]
JAZZY = Ros("jazzy")
SPACE = JAZZY.install
BOUND_S = 90.0
STARTED: list[subprocess.Popen[str]] = []
"""Nodes of the running test; what it leaves when it fails is killed behind it (conftest.py)."""

LARGE_SEGMENT = ROOT / "trace_configs/rmw/fastdds_shm_large_segment.xml"

WITH_RCLCPP = pytest.mark.skipif(
    not (SPACE / "lib/lidar_pipeline/ouster_driver_cpp").exists(),
    reason="lidar_pipeline was built without rclcpp: only its Python nodes",
)


def both(program: str) -> list[Any]:
    """Give a program in Python and the one in C++, as values of a test's parameter."""
    return [program, pytest.param(f"{program}_cpp", marks=WITH_RCLCPP)]


PERF_NODES = both("perf_node")
DRIVERS = both("ouster_driver")


def environment(domain: int) -> dict[str, str]:
    """Give the environment of one run's processes; clouds fit into the shared memory's segment."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ROS_", "RMW_", "AMENT_", "PYTHON", "LD_", "FASTDDS_", "FASTRTPS_"))
    }
    return kept | {
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "FASTRTPS_DEFAULT_PROFILES_FILE": str(LARGE_SEGMENT),
    }


class Emulator:
    """A running emulator; `port` and `http` are its control ports."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout
        ports = json.loads(process.stdout.readline())
        self.port, self.http = ports["tcp"], ports["http"]

    def sent(self) -> dict[str, Any]:
        """Wait for its end, and give what it sent."""
        # Not by communicate, which does not see what readline has read ahead.
        assert self.process.stdout
        sent: dict[str, Any] = json.loads(self.process.stdout.readline())
        self.process.wait(BOUND_S)
        return sent


@contextmanager
def emulator(*arguments: str, errors: int | None = None) -> Iterator[Emulator]:
    """Run an emulator without ROS, on free ports."""
    line = [sys.executable, str(PACKAGE / "scripts/ouster_emulator")]
    process = subprocess.Popen(
        [*line, "--tcp-port", "0", "--http-port", "0", *arguments],
        env=os.environ | {"PYTHONPATH": str(PACKAGE)},
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )
    try:
        yield Emulator(process)
    finally:
        process.terminate()
        process.wait(10)


def start(domain: int, program: str | Path, **parameters: Any) -> subprocess.Popen[str]:
    """Start one of the package's nodes, or a program of the tests, with ROS parameters."""
    words = [word for item in parameters.items() for word in ("-p", "{}:={}".format(*item))]
    path = program if isinstance(program, Path) else SPACE / "lib/lidar_pipeline" / program
    process = subprocess.Popen(
        JAZZY.command(
            *([] if path.name.endswith("_cpp") else ["python3"]), path, "--ros-args", *words
        ),
        env=environment(domain),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    STARTED.append(process)
    return process


def start_driver(
    domain: int, port: int, program: str = "ouster_driver", **parameters: Any
) -> subprocess.Popen[str]:
    """Start a driver of the emulator with that TCP port."""
    own = {
        "lidar_ip": "127.0.0.1",
        "computer_ip": "127.0.0.1",
        "tcp_port": port,
        "lidar_port": 0,
        "imu_port": 0,
    }
    return start(domain, program, **(own | parameters))


def finish(process: subprocess.Popen[str], *, end: bool = False) -> tuple[int, str, str]:
    """Wait for the end of a process, or end it: exit status, stdout and stderr."""
    if end:
        process.terminate()
    try:
        out, errors = process.communicate(timeout=BOUND_S)
    except subprocess.TimeoutExpired:
        process.kill()
        out, errors = process.communicate()
    return process.returncode, out, errors


def counts(errors: str) -> dict[str, Any]:
    """Give the counts that a driver told at its end."""
    (line,) = (line for line in errors.splitlines() if line.startswith("ouster_driver: {"))
    return json.loads(line.removeprefix("ouster_driver: "))
