# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Blame of what held threads up: of a real trace, beside which a kernel's is made."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lttng_world import events
from rich.console import Console
from table_rows import rows_of

import strata
from strata.analysis import Analysis
from strata.read import open_trace
from strata.record.kernel.ctf import KernelTrace, Origin
from strata.record.kernel.events import PERF_EVENTS
from strata.record.kernel.text import Batch, Block, Lost
from strata.schema.tables.scheduling import LAYER_SCHEDULING, PREEMPTIONS, SCHEDULING_STATS
from strata.schema.tables.threads import CPU_USE_NAMES
from strata.show.document.analysis import document
from strata.show.terminal.analysis import print_analysis
from strata.stats.bottleneck import cause
from strata.stats.scheduling import held_up_by
from strata.symbols import shorten_place

SWITCH, WAKING = PERF_EVENTS[0], PERF_EVENTS[1]
RIVAL = 99_999
RUNS_NS, RIVAL_NS, SLEEPS_NS = 700_000, 200_000, 100_000


def kernel_beside(trace: Path, *, lost: int = 0) -> None:
    """Write what a kernel might say of the trace's only busy thread.

    In each millisecond it runs, is preempted by a rival, and sleeps.
    """
    before = strata.analyze(trace)
    tid = int(before.takes["vtid"].mode().iloc[0])
    opened = open_trace(trace)
    offset = next(iter(opened.clock_offsets_ns.values()))
    period = RUNS_NS + RIVAL_NS + SLEEPS_NS
    begin = np.arange(before.trace.begin_ns - period, before.trace.end_ns + period, period) - offset
    count = len(begin)
    # It goes to sleep 10 ns after it has the CPU back.
    steps = [0, RUNS_NS, RUNS_NS + RIVAL_NS, RUNS_NS + RIVAL_NS + 10]
    times = np.repeat(begin, 4) + np.tile(steps, count)
    leaves = np.tile([0, tid, RIVAL, tid], count)
    comes = np.tile([tid, RIVAL, tid, 0], count)
    states = np.tile([0, 0, 1, 1], count)
    names = {0: b"swapper/0", tid: b"node", RIVAL: b"rival"}
    size = len(times)
    switches = {
        "prev_comm": np.array([names[item] for item in leaves], "S16"),
        "prev_tid": leaves.astype("<i4"),
        "prev_prio": np.full(size, 120, "<i4"),
        "prev_state": states.astype("<i8"),
        "next_comm": np.array([names[item] for item in comes], "S16"),
        "next_tid": comes.astype("<i4"),
        "next_prio": np.full(size, 120, "<i4"),
    }
    woken = {
        "comm": np.full(count, b"node", "S16"),
        "tid": np.full(count, tid, "<i4"),
        "prio": np.full(count, 120, "<i4"),
        "target_cpu": np.zeros(count, "<i4"),
    }
    block = Block(
        [
            Batch(SWITCH, times, np.zeros(size, np.int64), switches),
            Batch(WAKING, begin - 5, np.zeros(count, np.int64), woken),
        ],
        {0: Lost(lost, int(times[-1]))} if lost else {},
        0,
    )
    origin = Origin(before.nodes["host"].iloc[0], "made", "6.1", offset, "")
    with KernelTrace(trace / "kernel", [SWITCH, WAKING], origin) as written:
        written.write(block)


@pytest.fixture
def with_kernel(own_sample: Callable[[str], Path]) -> Path:
    trace = own_sample("fast_relay1p_st")
    kernel_beside(trace)
    return trace


def test_kernel_events_change_nothing_but_what_they_tell(
    with_kernel: Path, analysis_of: Callable[[str], Analysis]
) -> None:
    found, plain = strata.analyze(with_kernel), analysis_of("fast_relay1p_st")
    for table in ("messages", "chains", "chain_segments", "chain_layers", "hops", "callbacks"):
        told = [] if table != "callbacks" else list(CPU_USE_NAMES)
        frames = (getattr(analysis, table).drop(columns=told) for analysis in (found, plain))
        pd.testing.assert_frame_equal(*frames)
    assert found.trace.processes == plain.trace.processes
    assert plain.layer_scheduling.empty
    assert plain.chain_scheduling.empty
    # The middleware's own threads, which nothing was made for.
    told = {"threads_without_kernel_events"}
    assert set(found.quality["code"]) - set(plain.quality["code"]) == told


