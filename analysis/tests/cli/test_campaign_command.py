# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata campaign`: what it lists, and what it refuses before anything runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from strata_command import strata as strata_command

from strata.campaign.load import shipped_campaigns


def test_every_campaign_is_listed() -> None:
    done = strata_command("campaign", "list", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    names = [path.stem for path in shipped_campaigns()]
    assert [one["name"] for one in document["campaigns"]] == names
    assert all(0 < one["quick_cells"] < one["cells"] for one in document["campaigns"])
    table = strata_command("campaign", "list").stdout
    assert max(map(len, table.splitlines())) <= 80
    assert all(any(line.startswith(f"{name} ") for line in table.splitlines()) for name in names)


def test_the_cells_are_listed_and_nothing_is_written(tmp_path: Path) -> None:
    target = tmp_path / "campaign"
    arguments = ("relay", "--quick", "--seed", "7", "--list", "-o", str(target))
    done = strata_command("campaign", "run", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^\d+ +hops/10/r1 +\d+ s$", done.stdout, re.MULTILINE)
    assert re.search(r"relay: \d+ cells, \d+ skipped, \d+ to run, about .*; seed 7", done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert not target.exists()
    only = strata_command("campaign", "run", *arguments, "--only", "hops/10").stdout
    assert "relay: 1 cell, 0 skipped, 1 to run" in only


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["run", "nothing"], 1, "Cannot read campaign nothing: no such file, and no"),
        (["run", "relay", "--only", "such"], 1, "Cannot run --only such: there is no study"),
        (["run", "relay", "--repetitions", "0"], 2, "0 is not in the range"),
        (["status", "."], 1, "Give the directory of a campaign"),
    ],
)
def test_what_cannot_be_done_is_refused(
    tmp_path: Path, arguments: list[str], status: int, says: str
) -> None:
    target = tmp_path / "campaign"
    more = ["-o", str(target)] if arguments[0] == "run" else []
    done = strata_command("campaign", *arguments, *more)
    assert (done.returncode, done.stdout) == (status, "")
    assert says in done.stderr
    assert not target.exists()


def test_a_place_that_is_taken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    done = strata_command("campaign", "run", "relay", "-o", str(tmp_path))
    assert done.returncode == 1
    assert f"Cannot use {tmp_path}: it holds no campaign, and is not empty (mine" in done.stderr
    done = strata_command("campaign", "run", "relay", "-o", str(tmp_path / "mine"))
    assert "it is a file. Choose another -o." in done.stderr
    assert (tmp_path / "mine").read_bytes() == b""


def test_a_place_that_cannot_be_written_is_told() -> None:
    done = strata_command("campaign", "run", "relay", "--quick", "-o", "/proc/campaign")
    assert done.returncode == 1
    assert "Cannot write /proc/campaign: " in done.stderr
    assert "Traceback" not in done.stderr
