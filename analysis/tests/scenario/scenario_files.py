# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Small scenarios, written into files, and runs of them without ROS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from strata.record.broker import Broker
from strata.scenario.load import LoadedScenario, load_scenario
from strata.scenario.plan import plan_run
from strata.scenario.running import check_expected, prepare

HEAD = """question: What is it?
workload: relay
"""


def written(directory: Path, text: str, name: str = "one") -> Path:
    """Write a scenario; it begins with the keys of HEAD."""
    path = directory / f"{name}.yaml"
    path.write_text(HEAD + text)
    return path


def shell(name: str, script: str, *more: str) -> str:
    """Give the lines of a process that runs a shell script."""
    lines = [f"  - name: {name}", f"    command: [sh, -c, {json.dumps(script)}]"]
    return "\n".join([*lines, *(f"    {line}" for line in more)]) + "\n"


class Ran:
    """A finished run: exit status, stderr, outcome, unmet expectations."""

    def __init__(
        self,
        loaded: LoadedScenario,
        directory: Path,
        *,
        broker: Broker | None = None,
        patience_s: float = 1.0,
        **variables: str,
    ) -> None:
        self.directory = directory
        plan = plan_run(loaded, directory, {**os.environ, **variables}, broker)
        plan = replace(plan, patience_s=patience_s)
        prepare(loaded, plan)
        done = subprocess.run(
            [sys.executable, "-m", "strata.scenario.runner", directory / "plan.json"],
            env={**os.environ, **variables},
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=120,
        )
        self.status, self.errors = done.returncode, done.stderr
        self.outcome: dict[str, Any] = json.loads((directory / "outcome.json").read_text())
        self.unmet = [one["text"] for one in check_expected(loaded, directory) if not one["met"]]

    @property
    def processes(self) -> dict[str, dict[str, Any]]:
        return {process["name"]: process for process in self.outcome["processes"]}


def run(directory: Path, text: str, variables: Mapping[str, str] | None = None) -> Ran:
    """Write a scenario and run it, without ROS and without a session."""
    return Ran(load_scenario(str(written(directory, text))), directory / "run", **(variables or {}))


ENDS = "duration: {messages: 1}\nprocesses:\n" + shell("a", "true", "ends: true")
"""A scenario whose process ends it: tests add lines to it."""
