# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Launch descriptions of scenarios; what runs, and how, is read from trace_configs/scenarios.

The scenario is read by Strata's own Python, in a process of its own: `ros2 launch` runs with the
system's, whose packages may be older than those that Strata needs.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_prefix
from launch.action import Action
from launch.actions import (
    AppendEnvironmentVariable,
    DeclareLaunchArgument,
    ExecuteProcess,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    Shutdown,
    TimerAction,
)
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessIO
from launch.events.process import ProcessExited, ProcessIO
from launch.substitutions import LaunchConfiguration
from tracetools_launch.action import Trace

from launch import LaunchContext, LaunchDescription

_ROOT = Path(__file__).resolve().parents[1]
_PYTHON = _ROOT / ".venv/bin/python"
_SESSION = os.environ.get("STRATA_SESSION_DIR")
_ROS_HOME = Path(os.environ.get("ROS_HOME", "~/.ros")).expanduser()


def _ask(*words: str) -> Any:
    """Ask Strata; a refusal ends the launch with its sentence."""
    if not _PYTHON.exists():
        raise RuntimeError(f"Cannot read a scenario: there is no {_PYTHON}. Run `make setup`.")
    done = subprocess.run(
        [_PYTHON, "-m", "strata.scenario.for_launch", *words],
        env={**os.environ, "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def describe(workload: str, default: str) -> LaunchDescription:
    """Describe the launch of a workload's scenarios, `default` when none is named."""
    known = _ask("arguments", workload)
    settings = known["settings"]
    questions = "; ".join(f"{name}: {text}" for name, text in known["scenarios"].items())
    plan: dict[str, Any] = {}
    session = Trace(
        session_name=LaunchConfiguration("session"),
        append_timestamp=True,
        base_path=LaunchConfiguration("base_path"),
        events_ust=["ros2:*", "driver:*"],
        context_fields=["vpid", "vtid", "procname"],
        subbuffer_size_ust=1024 * 1024,
        condition=IfCondition(LaunchConfiguration("trace")),
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "scenario",
                default_value=default,
                description=f"what to run. {questions}",
                choices=list(known["scenarios"]),
            ),
            DeclareLaunchArgument(
                "duration",
                default_value="",
                description="a number of what the scenario counts, or seconds as in 10s; empty for "
                "the scenario's own",
            ),
            *(_setting(name, one) for name, one in settings.items()),
            *_tracing(),
            # What is refused is so before there is a session.
            OpaqueFunction(function=_plan, args=[list(settings), plan]),
            # The session first, since names are recorded when nodes are made.
            session,
            *_rclpy_events(),
            OpaqueFunction(function=_start, args=[plan]),
        ]
    )


def _setting(name: str, setting: dict[str, Any]) -> DeclareLaunchArgument:
    values = {json.dumps(value) for value in setting["defaults"].values()}
    if len(values) == 1:
        default = f"default {values.pop()}"
    else:
        pairs = setting["defaults"].items()
        default = "defaults: " + ", ".join(f"{one} {json.dumps(value)}" for one, value in pairs)
    return DeclareLaunchArgument(
        name, default_value="", description=f"{setting['text']} ({default})"
    )


def _tracing() -> list[Action]:
    """Declare the arguments of the session and of the results."""
    scenario, now = LaunchConfiguration("scenario"), time.strftime("%Y%m%d%H%M%S")
    own = [f"{_ROS_HOME}/strata/", scenario, f"-{now}/scenario"]
    return [
        # `strata record` sets STRATA_SESSION_DIR: then there is a session already.
        DeclareLaunchArgument(
            "trace",
            default_value="false" if _SESSION else "true",
            description="record an LTTng session; false when something else does",
            choices=["true", "false"],
        ),
        DeclareLaunchArgument(
            "session",
            default_value=scenario,
            description="name of the LTTng session; the time is appended",
        ),
        DeclareLaunchArgument(
            "base_path",
            default_value=str(_ROS_HOME / "tracing"),
            description="directory in which the session's directory is made",
        ),
        DeclareLaunchArgument(
            "results",
            default_value=f"{_SESSION}/scenario" if _SESSION else own,
            description="directory of the nodes' parameters and results",
        ),
    ]


def _rclpy_events() -> list[Action]:
    """Give rclpy the executor and callback events that rclcpp has, where the package is built.

    Also without the Trace action: the session may be another's. `strata record` does it itself.
    """
    if _SESSION:
        return []
    try:
        prefix = Path(get_package_prefix("rclpy_tracepoints"))
    except LookupError:
        return []
    hook = str(prefix / "lib" / "rclpy_tracepoints")
    return [AppendEnvironmentVariable("PYTHONPATH", hook, prepend=True)]


def _plan(context: LaunchContext, settings: list[str], plan: dict[str, Any]) -> None:
    """Plan the scenario that is chosen."""
    given = context.launch_configurations
    changes = [f"{name}={given[name]}" for name in settings if given.get(name)]
    plan |= _ask("plan", given["scenario"], given["results"], given["duration"], *changes)


def _start(_: LaunchContext, plan: dict[str, Any]) -> list[Action]:
    """Make the processes of the plan."""
    actions: list[Action] = [
        SetEnvironmentVariable(name, value) for name, value in plan["environment"].items()
    ]
    if plan["load"]:
        actions.append(ExecuteProcess(cmd=plan["load"], name="load", output="screen"))
    if plan["seconds"] is not None:
        over = Shutdown(reason=f"{plan['seconds']} s are over")
        actions.append(TimerAction(period=plan["seconds"], actions=[over]))
    ending = {process["name"] for process in plan["processes"] if process["ends"]}
    return [*actions, *_in_order(plan["processes"], ending)]


def _in_order(processes: list[dict[str, Any]], ending: set[str]) -> list[Action]:
    """Start the processes; those after one that must be ready, when it is."""
    if not processes:
        return []
    first, *others = processes
    process = _process(first, ending)
    wanted = first["ready_says"]
    if wanted is None:
        return [process, *_in_order(others, ending)]
    waiting = [others]

    def on_output(event: ProcessIO) -> list[Action]:
        if wanted not in event.text.decode(errors="replace") or not waiting:
            return []
        return _in_order(waiting.pop(), ending)

    handler = OnProcessIO(target_action=process, on_stdout=on_output, on_stderr=on_output)
    return [RegisterEventHandler(handler), process]


def _process(process: dict[str, Any], ending: set[str]) -> Action:
    """Make a process; the end of the last that ends by itself, or of one that failed, ends all."""
    name = process["name"]

    def on_exit(event: ProcessExited, context: LaunchContext) -> Action | None:
        ending.discard(name)
        if not context.is_shutdown and (event.returncode or not ending):
            return Shutdown(reason=f"{name} has ended with {event.returncode}")
        return None

    preload = [process["environment"].get("LD_PRELOAD"), os.environ.get("LD_PRELOAD")]
    own = dict(process["environment"])
    if own.get("LD_PRELOAD"):
        own["LD_PRELOAD"] = ":".join(filter(None, preload))
    return ExecuteProcess(
        cmd=[*process["prefix"], *process["command"]],
        name=name,
        additional_env={**own, "PYTHONUNBUFFERED": "1"},
        output="screen",
        on_exit=on_exit,
    )
