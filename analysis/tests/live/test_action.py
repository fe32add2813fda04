# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of the GitHub Action, run as GitHub runs them: recorded, judged, summarized, kept."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from lttng_world import ROOT, World, any_domain

pytestmark = pytest.mark.live

ACTION = ROOT / ".github/actions/latency-gates/action.yml"
COMMAND = "python3 -m relay_chain --relays 1 --messages 50 --rate 50 --work relay_0=4"
_EXPRESSION = re.compile(r"\$\{\{ *([\w.]+) *\}\}")


def _steps() -> list[dict[str, Any]]:
    steps = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    assert isinstance(steps, list)
    return steps


def _given(inputs: dict[str, str]) -> dict[str, str]:
    """Give the values of all expressions of the action, as the runner knows them."""
    declared = yaml.safe_load(ACTION.read_text())["inputs"]
    missing = {name for name, one in declared.items() if one.get("required")} - set(inputs)
    assert not missing
    values = {name: one.get("default", "") for name, one in declared.items()} | inputs
    assert set(values) == set(declared)
    known = {f"inputs.{name}": value for name, value in values.items()}
    return known | {"github.action_path": str(ACTION.parent)}


def _run(world: World, directory: Path, **inputs: str) -> tuple[dict[str, int], str]:
    """Run the steps until one fails; return the exit status of each and the summary of the job."""
    known, statuses = _given(inputs), {}
    summary = directory / "step_summary.md"
    for step in _steps():
        if "uses" in step or step["name"] == "Set up Strata":
            continue
        own = {
            name: _EXPRESSION.sub(lambda hit: known[hit[1]], value)
            for name, value in step["env"].items()
        }
        # The runner writes the text into a file; expressions in it would be open to injection.
        assert not _EXPRESSION.search(step["run"])
        assert step["shell"] == "bash"
        script = directory / "step.sh"
        script.write_text(step["run"])
        environment = {
            **world.environment,
            **own,
            "ROS_DOMAIN_ID": any_domain(),
            "GITHUB_STEP_SUMMARY": str(summary),
        }
        line = f"cd {shlex.quote(str(directory))} && bash --noprofile --norc -eo pipefail step.sh"
        done = world.run("bash", "-c", line, env=environment)
        statuses[step["name"]] = done.returncode
        if done.returncode != 0:
            break
    return statuses, summary.read_text() if summary.is_file() else ""


@pytest.mark.parametrize(("limit", "status"), [("1 s", 0), ("1 ms", 3)], ids=["holds", "broken"])
def test_the_steps_record_judge_and_keep_everything(
    world: World, tmp_path: Path, limit: str, status: int
) -> None:
    (tmp_path / "gates.yaml").write_text(f"gates:\n  - chain p50 < {limit}\n")
    statuses, summary = _run(world, tmp_path, command=COMMAND, gates="gates.yaml")
    assert statuses == {"Record": 0, "Write the page": 0, "Check the gates": status}
    results = tmp_path / "strata-results"
    assert "/chain_0" in (results / "report.html").read_text()
    assert (results / "session/trace").is_dir()
    (suite,) = ElementTree.parse(results / "gates.xml").getroot().iter("testsuite")
    assert int(suite.get("failures", "-1")) == (1 if status else 0)
    assert ("**broken**" in summary) == bool(status)
    assert "chain p50" in summary


def test_a_command_is_ended_and_compared_with_a_baseline(world: World, tmp_path: Path) -> None:
    # One that would run for half an hour, and a gate that a recording alone cannot meet.
    command = "python3 -m relay_chain --relays 1 --messages 100000 --rate 50"
    (tmp_path / "gates.yaml").write_text("gates:\n  - chain p50 not more than 10000 % worse\n")
    inputs = {"command": command, "gates": "gates.yaml", "duration": "3s", "config": "light"}
    statuses, _ = _run(world, tmp_path, **inputs, output="alone")
    assert statuses == {"Record": 0, "Write the page": 0, "Check the gates": 1}
    statuses, summary = _run(world, tmp_path, **inputs, baseline="alone/session", output="both")
    assert statuses == {"Record": 0, "Write the page": 0, "Check the gates": 0}, summary
    assert "gates: 1 holds" in summary
    manifest = json.loads((tmp_path / "both/session/manifest.json").read_text())
    assert manifest["config"]["name"] == "light"


def test_the_setup_step_sets_this_checkout_up() -> None:
    (step,) = [step for step in _steps() if step["name"] == "Set up Strata"]
    checkout = _EXPRESSION.sub(lambda _: str(ACTION.parent), step["env"]["CHECKOUT"])
    assert Path(checkout).resolve() == ROOT
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step["run"]],
        env={**os.environ, "CHECKOUT": checkout},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "[setup] ready: .venv/bin/strata" in done.stdout.splitlines()


def test_the_results_are_uploaded_whatever_the_gates_say() -> None:
    step = _steps()[-1]
    assert step["uses"].startswith("actions/upload-artifact@")
    assert step["if"] == "always()"
    assert step["with"]["path"] == "${{ inputs.output }}"
