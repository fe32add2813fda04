# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The set of events that a run can emit is the set that is observed, on both distributions."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pytest
from lttng_world import ROOT, World, any_domain

from strata.read import open_trace
from strata.schema.events import CATALOGUE
from strata.schema.statedump_events import STATEDUMP_EVENTS

pytestmark = pytest.mark.live

PROGRAM = """
import rclpy
from lifecycle_msgs.msg import Transition
from rcl_interfaces.srv import GetParameters
from rclpy.lifecycle import LifecycleNode
from std_msgs.msg import String

rclpy.init()
node = rclpy.create_node("probe")
got = []
publisher = node.create_publisher(String, "chat", 10)
subscription = node.create_subscription(String, "chat", lambda m: got.append(m.data), 10)
timer = node.create_timer(0.01, lambda: publisher.publish(String(data="x")))
client = node.create_client(GetParameters, "/probe/get_parameters")
assert client.wait_for_service(10.0)
future = client.call_async(GetParameters.Request(names=["use_sim_time"]))
cycle = LifecycleNode("cycle")
cycle.trigger_configure()
while len(got) < 20 or not future.done():
    rclpy.spin_once(node, timeout_sec=1.0)
print(len(got), len(future.result().values))
"""

# What no rclpy program emits: rclcpp's take, its intra-process path.
RCLCPP_ONLY = {
    "rclcpp_intra_publish",
    "rclcpp_take",
    "rclcpp_ipb_to_subscription",
    "rclcpp_buffer_to_ipb",
    "rclcpp_construct_ring_buffer",
    "rclcpp_ring_buffer_enqueue",
    "rclcpp_ring_buffer_dequeue",
    "rclcpp_ring_buffer_clear",
}


@pytest.mark.parametrize(
    ("distro", "environment", "gid_bytes"), [("jazzy", ".venv", 24), ("kilted", ".venv-kilted", 16)]
)
def test_the_observed_events_are_those_that_the_run_can_emit(
    world: World, tmp_path: Path, distro: str, environment: str, gid_bytes: int
) -> None:
    program = tmp_path / "probe.py"
    program.write_text(PROGRAM)
    world.environment["ROS_DOMAIN_ID"] = any_domain()
    world.environment["STRATA_ROS_PREFIX"] = str(ROOT / environment)
    config = ROOT / "trace_configs/ros2.yaml"
    target = tmp_path / "session"
    done = world.strata("record", "-c", config, "-o", target, "--", "python3", program)
    assert done.returncode == 0, done.stderr
    taken, values = map(int, done.stdout.split())
    assert taken >= 20
    assert values == 1

    trace = open_trace(target)
    tables = trace.tables()
    later = {"jazzy": ("kilted", "lyrical"), "kilted": ("lyrical",)}[distro]
    stock = {name: event for name, event in CATALOGUE.items() if event.provider == "ros2"}
    declared = {name for name, event in stock.items() if event.since not in later}
    # The program has no coroutine: none of its own is suspended.
    of_rclpy = {name for name, event in CATALOGUE.items() if event.provider == "rclpy"}
    # The session was there first, so there was nothing to announce.
    dumps = {one.full_name for one in STATEDUMP_EVENTS if one.provider == "ros2_statedump"}
    assert trace.declared_events == declared | of_rclpy | dumps
    assert set(tables) == declared - {f"ros2:{name}" for name in RCLCPP_ONLY}

    publishers = tables["ros2:rmw_publisher_init"]
    assert set(pc.binary_length(publishers["gid"]).to_pylist()) == {gid_bytes}
    for name, table in tables.items():
        for column in ("vpid", "vtid", "procname"):
            assert table[column].null_count == 0, (name, column)
    versions = set(tables["ros2:rcl_init"]["version"].to_pylist())
    assert all(version.startswith("8.") for version in versions)
