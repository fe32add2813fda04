# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""By default only what the recorded command started is analyzed, and what is left out is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import strata
from strata.cli.analyze import command as analyze_command
from strata.cli.hops import command as hops_command

TRACE = "fast_relaymp_st_foreign"
FOREIGN = 28633
OWN = [28359, 28360, 28361, 28362, 28363]


@pytest.fixture
def session(own_sample: Callable[[str], Path]) -> Path:
    """A session whose trace holds another program's process on the same topics."""
    path = own_sample(TRACE)
    told = {"of_command": OWN, "others": [1, FOREIGN]}
    (path / "manifest.json").write_text(json.dumps({"schema": 1, "processes": told}))
    return path


def finding(analysis: strata.Analysis, code: str) -> str:
    rows = analysis.quality.set_index("code")
    return str(rows.loc[code, "text"]) if code in rows.index else ""


def test_what_the_command_did_not_start_is_left_out(session: Path) -> None:
    found = strata.analyze(session)
    assert [process.vpid for process in found.trace.processes] == OWN
    assert found.chains["count"].tolist() == [2000]
    said = finding(found, "processes_left_out")
    assert "1 process was left out" in said
    assert f"{FOREIGN} rig" in said
    assert "--all-processes" in said


def test_all_processes_are_there_on_request(session: Path) -> None:
    found = strata.analyze(session, all_processes=True)
    assert [process.vpid for process in found.trace.processes] == [*OWN, FOREIGN]
    assert found.chains["count"].tolist() == [2000, 100]
    assert not finding(found, "processes_left_out")


def test_without_a_manifest_nothing_is_left_out(session: Path) -> None:
    (session / "manifest.json").unlink()
    found = strata.analyze(session)
    assert len(found.trace.processes) == len(OWN) + 1
    assert not finding(found, "processes_left_out")


def test_a_process_that_was_never_seen_is_kept(session: Path) -> None:
    told = {"of_command": OWN[:2], "others": [FOREIGN]}
    (session / "manifest.json").write_text(json.dumps({"processes": told}))
    found = strata.analyze(session)
    assert [process.vpid for process in found.trace.processes] == OWN


def test_a_command_that_records_what_ran_already_gets_it(session: Path) -> None:
    # As of `strata record -- sleep 60` beside a running system.
    told = {"of_command": [3], "others": [1, *OWN, FOREIGN]}
    (session / "manifest.json").write_text(json.dumps({"processes": told}))
    found = strata.analyze(session)
    assert len(found.trace.processes) == len(OWN) + 1
    assert not finding(found, "processes_left_out")
    assert "6 other traced processes" in finding(found, "only_other_processes")


@pytest.mark.parametrize(
    ("verb", "told"),
    [
        (analyze_command, lambda found: len(found["trace"]["processes"])),
        (hops_command, lambda found: len(found["chains"])),
    ],
)
def test_the_verbs_have_the_option(
    session: Path, verb: click.Command, told: Callable[[dict[str, Any]], int]
) -> None:
    outputs = [
        CliRunner().invoke(verb, [str(session), "--format", "json", *option])
        for option in ([], ["--all-processes"])
    ]
    few, many = (told(json.loads(output.stdout)) for output in outputs)
    assert 0 < few < many