def ran_before(ns: np.ndarray, begin_ns: int) -> np.ndarray:
    """How long the thread of `kernel_beside` ran from `begin_ns` to each instant."""
    whole, rest = np.divmod(ns - begin_ns, RUNS_NS + RIVAL_NS + SLEEPS_NS)
    own = np.minimum(rest, RUNS_NS) + np.clip(rest - RUNS_NS - RIVAL_NS, 0, 10)
    return whole * (RUNS_NS + 10) + own


def test_cpu_use_is_exact_and_adds_up(with_kernel: Path) -> None:
    found = strata.analyze(with_kernel)
    # The first event of all is the wake-up before the thread has the CPU.
    first_ns = found.trace.begin_ns + 5
    (thread,) = found.rows("executor_threads").records()
    callbacks = found.callbacks.set_index("callback_id")
    runs = found.callback_instances[found.callback_instances["end_ns"].notna()]
    start_ns, end_ns = (runs[name].to_numpy(np.int64) for name in ("start_ns", "end_ns"))
    ran = ran_before(end_ns, first_ns) - ran_before(start_ns, first_ns)
    expected = pd.Series(ran).groupby(runs["callback_id"].to_numpy()).sum()
    took = pd.Series(end_ns - start_ns).groupby(runs["callback_id"].to_numpy()).sum()
    assert callbacks["cpu_ns"].tolist() == expected.loc[callbacks.index].tolist()
    assert callbacks["cpu_known_ns"].tolist() == took.loc[callbacks.index].tolist()
    bounds = ran_before(np.array([thread["begin_ns"], thread["end_ns"]]), first_ns)
    assert thread["cpu_ns"] == bounds[1] - bounds[0]
    assert thread["cpu_known_ns"] == thread["end_ns"] - thread["begin_ns"]
    for row in (thread, *found.rows("callbacks").records()):
        assert row["cpu_least_ns"] == row["cpu_ns"] == row["cpu_most_ns"]
        assert row["cpu_confidence"] == "exact"
        assert row["cpu_share"] == row["cpu_ns"] / row["cpu_known_ns"]
    # Beside the busy share, which is of wall time.
    assert thread["executing_ns"] == took.sum()
    assert expected.sum() <= thread["cpu_ns"]


def test_tables_of_kernel_events_are_as_declared(with_kernel: Path) -> None:
    found = strata.analyze(with_kernel)
    for table in (LAYER_SCHEDULING, PREEMPTIONS, SCHEDULING_STATS):
        frame = getattr(found, table.name)
        assert list(frame.columns) == table.names
        assert len(frame) > 0
        assert not frame.duplicated(list(table.key)).any()


def test_shares_add_up_and_causes_are_named_with_their_place(with_kernel: Path) -> None:
    found = strata.analyze(with_kernel)
    for _, rows in found.blame.groupby("chain_id"):
        assert rows["share_p50"].sum() == pytest.approx(1)
        assert rows["share_p99"].sum() == pytest.approx(1)
        assert (rows[["typical_ns", "tail_ns"]] >= 0).all(axis=None)
    whole = found.layer_scheduling
    assert (whole[["running_ns", "preempted_ns", "blocked_ns", "unknown_ns"]] >= 0).all(axis=None)
    held = found.blame[found.blame["where"].str.startswith(f"preempted by rival ({RIVAL}) in ")]
    assert {"hold", "callback"} <= set(held["layer"])
    row = held.iloc[0]
    assert cause(row["layer"], row["where"]) == f"{row['layer']} {shorten_place(row['where'])}"
    assert f"({RIVAL}) in " in shorten_place(row["where"])


