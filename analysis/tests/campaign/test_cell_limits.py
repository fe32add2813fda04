# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long a cell may run and be measured, and that a slow measuring loses no recording."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from campaign_files import written

from strata.campaign import running
from strata.campaign.cells import Cell, Variant, expand, on_machines
from strata.campaign.directory import CampaignDirectory, CellState, Lock, make_directory
from strata.campaign.load import load_campaign
from strata.campaign.machine_load import Moment
from strata.campaign.running import measuring_limit_s, running_limit_s
from strata.record.ros import Ros

TEXT = """question: Is it kept?
studies:
  relay:
    question: Is it kept?
    scenario: relay_chain
    set: {relays: 1}
    duration: 60
    factors:
      rate: {set: rate, unit: Hz, levels: [100.0]}
"""


def two_hosts() -> Cell:
    cells = expand(load_campaign("sizes"), Variant(1, quick=True))
    return next(one for one in cells if one.study == "two_hosts_throughput")


def test_other_machines_have_time_to_set_up_end_and_send() -> None:
    cell = replace(two_hosts(), limit_s=100.0)
    (one,), (both,) = on_machines([cell], ["b"]), on_machines([cell], ["a", "b"])
    assert running_limit_s(cell) == 400.0
    # Setting up, ending and the wait for its recorder; its recording is copied as it was written.
    for moved in (one, both):
        more = running_limit_s(moved) - running_limit_s(cell)
        assert more >= len(moved.hosts) * (120 + 180 + 150)


def test_the_time_to_measure_grows_with_that_of_the_recording() -> None:
    cell = two_hosts()
    hours = replace(cell, limit_s=4 * 3600.0)
    assert measuring_limit_s(replace(cell, limit_s=10.0)) >= 900
    assert measuring_limit_s(hours) >= hours.limit_s


class Silent:
    """A watcher that nobody sees; at the next turn it may ask for the end."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.at_turn: Callable[[], None] = lambda: None

    def say(self, line: str) -> None:
        self.said.append(line)

    def turn(self) -> None:
        self.at_turn()


class Runs:
    """A campaign of one cell, whose run is a copy of a recorded session."""

    def __init__(self, place: Path, session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        loaded = load_campaign(str(written(place, TEXT)))
        cells = expand(loaded, Variant(seed=1))
        self.directory: CampaignDirectory = make_directory(
            place / "campaign", loaded, Variant(seed=1), cells
        )
        self.directory.path.mkdir()
        self.directory.write()
        shutil.copytree(session, place / "session")
        copy = f"import shutil, sys; shutil.copytree({str(place / 'session')!r}, sys.argv[1])"
        monkeypatch.setattr(
            running,
            "run_command",
            lambda cell, target, hosts: [sys.executable, "-c", copy, str(target)],
        )
        self.watcher = Silent()

    def state(self) -> CellState | None:
        lock = Lock(self.directory.path)
        try:
            assert lock.take(0.0)
            run = running._Run(
                self.directory,
                cast(Ros, None),
                {},
                lock,
                cast(running.Watcher, self.watcher),
                keep_failed=False,
                settle_s=0.0,
            )
            (cell,) = self.directory.cells
            with run.interrupts.noted():
                return run._run_one(cell, Moment(None, None, None))
        finally:
            lock.close()


def test_a_recording_is_kept_when_measuring_it_takes_too_long(
    tmp_path: Path, sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(tmp_path, sample("cell_relay"), monkeypatch)
    monkeypatch.setattr(running, "_measuring_command", lambda *_: ["sleep", "600"])
    monkeypatch.setattr(running, "measuring_limit_s", lambda _: 0.3)
    state = runs.state()
    assert state is not None
    assert (state.status, state.reason) == ("finished", None)
    assert state.measured == "recorded; the report measures it: it took longer than 0 s"


def test_a_measuring_that_fails_fails_the_cell(
    tmp_path: Path, sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(tmp_path, sample("cell_relay"), monkeypatch)
    monkeypatch.setattr(running, "_measuring_command", lambda *_: ["sh", "-c", "exit 4"])
    state = runs.state()
    assert state is not None
    assert (state.status, state.reason) == ("failed", "not measured: exit status 4")
