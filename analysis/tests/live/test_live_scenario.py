# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios run by `strata run`, as a user would."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from lttng_world import ROOT, World, any_domain, manifest

import strata

pytestmark = pytest.mark.live


def strata_run(world: World, *arguments: str | Path) -> CompletedProcess[str]:
    environment = world.environment | {
        "ROS_DOMAIN_ID": any_domain(),
        "STRATA_ROS_PREFIX": str(ROOT / ".venv"),
    }
    return world.run(sys.executable, "-m", "strata", "run", *arguments, env=environment)


def test_a_scenario_is_recorded_with_all_that_belongs_to_it(world: World, tmp_path: Path) -> None:
    target = tmp_path / "session"
    file = ROOT / "trace_configs/scenarios/relay_chain.yaml"
    changes = ["--set", "relays=1", "--set", "rate=50", "--duration", "60"]
    done = strata_run(world, file, "-o", target, *changes)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "next: strata analyze " in done.stderr

    told = manifest(target)
    scenario = told["scenario"]
    assert scenario["name"] == "relay_chain"
    assert scenario["changes"] == {"relays": "1", "rate": "50", "duration": "60"}
    assert scenario["settings"] | {"relays": 1, "rate": 50.0} == scenario["settings"]
    assert scenario["duration"] | {"messages": 60} == scenario["duration"]
    assert [process["name"] for process in scenario["outcome"]["processes"]] == [
        "source",
        "relay_0",
        "sink",
    ]
    assert all(process["exit_status"] == 0 for process in scenario["outcome"]["processes"])
    assert scenario["checks"] == [{"text": "sink says 'received 60 of 60 messages'", "met": True}]
    assert (target / "scenario/relay_chain.yaml").read_bytes() == file.read_bytes()
    assert "received 60 of 60" in (target / "scenario/logs/sink.log").read_text()

    analysis = strata.analyze(target)
    hops = analysis.hops[analysis.hops["topic"].str.startswith("/chain_")]
    assert hops["count"].tolist() == [60, 60]
    stamps = (target / "scenario/results/sink.csv").read_text().splitlines()
    assert len([line for line in stamps if ",cb_start," in line]) == 60


def test_a_scenario_runs_without_a_session(world: World, tmp_path: Path) -> None:
    target = tmp_path / "plain"
    arguments = ["relay_one_process", "--no-trace", "--duration", "30", "--set", "relays=1"]
    done = strata_run(world, *arguments, "-o", target)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in target.iterdir()) == ["manifest.json", "scenario"]
    told = manifest(target)
    assert told["session"] is None
    assert told["command"]["succeeded"]
    assert told["scenario"]["checks"][0]["met"]
    outcome = json.loads((target / "scenario/outcome.json").read_text())
    assert outcome == told["scenario"]["outcome"]

    # A former run is replaced only when that is asked for.
    again = strata_run(world, *arguments, "-o", target)
    assert again.returncode == 1
    assert "it is not empty" in again.stderr


def test_a_scenario_that_fails_says_so_and_is_kept(world: World, tmp_path: Path) -> None:
    target = tmp_path / "failed"
    changes = ["--set", "relays=0", "--set", "processes.sink.nodes.sink.parameters.depth=0"]
    done = strata_run(world, "relay_chain", "-o", target, *changes)
    assert done.returncode == 1
    assert "[sink] Cannot use parameter depth: 0 is below 1." in done.stderr
    assert "scenario: sink did not end cleanly: exit status 1" in done.stderr
    assert "see scenario/logs" in done.stderr
    assert not manifest(target)["scenario"]["checks"][0]["met"]
