# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Callbacks that are preempted and blocked, by the scheduler's events and by their own clocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from chain_truth import check_sums
from perf_world import require_perf, whole_cpu
from recorder import Recorder

from strata.analysis import Analysis
from strata.export.perfetto.cpus import occupancies
from strata.read import open_trace
from strata.schema.kernel_events import SCHED_SWITCH

pytestmark = pytest.mark.live

PROGRAM = Path(__file__).parent / "programs" / "held_up.py"
MESSAGES = 30
SLEEP_NS = 10_000_000


def held_up(recorded: Recorder, place: Path, *rival: str) -> tuple[Analysis, pd.DataFrame]:
    """Record the program on one CPU; return the analysis, and a row a callback with its truth."""
    cpu = whole_cpu(require_perf(), place)
    log = place / "held_up.csv"
    line = ["taskset", "-c", str(cpu), "python3", PROGRAM, str(MESSAGES), log, *rival]
    _, analysis = recorded.run(line, options=("--kernel",))
    check_sums(analysis)
    own = analysis.messages[analysis.messages["topic"] == "/numbers"]
    rows = analysis.layer_scheduling[analysis.layer_scheduling["layer"] == "callback"]
    callbacks = own[["message_id", "callback_ns"]].merge(rows, on="message_id")
    truth = pd.read_csv(log)
    assert len(callbacks) == len(truth) == MESSAGES
    whole = pd.concat([callbacks, truth], axis=1)
    parts = whole[["running_ns", "preempted_ns", "blocked_ns", "unknown_ns"]]
    assert (parts >= 0).all(axis=None)
    assert (parts.sum(axis=1) == whole["callback_ns"]).all()
    # Where a switch is missing after all, nothing is claimed.
    known = whole[whole["unknown_ns"] == 0]
    assert len(known) > MESSAGES / 2
    return analysis, known


def test_a_preempted_callback_names_who_had_the_cpu(recorded: Recorder, tmp_path: Path) -> None:
    analysis, found = held_up(recorded, tmp_path, "rival")
    # By the thread's CPU clock, which the callback reads inside; it leaves some interrupts out.
    assert (found["running_ns"] - found["cpu_ns"]).abs().median() < 300_000
    waited = found["wall_ns"] - found["cpu_ns"] - found["slept_ns"]
    working = found["slept_ns"] == 0
    off = (found["preempted_ns"] + found["blocked_ns"] - waited)[working]
    assert off.abs().median() < 500_000
    assert found.loc[working, "preempted_ns"].median() > 5_000_000
    assert found.loc[working, "blocked_ns"].median() < 1_000_000

    by = analysis.preemptions[analysis.preemptions["layer"] == "callback"]
    rival = by[by["comm"] == "yes"]
    assert rival["tid"].nunique() == 1
    # The tracks of CPUs in an exported trace have the rival for at least as long.
    switches = open_trace(analysis.trace.place).tables({SCHED_SWITCH})[SCHED_SWITCH]
    had_ns = sum(
        int((one.end_ns - one.begin_ns)[one.tid == rival["tid"].iloc[0]].sum())
        for one in occupancies(switches)
    )
    assert had_ns >= rival["duration_ns"].sum() > 0
    # Other programs may want the CPU, too.
    assert rival["duration_ns"].sum() > 50_000_000
    blamed = analysis.blame[analysis.blame["layer"] == "callback"]
    assert blamed["where"].str.match(r"preempted by yes \(\d+\) in .*on_number").any()
    assert analysis.blame["share_p50"].sum() == pytest.approx(analysis.chains["chain_id"].nunique())
    (row,) = analysis.chain_scheduling[analysis.chain_scheduling["layer"] == "callback"].to_dict(
        "records"
    )
    assert row["count"] == MESSAGES


def test_a_sleeping_callback_is_blocked(recorded: Recorder, tmp_path: Path) -> None:
    analysis, found = held_up(recorded, tmp_path)
    asleep = found[found["slept_ns"] > 0]
    late = asleep["blocked_ns"] - SLEEP_NS
    # A thread may be preempted after its sleep began: that much of it is not blocked.
    assert (late > -1_000_000).all()
    assert late.median() > -100_000
    assert late.median() < 1_000_000
    assert asleep["running_ns"].median() < 1_000_000
    blamed = analysis.blame[analysis.blame["where"].str.startswith("blocked in ")]
    assert blamed["where"].str.contains("on_number").any()
    assert np.isclose(analysis.blame["share_p99"].sum(), analysis.chains["chain_id"].nunique())
