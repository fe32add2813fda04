# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Coroutine callbacks of rclpy: one execution, its suspension a layer, its publish linked."""

from __future__ import annotations

from pathlib import Path

import pytest
from chain_truth import check_sums
from recorder import Recorder

PROGRAM = Path(__file__).parent / "programs/awaits.py"
MESSAGES, AWAITED_MS = 20, 100

pytestmark = pytest.mark.live


@pytest.mark.parametrize(("distro", "executor"), [("jazzy", "multi"), ("kilted", "single")])
def test_a_publish_after_an_await_goes_on_with_the_chain(
    recorded: Recorder, distro: str, executor: str
) -> None:
    line = ["python3", PROGRAM, executor, str(MESSAGES), str(AWAITED_MS)]
    _, analysis = recorded.run(line, distro=distro)
    check_sums(analysis)
    assert not (analysis.quality["severity"] == "loss").any()
    assert "unexplained" not in set(analysis.event_uses["use"])
    chain = analysis.chains.set_index("name").loc["/given -> /made"]
    assert chain["count"] == MESSAGES
    layers = analysis.chain_layers[analysis.chain_layers["chain_id"] == chain["chain_id"]]
    suspended = layers[layers["layer"] == "suspended"].iloc[0]
    assert suspended["where"] == "__main__.on_given [/given] (/relay)"
    assert suspended["min_ns"] >= AWAITED_MS * 900_000
    # What it ran is little, though another execution and other callbacks ran in between.
    assert layers.loc[layers["layer"] == "hold", "p50_ns"].iloc[0] < AWAITED_MS * 200_000
    callbacks = analysis.callbacks.set_index("symbol")
    assert callbacks.loc["__main__.on_given", "count"] == MESSAGES
    assert callbacks.loc["__main__.on_given", "duration_count"] == MESSAGES
    blame = next(b for b in analysis.bottlenecks if b.chain == "/given -> /made")
    assert blame.layer == "suspended"
