# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A recording uses the packages of tracing_ws/src where they are in a user's own workspace."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lttng_world import ROOT, World, any_domain

import strata

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

PACKAGES = (
    "ust_guard",
    "dds_tracepoints",
    "driver_tracepoints",
    "rclpy_tracepoints",
    "ros2_statedump",
    "tracetools_provider",
)
SENT = 20
PROGRAM = f"""
import time
import rclpy
from std_msgs.msg import String

rclpy.init()
node = rclpy.create_node("talker_and_listener")
heard = []
node.create_subscription(String, "/words", heard.append, {SENT})
publisher = node.create_publisher(String, "/words", {SENT})
while not publisher.get_subscription_count():
    time.sleep(0.01)
for number in range({SENT}):
    publisher.publish(String(data=str(number)))
    rclpy.spin_once(node, timeout_sec=5)
while len(heard) < {SENT}:
    rclpy.spin_once(node, timeout_sec=5)
"""


SETUP = ROOT / "tracing_ws/setup"


def _build(workspace: Path, layout: str) -> None:
    (workspace / "src").mkdir(parents=True)
    (workspace / "src/strata").symlink_to(ROOT / "tracing_ws/src")
    merged = ["--merge-install"] if layout == "merged" else []
    python = f"-DPython3_EXECUTABLE={sys.prefix}/bin/python"
    cmake = ["-C", SETUP / "wheels.cmake", python, "-DBUILD_TESTING=OFF"]
    options = [*merged, "--packages-select", *PACKAGES, "--cmake-args", *cmake]
    built = subprocess.run(
        ["bash", "-c", 'source "$1/environment.sh" "$2"; shift 2; exec colcon build "$@"', "bash"]
        + [str(word) for word in (SETUP, sys.prefix, *options)],
        cwd=workspace,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr


@pytest.mark.parametrize("layout", ["isolated", "merged"])
def test_a_recording_uses_the_hooks_of_a_sourced_workspace(
    world: World, tmp_path: Path, layout: str
) -> None:
    workspace, session, program = tmp_path / "ws", tmp_path / "session", tmp_path / "program.py"
    _build(workspace, layout)
    program.write_text(PROGRAM)
    # No checkout is found: only what is sourced can serve.
    script = f"""
        source {SETUP}/environment.sh {sys.prefix}
        source {workspace}/install/setup.bash
        export STRATA_ROOT={tmp_path}/none
        {sys.executable} -m strata record -c {ROOT}/trace_configs/full.yaml -o {session} -- \
          python3 {program}
    """
    environment = {**world.environment, "ROS_DOMAIN_ID": any_domain()}
    done = world.run("bash", "-eo", "pipefail", "-c", script, env=environment)
    assert done.returncode == 0, done.stderr
    manifest = json.loads((session / "manifest.json").read_text())
    assert manifest["ros"]["workspace"] == str(workspace / "install")
    analysis = strata.analyze(session)
    assert len(analysis.messages) == SENT
    assert len(analysis.callbacks) > 0
    # The layers that only the hooks show.
    assert {"serialize", "transport"} <= set(analysis.hop_layers["layer"])
