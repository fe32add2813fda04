# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Systems that run already are recorded by `--attach`: their names and layers are those of a
recording from the start."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from lttng_world import ROOT, World, any_domain, manifest, wait_until
from networks import network

import strata
from strata.analysis import Analysis

pytestmark = pytest.mark.live

INSTALLED = ROOT / "tracing_ws/install/jazzy/lib"
STOCK = Path(__file__).parent / "programs/stock_tracetools.py"
ONLY_AT_START = ".on_poll"
RUNS_FIRST_S, RECORDED_S = 5.0, 4.0
CHAIN = "python3 -m relay_chain --relays 2 --messages 100000 --rate 50 --depth 200"
LIDAR = f"""
cd {INSTALLED}/lidar_pipeline
./ouster_emulator --mode=512x10 --host=127.0.0.1 --tcp-port=7511 --http-port=0 &
sleep 1
PERF & DRIVER &
wait
"""
PERF = "-p topics:=[/points] -p n_samples:=1000000 -p warm_up:=1"
DRIVER = (
    "-p lidar_ip:=127.0.0.1 -p computer_ip:=127.0.0.1 -p tcp_port:=7511 -p lidar_port:=7502 "
    "-p imu_port:=7503 -p lidar_mode:=512x10 -p listeners:=1"
)
CAMERA = f"""
cd {INSTALLED}/camera_pipeline
./image_subscriber --ros-args -p images:=1000000 -p expected_fps:=15.0 -p depth:=30 &
./camera_source --ros-args -p peers:=1 -p image_encoding:=rgb8 -p depth:=30 -p gscam_config:='\
videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=15/1 ! videoconvert' &
wait
"""
SYSTEMS = {
    "relay, a process each": CHAIN,
    "relay, two processes": f"{CHAIN} --processes two",
    "relay, one process": f"{CHAIN} --processes one",
    "lidar": LIDAR.replace("PERF", f"./perf_node --ros-args {PERF}").replace(
        "DRIVER", f"./ouster_driver --ros-args {DRIVER}"
    ),
    "lidar, one process": LIDAR.replace("PERF & DRIVER", f"./composed --ros-args {PERF} {DRIVER}"),
    "camera": CAMERA,
}


