# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings with the real DDS hooks, and what the doctor says of them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from lttng_world import ROOT, World, events, manifest

import strata
from strata.errors import SessionError
from strata.record.dds import Hooks, find_hooks
from strata.record.ros import caller_environment, find_ros

pytestmark = pytest.mark.live

HERE = Path(__file__).parent
_TALK = """
import rclpy
from std_msgs.msg import String

rclpy.init()
node = rclpy.create_node("talker")
got = []
publisher = node.create_publisher(String, "chat", 10)
subscription = node.create_subscription(String, "chat", lambda m: got.append(m.data), 10)
for number in range(10):
    publisher.publish(String(data=str(number)))
    while len(got) <= number:
        rclpy.spin_once(node, timeout_sec=1.0)
rclpy.shutdown()
"""


@pytest.fixture(scope="module")
def hooks() -> Hooks:
    try:
        found = find_hooks(find_ros(caller_environment({})))
    except SessionError as error:
        pytest.skip(str(error))
    if found is None:
        pytest.skip("dds_tracepoints is not built")
    return found


def test_the_hooks_are_preloaded_and_described(world: World, hooks: Hooks, tmp_path: Path) -> None:
    program = tmp_path / "talk.py"
    program.write_text(_TALK)
    target = tmp_path / "rec"
    done = world.strata("record", "-c", "full", "-o", target, "--", "python3", program)

    assert done.returncode == 0, done.stderr
    # All hooks of the wheels bind: there is nothing to say of them.
    assert "DDS" not in done.stderr
    content = manifest(target)
    assert content["environment"]["LD_PRELOAD"].startswith(
        ":".join(map(str, [hooks.library, *hooks.guard, ""]))
    )
    assert content["dds"]["hooks"] == str(hooks.library)
    assert content["dds"]["guard"] == [str(path) for path in hooks.guard]
    (preflight,) = content["dds"]["preflight"]
    assert preflight["vendor"] == "fastdds"
    assert preflight["does_not_bind"] == {}
    assert len(preflight["layers"]) == 6
    names = {
        match[1] for line in events(target / "trace") if (match := re.search(r"dds:(\w+):", line))
    }
    assert names >= {"create_writer", "written", "reader_notify", "taken"}
    assert not names & {"write_pre", "write", "read"}
    # Its name comes once, not with each event.
    assert not any("procname =" in line for line in events(target / "trace") if "dds:" in line)
    assert {one.procname for one in strata.analyze(target).trace.processes} == {"python3"}


def test_other_configurations_preload_nothing(world: World, tmp_path: Path) -> None:
    target = tmp_path / "rec"
    world.record("-o", target, "--", "true")
    assert manifest(target)["dds"] is None
    assert "LD_PRELOAD" not in manifest(target)["environment"]


@pytest.mark.parametrize("with_hooks", [True, False])
def test_children_made_by_fork_are_traced(
    world: World, hooks: Hooks, tmp_path: Path, with_hooks: bool
) -> None:
    program, config, target = tmp_path / "forking", tmp_path / "mine.yaml", tmp_path / "rec"
    subprocess.run(
        ["cc", "-I", HERE, HERE / "forking.c", "-o", program, "-llttng-ust", "-ldl"], check=True
    )
    more = ", 'dds:written'" if with_hooks else ""
    config.write_text(f"events: {{ust: ['ros2:*'{more}]}}\n")
    done = world.strata("record", "--no-ros", "-c", config, "-o", target, "--", program, "50")

    assert done.returncode == 0, done.stderr
    lines = events(target / "trace")
    parent, child = (sum(f"vpid = {pid}," in line for line in lines) for pid in done.stdout.split())
    # Without it the child's events are lost or bear its parent's pid.
    assert (parent == child == 50) is with_hooks


@pytest.mark.parametrize("events", ["dds:written", "driver:*"])
def test_a_forked_child_may_close_its_files_and_execute_a_program(
    world: World, hooks: Hooks, tmp_path: Path, events: str
) -> None:
    """LTTng-UST starts again in it, and would end it when its files are gone.

    The program is linked to it, as those of an installed ROS 2 are.
    """
    program, config, target = tmp_path / "closing", tmp_path / "mine.yaml", tmp_path / "rec"
    linked = ["-Wl,--no-as-needed", "-llttng-ust"]
    subprocess.run(["cc", HERE / "closing.c", "-o", program, *linked], check=True)
    config.write_text(f"events: {{ust: ['{events}']}}\n")
    done = world.strata("record", "--no-ros", "-c", config, "-o", target, "--", program, "8")

    assert (done.returncode, done.stdout) == (0, "0 failed\n"), done.stderr
    assert "Assertion" not in done.stderr
    assert str(hooks.guard[0]) in manifest(target)["environment"]["LD_PRELOAD"]


def test_the_doctor_tells_hook_by_hook(world: World, hooks: Hooks) -> None:
    done = world.strata("doctor", "--dds", "--format", "json")
    document = json.loads(done.stdout)
    assert done.returncode == (0 if document["ready"] else 1)
    check = next(check for check in document["checks"] if check["name"] == "dds_tracepoints")
    assert str(hooks.library) in check["found"]
    found = next(found for found in document["dds"] if found["vendor"] == "fastdds")
    assert len(found["hooks"]) >= 20
    assert found["hooks"][0] == {
        "function": "create_writer",
        "what": "Publisher::create_datawriter",
        "caller": "rmw",
        "library": found["library"],
        "symbol": found["hooks"][0]["symbol"],
        "status": "binds",
        "why": "",
        "looked_up": 1,
        "bypassing": 0,
        "events": ["create_writer"],
        "events_lost": [],
        "layers_merged": [],
    }


def test_the_doctors_tables_fit_80_columns(world: World, hooks: Hooks) -> None:
    done = world.strata("doctor", "--dds")
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    assert "layers shown separately: serialize, dds write, transport, dds receive" in done.stdout
    assert "hooks bind (--all lists them)." in done.stdout
    assert "Publisher::create_datawriter" not in done.stdout
    # Of Cyclone DDS at most the name is said: nothing here uses it.
    assert "DDS hooks in libddsc" not in done.stdout
    assert "Publisher::create_datawriter" in world.strata("doctor", "--dds", "--all").stdout
    assert "dds_tracepoints" in world.strata("doctor").stdout


def test_the_doctor_reads_a_given_library(world: World, tmp_path: Path) -> None:
    path = tmp_path / "libfastdds.so"
    path.write_text("no library")
    done = world.strata("doctor", "--library", path)
    assert done.returncode == 1
    assert f"Cannot read library {path}: it is not an ELF file" in done.stderr


def test_a_configuration_of_dds_events_needs_the_hooks(world: World, tmp_path: Path) -> None:
    (tmp_path / "trace_configs").symlink_to(ROOT / "trace_configs")
    prefix = tmp_path / "ros"
    (prefix / "lib").mkdir(parents=True)
    (prefix / "lib" / "librcl.so").touch()
    (prefix / "setup.bash").touch()
    place = {"STRATA_ROOT": str(tmp_path), "STRATA_ROS_PREFIX": str(prefix)}
    environment = world.environment | place
    done = world.strata("record", "-c", "full", "--", "true", env=environment)
    assert done.returncode == 125
    assert "Cannot record DDS events" in done.stderr
    done = world.strata("doctor", "-c", "full", "--format", "json", env=environment)
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["dds_tracepoints"]["status"] == "problem"
    done = world.strata("doctor", "-c", "ros2", "--format", "json", env=environment)
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["dds_tracepoints"]["status"] == "warning"
