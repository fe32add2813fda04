# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An unmodified rclpy program of the real ROS 2, recorded by `strata record`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lttng_world import World, events, manifest

from strata.errors import SessionError
from strata.record.default_config import default_config
from strata.record.ros import Ros, caller_environment, find_ros

pytestmark = pytest.mark.live

_TALK = """
import rclpy
from std_msgs.msg import String

rclpy.init()
node = rclpy.create_node("talker")
got = []
publisher = node.create_publisher(String, "chat", 10)
subscription = node.create_subscription(String, "chat", lambda m: got.append(m.data), 10)
for number in range(20):
    publisher.publish(String(data=str(number)))
    while len(got) <= number:
        rclpy.spin_once(node, timeout_sec=1.0)
rclpy.shutdown()
print(len(got))
"""


@pytest.fixture(scope="module")
def ros() -> Ros:
    try:
        found = find_ros(caller_environment({}))
        found.environment({})
    except SessionError as error:
        pytest.skip(str(error))
    return found


@pytest.mark.parametrize("config", ["ros2", "light"])
def test_a_program_of_ros_is_recorded(world: World, ros: Ros, tmp_path: Path, config: str) -> None:
    program = tmp_path / "talk.py"
    program.write_text(_TALK)
    target = tmp_path / "rec"
    done = world.strata("record", "-c", config, "-o", target, "--", "python3", program)

    assert (done.returncode, done.stdout) == (0, "20\n"), done.stderr
    lines = events(target / "trace")
    chat = _handles(lines)
    published = [line for line in lines if "rmw_publish:" in line and chat["publisher"] in line]
    taken = [
        line
        for line in lines
        if "rmw_take:" in line and chat["subscription"] in line and "taken = 1" in line
    ]
    assert (len(published), len(taken)) == (20, 20)
    assert _numbers(published, " timestamp") == _numbers(taken, "source_timestamp")
    assert all("vpid = " in line and "vtid = " in line for line in lines)
    # Else the name of a process comes once, as an event.
    named = [line for line in lines if "procname = " in line]
    assert len(named) == (len(lines) if config == "ros2" else 1)
    if config == "light":
        assert not any("executor" in line for line in lines)
    elif ros.rclpy_tracepoints is not None:
        assert sum("ros2:callback_start:" in line for line in lines) >= 20
        assert any("ros2:rclcpp_executor_execute:" in line for line in lines)

    described = manifest(target)["ros"]
    assert described["distro"] == ros.distro
    assert described["found_as"] == ros.kind
    assert described["packages"]["rcl"] == ros.package_versions("rcl")["rcl"]
    assert manifest(target)["discarded_events"] == 0


def test_without_a_configuration_one_is_chosen_and_said(
    world: World, ros: Ros, tmp_path: Path
) -> None:
    program, target = tmp_path / "talk.py", tmp_path / "my rec"
    program.write_text(_TALK)
    done = world.strata("record", "-o", target, "--", "python3", program)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "session configuration" in line]
    name = default_config(ros, caller_environment({})).config
    assert line.startswith(f"strata: session configuration {name}: ")
    assert manifest(target)["config"]["name"] == name
    # Quoted, so that it can be pasted.
    assert done.stderr.splitlines()[-1].startswith("strata: next: strata analyze '")
    assert done.stderr.splitlines()[-1].endswith("my rec'")


def _handles(lines: list[str]) -> dict[str, str]:
    """Find the rmw handles of the topic's two ends, as `field = value`."""
    found = {}
    for end in ("publisher", "subscription"):
        (line,) = [x for x in lines if f"rcl_{end}_init:" in x and '"/chat"' in x]
        match = re.search(rf"rmw_{end}_handle = 0x[0-9A-F]+", line)
        assert match
        found[end] = match[0]
    return found


def _numbers(lines: list[str], field: str) -> list[int]:
    matches = [re.search(rf"{field} = (\d+)", line) for line in lines]
    return [int(match[1]) for match in matches if match]


def test_the_doctor_sees_the_provider_load(world: World, ros: Ros) -> None:
    done = world.strata("doctor")
    assert done.returncode == 0, done.stdout
    assert re.search(rf"ros2 events +ok +\d+ tracepoints of {ros.distro} reach LTTng", done.stdout)
