# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The lidar pipeline as its scenarios run it: as two processes, composed, and by pointer."""

from __future__ import annotations

import json
import socket
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from chain_truth import check_sums
from lttng_world import ROOT, World, any_domain

import strata
from strata.analysis import Analysis

pytestmark = pytest.mark.live

SCANS = 30
WITH_RCLCPP = pytest.mark.skipif(
    not (ROOT / "tracing_ws/install/jazzy/lib/lidar_pipeline/composed_cpp").exists(),
    reason="lidar_pipeline was built without rclcpp: only its Python nodes",
)
# By pointer there is nothing between publish() and the executor's wake-up.
OF_MIDDLEWARE = ("serialize_ns", "dds_write_ns", "transport_ns", "dds_receive_ns", "rmw_take_ns")


def free_ports() -> dict[str, int]:
    """Give ports that nobody uses; two of UDP, one of TCP."""
    kinds = {"lidar_port": socket.SOCK_DGRAM, "imu_port": socket.SOCK_DGRAM}
    kinds["tcp_port"] = socket.SOCK_STREAM
    with ExitStack() as open_ones:
        ports = {}
        for name, kind in kinds.items():
            bound = open_ones.enter_context(socket.socket(socket.AF_INET, kind))
            bound.bind(("127.0.0.1", 0))
            ports[name] = bound.getsockname()[1]
        return ports


def record(world: World, target: Path, scenario: str, **settings: object) -> Analysis:
    words = [word for item in settings.items() for word in ("--set", "{}={}".format(*item))]
    environment = world.environment | {"ROS_DOMAIN_ID": any_domain()}
    if not Path("/opt/ros/jazzy/setup.bash").is_file():
        environment["STRATA_ROS_PREFIX"] = str(ROOT / ".venv")
    # The profile chooses the transports, which this variable would add some to.
    del environment["ROS_AUTOMATIC_DISCOVERY_RANGE"]
    line = [sys.executable, "-m", "strata", "run", scenario, "-o", target, *words]
    done = world.run(*line, "--duration", str(SCANS), env=environment)
    assert done.returncode == 0, done.stderr
    return strata.analyze(target)


@pytest.mark.parametrize(
    ("scenario", "by_pointer", "transport"),
    [
        ("lidar_1024x10", False, {"SHM"}),
        ("lidar_composed", False, {"intra-process", "SHM"}),
        pytest.param("lidar_composed", True, {"ring buffer"}, marks=WITH_RCLCPP),
    ],
)
def test_every_scan_is_followed_from_its_packets_to_its_callback(
    world: World, tmp_path: Path, scenario: str, by_pointer: bool, transport: set[str]
) -> None:
    own = {"intra_process": True} if by_pointer else {}
    target = tmp_path / "session"
    analysis = record(world, target, scenario, loss=0.01, **free_ports(), **own)
    check_sums(analysis)
    points = analysis.messages[analysis.messages["topic"] == "/points"]
    results = target / "scenario/results"
    told = json.loads((results / "ouster_driver.json").read_text())
    (summary,) = json.loads((results / "perf.json").read_text())

    assert summary["samples"] + summary["warm_up"] >= SCANS
    assert len(points) >= summary["samples"] + summary["warm_up"]
    assert points["complete"].all()
    assert points["frame_id"].is_unique
    assert set(points["driver_method"]) == {"frame"}
    assert set(points["transport"]) <= transport
    layers = ["driver_queue_ns", "driver_ns", "client_publish_ns", "callback_ns"]
    assert points[layers].notna().all(axis=None)
    assert points[[*OF_MIDDLEWARE]].isna().all(axis=None) == by_pointer

    (hop,) = analysis.hops[analysis.hops["topic"] == "/points"].to_dict("records")
    assert hop["published"] == told["published_scans"]
    assert hop["count"] == len(points)
    # Only what came when perf_node had its samples was not taken.
    assert set(analysis.hop_losses["cause"]) <= {"reader went silent", "in flight"}

    (lidar,) = analysis.driver_sources[analysis.driver_sources["name"] == "lidar"].to_dict(
        "records"
    )
    assert lidar["reads"] == told["lidar_packets"]
    assert lidar["missing"] == told["missing_packets"] > 0
    frames = analysis.driver_frames
    frames = frames[frames["source_id"] == lidar["source_id"]]
    assert len(frames) == told["scans"]
    losses = analysis.driver_losses
    losses = losses[losses["source_id"] == lidar["source_id"]]
    assert losses[losses["cause"] == "never came"]["count"].sum() == told["missing_packets"]
