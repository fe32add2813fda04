# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a ROS 2 launch file needs of a scenario, as JSON on stdout.

`python -m strata.scenario.for_launch arguments WORKLOAD`: the scenarios and settings of a workload.
`python -m strata.scenario.for_launch plan SCENARIO DIRECTORY DURATION [KEY=VALUE ...]`: the
commands; writes the parameters below the directory. An empty DURATION is the scenario's own.
A launch file runs this with Strata's Python, since `ros2 launch` runs with the system's.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from strata.errors import ScenarioError, StrataError
from strata.scenario import place
from strata.scenario.load import load_scenario, shipped_scenarios
from strata.scenario.plan import plan_run
from strata.scenario.running import prepare, rmw_variables


def arguments(workload: str) -> dict[str, Any]:
    """List the scenarios of a workload and their settings; the defaults differ by scenario."""
    found = [load_scenario(str(path)) for path in shipped_scenarios()]
    found = [loaded for loaded in found if loaded.scenario.workload == workload]
    settings: dict[str, dict[str, Any]] = {}
    for loaded in found:
        for setting in loaded.settings:
            known = settings.setdefault(setting.name, {"text": setting.text, "defaults": {}})
            known["defaults"][loaded.name] = setting.default
    return {
        "scenarios": {loaded.name: loaded.scenario.question for loaded in found},
        "settings": settings,
    }


def plan(name: str, directory: str, duration: str, *changes: str) -> dict[str, Any]:
    """Plan a scenario in the environment as it is, and write its parameters."""
    pairs = dict(change.split("=", 1) for change in changes)
    loaded = load_scenario(name, pairs, duration or None)
    if loaded.scenario.hosts():
        raise ScenarioError(
            f"Cannot launch scenario {name}: ros2 launch runs everything on one host, but "
            f"network.link is {loaded.scenario.network.link}. Use `strata run {name}`."
        )
    variables = rmw_variables(loaded, os.environ)
    planned = plan_run(loaded, Path(directory).absolute(), {**os.environ, **variables})
    prepare(loaded, planned)
    processes = [
        {
            "name": process.name,
            "command": process.command,
            "environment": process.environment,
            "prefix": _prefix(process.placement),
            "ends": process.ends,
            "ready_says": process.ready_says,
        }
        for process in planned.processes
    ]
    return {
        "environment": variables,
        "processes": processes,
        "load": planned.load,
        "seconds": planned.seconds,
    }


def _prefix(placement: place.Placement) -> list[str]:
    # By its file: it needs nothing of this package.
    words = [sys.executable, str(Path(place.__file__)), *placement.words(), "--"]
    return [] if placement.usual else words


VERBS: dict[str, Callable[..., dict[str, Any]]] = {"arguments": arguments, "plan": plan}


def main(words: list[str]) -> int:
    """Print what is asked for; the exit status."""
    try:
        document = VERBS[words[0]](*words[1:])
    except StrataError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(json.dumps(document) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
