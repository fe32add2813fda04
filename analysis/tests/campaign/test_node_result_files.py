# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes of a cell wrote themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from strata.study.hop_selection import HopSelection
from strata.study.node_result_files import read_own_files


@pytest.mark.parametrize("lost", [None, 0, 3])
def test_a_loss_that_a_perf_node_cannot_count_is_unknown_and_not_none(
    tmp_path: Path, lost: int | None
) -> None:
    results = tmp_path / "scenario/results"
    results.mkdir(parents=True)
    document = {
        "topic": "/points",
        "samples": 150,
        "warm_up": 10,
        "lost_by_sequence": lost,
        "lost_by_stamp": 162,
    }
    (results / "perf.json").write_text(json.dumps([document]))
    own, findings = read_own_files(tmp_path, HopSelection("*", "*", 10))
    assert findings.counts == {}
    counts = own.of("/perf_node", "/points")
    assert counts is not None
    assert (counts.received, counts.lost, counts.begin, counts.end) == (150, lost, 10, 160)