@contextlib.contextmanager
def running(
    world: World, environment: dict[str, str], log: Path, words: Sequence[str | Path]
) -> Iterator[None]:
    """Run a command until this ends, and then all that it started."""
    with log.open("w") as file:
        process = world.popen(
            *words, env=environment, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            yield
            assert process.poll() is None, log.read_text()
        finally:
            for number in (signal.SIGINT, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(15)


def often(rows: pd.DataFrame, group: str | None) -> pd.DataFrame:
    """Leave out what happened to less than a tenth of the messages: on a busy machine some wait."""
    most = rows["count"].max() if group is None else rows.groupby(group)["count"].transform("max")
    return rows[rows["count"] > 0.1 * most]


def names(analysis: Analysis) -> dict[str, set[Any]]:
    """What things are called, and into which layers hops are cut."""
    hops = analysis.hops
    layers = often(analysis.hop_layers.merge(hops[["hop_id", "topic"]], on="hop_id"), "topic")
    # Of a message whose way is not there as a whole, as its processes were held up.
    chains = often(analysis.chains, None)
    return {
        # Whose nodes are known: while a system starts, others spin, too.
        "executors": {
            (*sorted(nodes.split(", ")), kind)
            for nodes, kind in zip(
                analysis.executors["nodes"], analysis.executors["kind"], strict=True
            )
            if nodes
        },
        "hops": set(
            zip(hops["topic"], hops["publisher_node"], hops["subscription_node"], strict=True)
        ),
        "callbacks": {
            one
            for one in zip(analysis.callbacks["node"], analysis.callbacks["symbol"], strict=True)
            if not one[1].endswith(ONLY_AT_START)
        },
        "layers": set(zip(layers["topic"], layers["layer"], strict=True)),
        "chains": set(chains["name"]),
        "timers": set(analysis.timers["period_ns"]),
        "sources": set(
            zip(analysis.driver_sources["kind"], analysis.driver_sources["name"], strict=True)
        ),
    }


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_late_recording_has_the_names_and_layers_of_an_early_one(
    world: World, tmp_path: Path, system: str
) -> None:
    environment = world.environment | {
        "ROS_DOMAIN_ID": any_domain(),
        "STRATA_ROS_PREFIX": str(ROOT / ".venv"),
    }
    if "lidar" in system or "camera" in system:
        # Clouds and images are larger than the default segment.
        environment.pop("ROS_AUTOMATIC_DISCOVERY_RANGE")
        profile = ["--rmw-profile", "fastdds_shm_large_segment"]
    else:
        profile = []
    late, early = tmp_path / "late", tmp_path / "early"
    with contextlib.ExitStack() as held:
        command = ["bash", "-c", SYSTEMS[system]]
        if "lidar" in system:
            # The sensor's ports, which the hooks know, may be another test's on this network.
            command = [*held.enter_context(network()).inside, *command]
        record_both(world, environment, profile, command, late, early)
    assert manifest(late)["complete"]
    assert manifest(late)["command"]["attached"]
    compare(late, early)


def record_both(
    world: World,
    environment: dict[str, str],
    profile: list[str],
    command: list[str],
    late: Path,
    early: Path,
) -> None:
    """Record a command that runs already, and the same one from its start."""
    own = [sys.executable, "-m", "strata"]
    ready = [*own, "env", *profile, "--", *command]
    with running(world, environment, late.with_suffix(".log"), ready):
        time.sleep(RUNS_FIRST_S)
        options = ("-c", "full", "-o", late, "--duration", f"{RECORDED_S}s")
        done = world.strata("record", "--attach", *options, env=environment)
    assert done.returncode == 0, done.stderr
    options = ("-c", "full", "-o", early, *profile, "--duration", f"{RUNS_FIRST_S}s")
    world.strata("record", *options, "--", *command, env=environment)


def compare(late: Path, early: Path) -> None:
    found, wanted = names(strata.analyze(late)), names(strata.analyze(early))
    for what, known in wanted.items():
        assert found[what] == known, what
    assert found["hops"]
    assert not [one for group in found.values() for one in group if "unknown" in str(one)]


@contextlib.contextmanager
def init_session(world: World, environment: dict[str, str], place: Path) -> Iterator[None]:
    """Keep an init session, and end it by a signal."""
    process = world.popen(sys.executable, "-m", "strata", "daemon", env=environment)
    state = place / "recording.json"
    wait_until(
        lambda: state.exists() and '"phase": "recording"' in state.read_text(), "the init session"
    )
    try:
        yield
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    finally:
        process.kill()
        process.communicate()


def test_names_of_nodes_that_announce_nothing_again_are_in_the_init_session(
    world: World, tmp_path: Path
) -> None:
    place = tmp_path / "init"
    environment = world.environment | {
        "ROS_DOMAIN_ID": any_domain(),
        "STRATA_ROS_PREFIX": str(ROOT / ".venv"),
        "STRATA_INIT_SESSION": str(place),
    }
    own = [sys.executable, "-m", "strata"]
    stock = ["python3", STOCK, *CHAIN.split()]
    late, without, early = (tmp_path / name for name in ("late", "without", "early"))
    world.start_daemon()
    with contextlib.ExitStack() as nodes:
        with init_session(world, environment, place):
            refused = world.strata("daemon", env=environment)
            ready = [*own, "env", "--", *stock]
            nodes.enter_context(running(world, environment, tmp_path / "log", ready))
            time.sleep(RUNS_FIRST_S)
        options = ("--duration", f"{RECORDED_S}s", "-c", "ros2", "-o")
        # What the former one knew goes over to the next.
        with init_session(world, environment, place):
            done = world.strata("record", "--attach", *options, late, env=environment)
        world.strata("record", "--attach", *options, without, env=environment)
    assert done.returncode == 0, done.stderr
    line = ["record", "-c", "ros2", "-o", early, "--duration", f"{RUNS_FIRST_S}s", "--", *stock]
    world.strata(*line, env=environment)

    assert (refused.returncode, "another `strata daemon`" in refused.stderr) == (125, True)
    compare(late, early)
    told = manifest(late)
    assert told["announced"]["events"] > 50
    assert set(told["announced"]["processes"]) <= set(told["processes"]["of_command"])
    assert "announced.json" in told["files"]
    # It is the init session that has them.
    assert "announced" not in manifest(without)
    assert "unknown" in str(names(strata.analyze(without))["hops"])
