# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Readers that come after the writes: until they are sent a message, it waits in the history."""

from __future__ import annotations

from pathlib import Path

import pytest
from chain_truth import check_sums, ns, of_topic, truth
from recorder import Recorder
from starved import waits_of

pytestmark = pytest.mark.live

PROGRAM = Path(__file__).parent / "programs/late_joiners.py"
MESSAGES, JOINERS = 5, 4
MS = 1_000_000


def test_what_was_written_before_a_reader_was_matched_waits_in_the_history(
    recorded: Recorder,
) -> None:
    line = ["python3", PROGRAM, recorded.place / "session/truth", str(MESSAGES), str(JOINERS)]
    session, analysis = recorded.run(line, config="full", profile="fastdds_shm")
    check_sums(analysis)
    found = of_topic(analysis, "/kept")
    assert len(found) == MESSAGES * JOINERS
    sent = ns(truth(session, "writer", "publish")["t_mono_ns"])
    chain_ids = analysis.chains.set_index("nodes")["chain_id"]
    for number in range(JOINERS):
        joiner = f"joiner_{number}"
        messages = found[found["subscription_node"] == f"/{joiner}"]
        turn = int(truth(session, joiner, "turn")["t_mono_ns"].iloc[0])
        came = ns(truth(session, joiner, "cb_start")["t_mono_ns"])
        history, after = ns(messages["history_ns"].fillna(-1)), came - sent
        # It was sent some time after its reader's turn, and all else took little.
        assert (turn - sent < history).all(), joiner
        assert (history < after).all(), joiner
        rest = after - history - waits_of(session, messages)
        assert (rest < 10 * MS).all(), (joiner, rest)
        assert messages["dds_write_ns"].isna().all()
        chain_id = chain_ids[f"/writer -> /{joiner}"]
        (told,) = (each for each in analysis.bottlenecks if each.chain_id == chain_id)
        assert (told.layer, told.where) == ("history", f"/kept to /{joiner}")
