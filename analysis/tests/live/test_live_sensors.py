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
from functools import cache
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


def run_scenario(
    world: World, name: str, target: Path, settings: dict[str, object], **variables: str
) -> None:
    environment = world.environment | {"ROS_DOMAIN_ID": any_domain(), **variables}
    if not list(Path("/opt/ros").glob("*/bin/ros2")):
        environment["STRATA_ROS_PREFIX"] = str(ROOT / ".venv")
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


LAUNCH = """\
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import LaunchConfiguration as Given

# The arguments of ouster-ros' sensor.launch.xml, as our driver's parameters.
NAMES = {{
    "sensor_hostname": "lidar_ip",
    "lidar_mode": "lidar_mode",
    "timestamp_mode": "timestamp_mode",
    "lidar_port": "lidar_port",
    "imu_port": "imu_port",
    "tcp_port": "tcp_port",
}}


def generate_launch_description():
    words = ["{driver}", "--ros-args", "-p", "computer_ip:=127.0.0.1", "-p", "listeners:=1"]
    for given, own in NAMES.items():
        words += ["-p", [own + ":=", Given(given)]]
    return LaunchDescription(
        [*(DeclareLaunchArgument(name) for name in NAMES), ExecuteProcess(cmd=words)]
    )
"""


@cache
def launches() -> bool:
    """Whether an installed ROS 2 has `ros2 launch`, with all that it imports."""
    command = ". $1 && exec ros2 launch --help"
    return any(
        subprocess.run(
            ["bash", "-c", command, "-", setup], capture_output=True, check=False
        ).returncode
        == 0
        for setup in Path("/opt/ros").glob("*/setup.bash")
    )


def launched_package(prefix: Path) -> str:
    """Install a package with a launch file of our driver into a prefix; return its name."""
    name = "launched_driver"
    share = prefix / "share"
    index = share / "ament_index/resource_index/packages"
    for directory in (share / name / "launch", index):
        directory.mkdir(parents=True)
    (index / name).touch()
    (share / name / "package.xml").write_text(f"<package><name>{name}</name></package>\n")
    driver = PACKAGES / "lidar_pipeline/ouster_driver"
    text = LAUNCH.format(driver=driver)
    (share / name / "launch/sensor.launch.py").write_text(text)
    return name


def test_the_command_of_a_real_lidar_is_a_launch_file_of_its_package(
    world: World, tmp_path: Path
) -> None:
    if not launches():
        pytest.skip("ros2 launch is not installed")
    target = tmp_path / "session"
    lidar_port, imu_port = free_ports(2)
    prefix = tmp_path / "prefix"
    with sensor() as tcp_port:
        settings = {
            "package": launched_package(prefix),
            "launch_file": "sensor.launch.py",
            "arguments": f"tcp_port:={tcp_port}",
            "host": "127.0.0.1",
            "topic": "/points",
            "mode": "512x10",
            "lidar_port": lidar_port,
            "imu_port": imu_port,
        }
        run_scenario(world, "lidar_real", target, settings, AMENT_PREFIX_PATH=str(prefix))
    analysis = strata.analyze(target)
    (hop,) = analysis.hops[analysis.hops["topic"] == "/points"].to_dict("records")
    assert hop["count"] >= 25
    # The hooks were preloaded into what `ros2 launch` started, not into it alone.
    assert f"UDP port {lidar_port}" in set(analysis.driver_sources["place"])


@pytest.mark.skipif(
    not list(Path("/opt/ros").glob("*/lib/gscam/gscam_node")), reason="gscam is not installed"
)
def test_the_command_of_a_real_camera_is_gscam(world: World, tmp_path: Path) -> None:
    target = tmp_path / "session"
    settings = {"source": "videotestsrc is-live=true", "width": 320, "height": 240}
    run_scenario(world, "camera_real", target, settings)
    analysis = strata.analyze(target)
    images = analysis.hops[analysis.hops["topic"] == "/camera/image_raw"]
    assert images["count"].sum() >= 25
    assert analysis.driver_sources["place"].str.startswith("appsink").any()


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
