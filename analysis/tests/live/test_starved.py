# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What live tests allow for a busy machine is what threads waited for a CPU, and no more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import starved
from made_analysis import Relay, make
from starved import CpuWaits, largest
from thread_samples import MS, samples

from strata.analysis import Analysis


def waits(place: Path, lines: str, monkeypatch: pytest.MonkeyPatch) -> CpuWaits:
    monkeypatch.setattr(starved, "clock_offset_ns", lambda _: 0)
    samples(place, lines)
    return CpuWaits.of(place)


LINES = """
    0   1.1 cpu 5 wait 1 slices 3
    100 1.1 cpu 9 wait 31 slices 4
    100 1.2 cpu 0 wait 500 slices 1
    400 1.1 cpu 9 wait 281 slices 5
"""


def test_waits_are_bounded_by_their_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = waits(tmp_path, LINES, monkeypatch)
    # 30 ms within 0 to 100; 250 ms that ended before 400; nothing is known before a first sample.
    begin = np.array([10, 90, 120, 160, 410, 0]) * MS
    end = np.array([20, 100, 150, 300, 500, 400]) * MS
    assert (found.most(begin, end) / MS).tolist() == [10, 10, 0, 140, 0, 280]
    assert found.share(0, 100 * MS) == pytest.approx(30 / 34)


@pytest.fixture
def relay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Analysis:
    """A chain whose bottleneck is a hold, by what was planted."""
    return make(Relay(hops=2, messages=50, work_ns={0: 30 * MS}))


def test_a_wrong_verdict_fails_on_an_idle_machine_and_on_a_busy_one(
    relay: Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (chain,) = {found.chain for found in relay.bottlenecks if found.chain_id == 0}
    told = relay.bottlenecks[0]
    idle, busy = 0.0, 2.0 * MS
    other = relay.blame[relay.blame["where"] != told.where].iloc[0]
    for waited in (idle, busy):
        monkeypatch.setattr(starved, "chain_waits", lambda *_, known=waited: known)
        assert largest(tmp_path, relay, chain, told.layer, told.where) == told.typical_ns
        with pytest.raises(AssertionError):
            largest(tmp_path, relay, chain, other["layer"], other["where"])
        with pytest.raises(AssertionError):
            largest(tmp_path, relay, chain, told.layer, "elsewhere")
