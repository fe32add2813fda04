# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The scenarios of real sensors: here the sensor is the emulator, and the driver any command."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
from lttng_world import ROOT, World, any_domain, manifest

import strata

pytestmark = pytest.mark.live

PACKAGES = ROOT / "tracing_ws/install/jazzy/lib"
LIDAR = ROOT / "tracing_ws/src/lidar_pipeline"


def free_ports(count: int) -> list[int]:
    """Give UDP ports that are free now."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@contextmanager
def sensor() -> Iterator[int]:
    """Run an emulated sensor outside of the scenario; give the port of its commands."""
    process = subprocess.Popen(
        [
            sys.executable,
            LIDAR / "scripts/ouster_emulator",
            *("--tcp-port=0", "--http-port=0", "--mode=512x10"),
        ],
        env=os.environ | {"PYTHONPATH": str(LIDAR)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        yield json.loads(process.stdout.readline())["tcp"]
    finally:
        process.terminate()
        process.wait(10)


def run_scenario(world: World, name: str, target: Path, settings: dict[str, object]) -> None:
    environment = world.environment | {
        "ROS_DOMAIN_ID": any_domain(),
        "STRATA_ROS_PREFIX": str(ROOT / ".venv"),
    }
    # The profile of the scenario sets the range of the discovery.
    environment.pop("ROS_AUTOMATIC_DISCOVERY_RANGE", None)
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    command = (sys.executable, "-m", "strata", "run", name, "-o", target, "--duration", "25")
    done = world.run(*command, *words, env=environment)
    assert done.returncode == 0, done.stderr


def test_any_driver_of_a_real_lidar_is_recorded(world: World, tmp_path: Path) -> None:
    target = tmp_path / "session"
    lidar_port, imu_port = free_ports(2)
    with sensor() as tcp_port:
        parameters = {
            "lidar_ip": "127.0.0.1",
            "computer_ip": "127.0.0.1",
            "tcp_port": tcp_port,
            "lidar_port": lidar_port,
            "imu_port": imu_port,
            "lidar_mode": "512x10",
            "timestamp_mode": "TIME_FROM_PTP_1588",
            "listeners": 1,
        }
        own = " ".join("-p {}:={}".format(*item) for item in parameters.items())
        settings = {
            "topic": "/points",
            "mode": "512x10",
            "lidar_port": lidar_port,
            "imu_port": imu_port,
            "processes.driver.command": f"{PACKAGES}/lidar_pipeline/ouster_driver --ros-args {own}",
        }
        run_scenario(world, "lidar_real", target, settings)
    analysis = strata.analyze(target)
    (hop,) = analysis.hops[analysis.hops["topic"] == "/points"].to_dict("records")
    assert hop["count"] >= 25
    # The sockets of that command were traced, on the ports that were set.
    sources = analysis.driver_sources.set_index("place")
    assert {f"UDP port {lidar_port}", f"UDP port {imu_port}"} <= set(sources.index)
    assert sources.loc[f"UDP port {lidar_port}", "reads"] >= 25 * 32
    columns = pd.read_csv(target / "scenario/results/perf_points_columns.csv")
    assert set(columns["column"]) == {*range(0, 512, 64), 511}
    assert manifest(target)["scenario"]["settings"]["timestamp_mode"] == "TIME_FROM_PTP_1588"


def test_any_node_of_a_real_camera_is_recorded(world: World, tmp_path: Path) -> None:
    target = tmp_path / "session"
    pipeline = "videotestsrc num-buffers=25 ! video/x-raw,width=320,height=240,framerate=30/1"
    command = (
        f"{PACKAGES}/camera_pipeline/camera_source --ros-args -r __node:=gscam_publisher "
        f"-p peers:=1 -p \"gscam_config:='{pipeline} ! videoconvert'\""
    )
    run_scenario(world, "camera_real", target, {"processes.camera.command": command})
    analysis = strata.analyze(target)
    images = analysis.hops[analysis.hops["topic"] == "/camera/image_raw"]
    assert images["count"].tolist() == [25]
    assert analysis.driver_sources["place"].str.startswith("appsink").any()
