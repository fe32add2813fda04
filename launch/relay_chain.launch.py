# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Source -> Relay_0 .. Relay_n -> Sink, one process a node, recorded by the Trace action.

Ends when the sink has every message. `ros2 launch FILE --show-args` lists the arguments.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from ament_index_python.packages import get_package_prefix
from launch.action import Action
from launch.actions import (
    AppendEnvironmentVariable,
    DeclareLaunchArgument,
    OpaqueFunction,
    SetEnvironmentVariable,
    Shutdown,
)
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from tracetools_launch.action import Trace

from launch import LaunchContext, LaunchDescription


# No dataclass: launch runs this file without entering it in sys.modules, where dataclasses look.
class Argument(NamedTuple):
    """A launch argument; `kind` converts its text."""

    name: str
    default: str
    text: str
    kind: type = str
    choices: tuple[str, ...] = ()

    def declare(self) -> DeclareLaunchArgument:
        """Make the action that declares it."""
        choices = {"choices": list(self.choices)} if self.choices else {}
        return DeclareLaunchArgument(
            self.name, default_value=self.default, description=self.text, **choices
        )


ARGUMENTS = (
    Argument("relays", "3", "relays between source and sink", int),
    Argument("rate", "100.0", "messages a second", float),
    Argument("messages", "500", "messages in all", int),
    Argument("payload", "1024", "bytes of ballast in a message", int),
    Argument("reliability", "reliable", "QoS", choices=("reliable", "best_effort")),
    Argument("durability", "volatile", "QoS", choices=("volatile", "transient_local")),
    Argument("depth", "100", "messages that the QoS history keeps", int),
    Argument("executor", "single", "of each node", choices=("single", "multi")),
    Argument("threads", "0", "of a multi-threaded executor; 0: one a CPU", int),
    Argument("log", "", "directory of the nodes' own stamps; empty for none"),
    # `strata record` sets this variable: then there is a session already.
    Argument(
        "trace",
        "false" if os.environ.get("STRATA_SESSION_DIR") else "true",
        "record an LTTng session; false when something else does",
        choices=("true", "false"),
    ),
    Argument("session", "relay_chain", "name of the LTTng session; the time is appended"),
    Argument(
        "base_path",
        str(Path(os.environ.get("ROS_HOME", "~/.ros")).expanduser() / "tracing"),
        "directory in which the session's directory is made",
    ),
)
_SHARED = ("reliability", "durability", "depth", "executor", "threads", "log")


def nodes(context: LaunchContext) -> list[Action]:
    """Make the nodes; the end of any of them ends all."""
    given = {a.name: a.kind(context.launch_configurations[a.name]) for a in ARGUMENTS}
    shared = {name: given[name] for name in _SHARED}
    relays = given["relays"]

    def node(executable: str, name: str, **own: object) -> Node:
        return Node(
            package="relay_chain",
            executable=executable,
            name=name,
            parameters=[{**shared, **own}],
            output="screen",
            on_exit=Shutdown(reason=f"{name} has ended"),
        )

    source = node(
        "source",
        "source",
        rate=given["rate"],
        messages=given["messages"],
        payload=given["payload"],
        peers=relays + 1,
    )
    chain = [
        node("relay", f"relay_{i}", input=f"/chain_{i}", output=f"/chain_{i + 1}")
        for i in range(relays)
    ]
    sink = node(
        "sink",
        "sink",
        input=f"/chain_{relays}",
        messages=given["messages"],
        quiet_s=5.0 + 10.0 / given["rate"],
    )
    return [source, *chain, sink]


def rclpy_events() -> list[Action]:
    """Give rclpy the executor and callback events that rclcpp has, where the package is built."""
    try:
        prefix = Path(get_package_prefix("rclpy_tracepoints"))
    except LookupError:
        return []
    hook = str(prefix / "lib" / "rclpy_tracepoints")
    tracing = IfCondition(LaunchConfiguration("trace"))
    return [AppendEnvironmentVariable("PYTHONPATH", hook, prepend=True, condition=tracing)]


def generate_launch_description() -> LaunchDescription:
    """Describe the launch: the session first, since names are recorded when nodes are made."""
    session = Trace(
        session_name=LaunchConfiguration("session"),
        append_timestamp=True,
        base_path=LaunchConfiguration("base_path"),
        events_ust=["ros2:*"],
        context_fields=["vpid", "vtid", "procname"],
        subbuffer_size_ust=1024 * 1024,
        condition=IfCondition(LaunchConfiguration("trace")),
    )
    local = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    return LaunchDescription(
        [
            *(argument.declare() for argument in ARGUMENTS),
            SetEnvironmentVariable("ROS_AUTOMATIC_DISCOVERY_RANGE", local),
            session,
            *rclpy_events(),
            OpaqueFunction(function=nodes),
        ]
    )
