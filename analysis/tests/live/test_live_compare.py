# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Two recordings of the relay chain, the second with work in one relay: which layer is slower?"""

from __future__ import annotations

import pytest
from recorder import Recorder

from strata.comparison.comparison import Verdict, compare_sides
from strata.comparison.runs import CHAIN, HOP, Run, measure_run
from strata.comparison.sides import Side

pytestmark = pytest.mark.live

WORK_NS = 5_000_000


def test_planted_work_is_blamed_on_its_relay(recorded: Recorder) -> None:
    def run(name: str, *work: str) -> Run:
        _, analysis = recorded("--messages", "80", "--rate", "50", *work, name=name)
        return measure_run(analysis, name)

    plain, worked = run("plain"), run("worked", "--work", "relay_1=5")
    comparison = compare_sides(Side("plain", (plain,)), Side("worked", (worked,)))
    blocks = {(block.subject.kind, block.subject.name): block for block in comparison.blocks}
    hop = blocks[HOP, "/chain_1"]
    largest = hop.layers[0]
    assert (largest.layer, largest.verdict) == ("callback", Verdict.SLOWER)
    assert largest.difference is not None
    # A busy machine makes the work longer, never shorter.
    assert WORK_NS * 0.9 < largest.difference.shift.value < WORK_NS * 3
    (chain,) = (block for block in comparison.blocks if block.subject.kind == CHAIN)
    assert chain.whole.verdict is Verdict.SLOWER
    held = chain.layers[0]
    assert (held.layer, held.place, held.verdict) == ("hold", "/relay_1", Verdict.SLOWER)
    # Whatever else the machine did, no other layer of the chain was moved by as much.
    others = [abs(row.mean_ns) for row in chain.layers[1:]]
    assert max(others) < held.mean_ns
