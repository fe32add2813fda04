# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver and perf_node in C++ as components of an ordinary container."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

from lidar_process import (
    JAZZY,
    PACKAGE,
    STARTED,
    WITH_RCLCPP,
    counts,
    emulator,
    environment,
    finish,
)
from traced_ros import free_domain

_CONTAINER = 'exec "$(python3 -c "$1")/lib/rclcpp_components/component_container"'
_PREFIX = "from ament_index_python import *; print(get_package_prefix('rclcpp_components'))"
LOADER = PACKAGE / "test/programs/load_components.py"
SCANS = 20


def run(domain: int, *line: str | Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        JAZZY.command(*line),
        env=environment(domain),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    STARTED.append(process)
    return process


@WITH_RCLCPP
def test_a_container_runs_driver_and_perf_node_by_pointer(tmp_path: Path) -> None:
    domain = free_domain()
    container = run(domain, "bash", "-c", _CONTAINER, "bash", _PREFIX)
    with emulator("--mode", "512x20", "--scans", str(SCANS)) as sensor:
        status, _, errors = finish(run(domain, "python3", LOADER, str(sensor.port), tmp_path))
        assert status == 0, errors
        sensor.sent()
        container.send_signal(signal.SIGINT)
        status, _, errors = finish(container)
    assert status == 0, errors
    (summary,) = json.loads((tmp_path / "perf.json").read_text())
    received = counts(errors)
    assert received == json.loads((tmp_path / "ouster_driver.json").read_text())
    # The last may be under way when the container ends; by pointer a message has no number.
    assert received["published_scans"] == received["scans"] >= SCANS - 1
    assert summary["samples"] >= SCANS - 2
    assert summary["lost_by_sequence"] is None