def test_statistics_of_a_chain_say_who_had_the_cpu(with_kernel: Path) -> None:
    found = strata.analyze(with_kernel)
    rows = found.chain_scheduling
    layers = found.chain_layers.set_index(["chain_id", "position"])
    means = rows[[f"{state}_mean_ns" for state in ("running", "preempted", "blocked", "unknown")]]
    whole = rows["layer"].isin(["hold", "callback"])
    expected = [
        layers.loc[(row["chain_id"], row["position"]), "mean_ns"]
        for row in rows[whole].to_dict("records")
    ]
    assert means[whole].sum(axis=1).to_numpy() == pytest.approx(np.array(expected))
    assert (rows.loc[whole, "preempted_by"] == f"preempted by rival ({RIVAL})").any()
    assert (rows["count"] > 0).all()


def test_text_and_json_tell_of_threads_only_where_there_are_kernel_events(
    with_kernel: Path, analysis_of: Callable[[str], Analysis]
) -> None:
    found, plain = strata.analyze(with_kernel), analysis_of("fast_relay1p_st")
    (chain, *_), (other, *_) = document(found)["chains"], document(plain)["chains"]
    assert [row["layer"] for row in chain.pop("threads")].count("hold") == 3
    assert "threads" not in other
    assert {**chain, "blame": None} == {**other, "blame": None}
    text, without = io.StringIO(), io.StringIO()
    print_analysis(found, Console(file=text, width=160), sections=("layers",))
    print_analysis(plain, Console(file=without, width=160), sections=("layers",))
    assert "threads (means)" in text.getvalue()
    assert f"preempted by rival ({RIVAL})" in text.getvalue()
    assert "THREADS " in text.getvalue()
    assert "threads (means)" not in without.getvalue()
    assert "THREADS " not in without.getvalue()


def test_lost_kernel_events_are_a_loss_of_their_own(own_sample: Callable[[str], Path]) -> None:
    trace = own_sample("fast_relay1p_st")
    kernel_beside(trace, lost=12)
    found = strata.analyze(trace)
    assert found.trace.discarded_events == 0
    losses = found.quality.set_index("code")["count"]
    assert losses["lost_kernel_events"] == 12
    assert "discarded_events" not in losses.index


def test_babeltrace_reads_the_kernel_trace_with_the_others(with_kernel: Path) -> None:
    lines = events(with_kernel / "kernel")
    expected = open_trace(with_kernel / "kernel").tables()
    assert len(lines) == sum(map(len, expected.values()))
    assert any('next_comm = "rival"' in line and "prev_state = 0" in line for line in lines[:50])


def test_the_preemptor_that_is_named_is_the_one_that_ran_longest() -> None:
    layer = {"message_id": 1, "layer": "executor wait"}
    scheduling = rows_of(
        LAYER_SCHEDULING,
        pd.DataFrame(
            [
                {
                    **layer,
                    "vtid": 2,
                    "running_ns": 250_000,
                    "preempted_ns": 43_710_145,
                    "blocked_ns": 7,
                    "unknown_ns": 0,
                }
            ]
        ),
    )
    taken = [
        {**layer, "tid": 16, "comm": "rcu_preempt", "duration_ns": 145},
        {**layer, "tid": 70, "comm": "yes", "duration_ns": 23_710_000},
        {**layer, "tid": 71, "comm": "yes", "duration_ns": 20_000_000},
    ]
    found = held_up_by(scheduling, rows_of(PREEMPTIONS, pd.DataFrame(taken)))
    assert (found.message.tolist(), found.layer.texts().tolist()) == ([1], ["executor wait"])
    assert found.part.texts().tolist() == ["preempted by yes (70) and others"]
    assert found.duration_ns.tolist() == [43_710_145]
    place = f"{found.part.at(0)} in f(int) [/t] (/n)"
    assert shorten_place(place) == "preempted by yes (70) and others in f [/t] (/n)"
    alone = held_up_by(scheduling, rows_of(PREEMPTIONS, pd.DataFrame(taken[:2])))
    assert alone.part.texts().tolist() == ["preempted by yes (70)"]
