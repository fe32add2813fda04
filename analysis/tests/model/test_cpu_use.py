# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long threads had a CPU in callbacks: exactly by kernel events, within bounds by samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_scene import kernel_tables
from scene import BASE, Scene
from thread_samples import INTERVAL, MS, samples

from strata.analysis import Analysis
from strata.model.build import Model
from strata.model.cpu_use import callback_cpu_use
from strata.model.executor_frames import executor_threads_rows
from strata.model.frames import callback_instances_rows, callback_objects_rows
from strata.model.of_tables import model_of_tables
from strata.model.thread_cpu_frames import thread_cpu_rows
from strata.model.thread_states import State
from strata.read.thread_cpu import read_thread_cpu
from strata.stats.callbacks import callback_table

Row = dict[str, Any]


def spinning(lines: str) -> Scene:
    """Thread 2.2, whose executor waits for work from 1 on; callbacks f, g and h are known."""
    scene = Scene()
    for topic, symbol in (("/t", "f"), ("/u", "g"), ("/v", "h")):
        scene.subscription(topic, node="/sink", pid=2, symbol=symbol)
    scene.play(lines)
    return scene


def callbacks(model: Model) -> dict[str, Row]:
    cpu = {name: values.tolist() for name, values in callback_cpu_use(model).columns.items()}
    rows = callback_table(callback_objects_rows(model), callback_instances_rows(model), cpu)
    return {row["symbol"]: row for row in rows.records()}


def thread(model: Model) -> Row:
    (row,) = (row for row in executor_threads_rows(model).records() if row["vtid"] == 2)
    return row


def test_kernel_events_tell_it_to_the_nanosecond() -> None:
    made = spinning("""
        90  2.2 wait
        95  2.2 ready
        100 2.2 callback_start f
        160 2.2 callback_start g
        190 2.2 callback_end g
        200 2.2 callback_end f
        210 2.2 callback_start h
        220 2.2 callback_end h
        225 2.2 wait
        300 2.2 ready
    """)
    # It had a CPU from 50 to 120, 150 to 170 and from 185 on; from 170 to 180 it slept.
    events = kernel_tables("""
        50  cpu0 9 S 2
        120 cpu0 2 R 9
        150 cpu0 9 S 2
        170 cpu0 2 S 9
        180 cpu1 wake 2 cpu0
        185 cpu0 9 S 2
        400 cpu0 2 S 9
    """)
    model = model_of_tables(made.tables() | events)
    found = callbacks(model)
    # What runs inside a callback is part of it.
    ran = {"f": 20 + 20 + 15, "g": 10 + 5, "h": 10}
    assert {symbol: row["cpu_ns"] for symbol, row in found.items()} == ran
    for symbol, took in {"f": 100, "g": 30, "h": 10}.items():
        row = found[symbol]
        assert (row["cpu_least_ns"], row["cpu_most_ns"]) == (ran[symbol], ran[symbol])
        assert (row["cpu_known_ns"], row["cpu_confidence"]) == (took, "exact")
        assert row["cpu_share"] == ran[symbol] / took
    own = thread(model)
    span = own["end_ns"] - own["begin_ns"]
    assert own["executing_ns"] == 100 + 10
    assert own["cpu_known_ns"] == span
    # All its time but the 30 in which it was preempted, the 10 asleep and the 5 in the queue.
    assert own["cpu_ns"] == span - 45


def test_what_kernel_events_do_not_cover_is_no_part_of_the_share() -> None:
    made = spinning("""
        90  2.2 wait
        95  2.2 ready
        100 2.2 callback_start f
        200 2.2 callback_end f
        205 2.2 wait
        300 2.2 ready
    """)
    # Its first event of the scheduler is a wake-up at 150: before that nothing is known of it.
    events = kernel_tables("""
        140 cpu1 8 S 9
        150 cpu0 9 R 2
        180 cpu0 2 R 9
        190 cpu0 9 S 2
        260 cpu0 2 S 9
    """)
    found = callbacks(model_of_tables(made.tables() | events))["f"]
    assert (found["cpu_ns"], found["cpu_confidence"]) == (30 + 10, "exact")
    assert found["cpu_known_ns"] < 100
    assert found["cpu_share"] == 40 / found["cpu_known_ns"]


def test_nothing_is_said_where_nothing_tells() -> None:
    made = spinning("90 2.2 wait\n95 2.2 ready\n100 2.2 callback_start f\n200 2.2 callback_end f")
    model = model_of_tables(made.tables())
    for row in (callbacks(model)["f"], thread(model)):
        for name in ("ns", "least_ns", "most_ns", "known_ns", "share", "confidence"):
            assert row[f"cpu_{name}"] is None


lengths = st.lists(st.integers(1, 60), min_size=3, max_size=30)


@settings(deadline=None, max_examples=60)
@given(lengths, lengths, st.randoms(use_true_random=False))
def test_sums_hold_whatever_the_scheduler_did(
    calls: Sequence[int], turns: Sequence[int], random: Any
) -> None:
    """Against a count of each nanosecond, and no more than the thread ran at all."""
    lines, now = ["10 2.2 wait", "20 2.2 ready"], 30
    for at, length in enumerate(calls):
        lines += [f"{now} 2.2 callback_start {'fgh'[at % 3]}"]
        lines += [f"{now + length} 2.2 callback_end {'fgh'[at % 3]}"]
        now += length + random.randint(1, 40)
    lines += [f"{now} 2.2 wait", f"{now + 50} 2.2 ready"]
    kernel, ns, runs = [], 5, False
    for length in turns:
        runs = not runs
        left, came = ("9", "2") if runs else ("2", "9")
        kernel.append(f"{ns} cpu0 {left} {random.choice('RS')} {came}")
        ns += length
    events = kernel_tables("\n".join(kernel))
    model = model_of_tables(spinning("\n".join(lines)).tables() | events)
    found, own = callbacks(model), thread(model)
    states, executions = model.scheduling.intervals, model.executions
    by_ns = np.full(20_000, int(State.UNKNOWN))
    for begin, end, state in zip(states.start_ns, states.end_ns, states.state, strict=True):
        by_ns[begin - BASE : end - BASE] = state
    for row in found.values():
        callback = row["callback_id"]
        of = executions.callback == callback
        spans = zip(executions.start_ns[of], executions.end_ns[of], strict=True)
        every = np.concatenate([by_ns[begin - BASE : end - BASE] for begin, end in spans])
        known_ns = int((every != State.UNKNOWN).sum())
        assert row["cpu_known_ns"] == (known_ns or None)
        if known_ns:
            assert row["cpu_ns"] == (every == State.RUNNING).sum()
            assert row["cpu_least_ns"] == row["cpu_ns"] == row["cpu_most_ns"]
    assert sum(row["duration_mean_ns"] * row["count"] for row in found.values()) == pytest.approx(
        own["executing_ns"]
    )
    if own["cpu_ns"] is not None:
        in_callbacks = sum(row["cpu_ns"] or 0 for row in found.values())
        assert in_callbacks <= own["cpu_ns"] <= own["cpu_known_ns"]
        (whole,) = (row for row in thread_cpu_rows(model).records() if row["vtid"] == 2)
        assert own["cpu_ns"] <= whole["on_cpu_ns"]


def sampled(scene: Scene, lines: str) -> Model:
    with TemporaryDirectory() as place:
        samples(Path(place) / "s", lines)
        read = read_thread_cpu(Path(place) / "s")
    assert read is not None
    return model_of_tables(scene.tables(), cpu=(read, BASE))


def test_samples_estimate_by_the_time_in_which_the_thread_was_needed() -> None:
    made = spinning(f"""
        {1 * MS}   2.2 wait
        {110 * MS} 2.2 ready
        {110 * MS} 2.2 callback_start f
        {140 * MS} 2.2 callback_end f
        {140 * MS} 2.2 callback_start g
        {150 * MS} 2.2 callback_end g
        {150 * MS} 2.2 wait
        {390 * MS} 2.2 ready
    """)
    # From 100 to 200 it ran 20 ms and was needed for 40, of which f has 30 and g 10.
    model = sampled(
        made,
        """
        0   2.2 cpu 1  wait 0 slices 1
        200 2.2 cpu 21 wait 4 slices 9
        400 2.2 cpu 22 wait 4 slices 10
        """,
    )
    found, own = callbacks(model), thread(model)
    f, g = found["f"], found["g"]
    assert f["cpu_confidence"] == g["cpu_confidence"] == own["cpu_confidence"] == "estimated"
    assert (f["cpu_ns"], f["cpu_least_ns"], f["cpu_most_ns"]) == (15 * MS, 0, 20 * MS)
    assert (g["cpu_ns"], g["cpu_least_ns"], g["cpu_most_ns"]) == (5 * MS, 0, 10 * MS)
    assert f["cpu_share"] == g["cpu_share"] == 0.5
    # The window from 300 to 400 lies in it but for its last 10 ms.
    assert own["cpu_least_ns"] == 20 * MS
    assert 20 * MS <= own["cpu_ns"] <= own["cpu_most_ns"] <= 22 * MS


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 90), min_size=4, max_size=40), st.randoms(use_true_random=False))
def test_samples_bound_what_was_true(lengths: Sequence[int], random: Any) -> None:
    """A thread of which each millisecond is known, sampled as the sampler does."""
    total = (sum(lengths) // INTERVAL + 2) * INTERVAL
    truth = np.zeros(total, bool)
    lines, now = ["0 2.2 wait"], 1
    spans: dict[str, list[tuple[int, int]]] = {"f": [], "g": [], "h": []}
    for at, length in enumerate(lengths[1:]):
        symbol, end = "fgh"[at % 3], now + length
        lines.append(f"{now * MS} 2.2 ready")
        lines.append(f"{now * MS} 2.2 callback_start {symbol}")
        lines.append(f"{end * MS} 2.2 callback_end {symbol}")
        lines.append(f"{end * MS} 2.2 wait")
        spans[symbol].append((now, end))
        busy = random.random()
        truth[now:end] = [random.random() < busy for _ in range(length)]
        now = end + random.randint(0, 3)
        if now >= total - INTERVAL:
            break
    lines.append(f"{(now + 1) * MS} 2.2 ready")
    # It began to run before the first sample, as each thread that is seen in it.
    every = [
        f"{ms} 2.2 cpu {1 + int(truth[:ms].sum())} wait 0 slices {1 + ms}"
        for ms in range(0, total, INTERVAL)
    ]
    model = sampled(spinning("\n".join(lines)), "\n".join(every))
    for symbol, row in callbacks(model).items():
        inside = sum(int(truth[begin:end].sum()) for begin, end in spans[symbol]) * MS
        whole = sum(end - begin for begin, end in spans[symbol]) * MS
        if row["cpu_known_ns"] == whole:
            assert row["cpu_least_ns"] <= inside <= row["cpu_most_ns"]
            assert row["cpu_least_ns"] <= row["cpu_ns"] <= row["cpu_most_ns"] <= whole
    own = thread(model)
    begin, end = ((own[name] - BASE) // MS for name in ("begin_ns", "end_ns"))
    if own["cpu_known_ns"] == own["end_ns"] - own["begin_ns"]:
        inside = int(truth[begin:end].sum()) * MS
        assert own["cpu_least_ns"] <= inside <= own["cpu_most_ns"]


def test_kernel_events_are_preferred_to_samples() -> None:
    made = spinning(f"""
        {1 * MS}   2.2 wait
        {110 * MS} 2.2 ready
        {110 * MS} 2.2 callback_start f
        {140 * MS} 2.2 callback_end f
    """)
    events = kernel_tables(f"{50 * MS} cpu0 9 S 2\n{120 * MS} cpu0 2 R 9\n{400 * MS} cpu0 9 S 2")
    with TemporaryDirectory() as place:
        samples(Path(place) / "s", "0 2.2 cpu 1 wait 0 slices 1\n200 2.2 cpu 21 wait 4 slices 9")
        read = read_thread_cpu(Path(place) / "s")
    assert read is not None
    model = model_of_tables(made.tables() | events, cpu=(read, BASE))
    assert callbacks(model)["f"]["cpu_ns"] == 10 * MS
    assert callbacks(model)["f"]["cpu_confidence"] == "exact"


def test_a_recorded_session_tells_it_of_threads_and_callbacks(
    analysis_of: Callable[[str], Analysis],
) -> None:
    analysis = analysis_of("throws_rclpy")
    threads = list(analysis.rows("executor_threads").records())
    whole = {row["vtid"]: row for row in analysis.rows("thread_cpu").records()}
    assert len(threads) == 3
    for row in threads:
        assert row["cpu_confidence"] == "estimated"
        assert row["cpu_least_ns"] <= row["cpu_ns"] <= row["cpu_most_ns"] <= row["cpu_known_ns"]
        # It ran no longer than the kernel counted for it in all.
        assert row["cpu_least_ns"] <= whole[row["vtid"]]["on_cpu_ns"]
        # Each of these threads is seen from its begin on, and busy for less than a tenth.
        assert row["cpu_known_ns"] >= 0.98 * (row["end_ns"] - row["begin_ns"])
        assert 0.01 < row["cpu_share"] < 0.1
    least = sum(row["cpu_least_ns"] for row in analysis.rows("callbacks").records())
    assert least <= sum(row["cpu_most_ns"] for row in threads)
    for row in analysis.rows("callbacks").records():
        assert row["cpu_known_ns"] <= row["duration_mean_ns"] * row["duration_count"] + 1
        assert 0 < row["cpu_share"] <= 1
    # It computes for 5 ms in each callback; the others mostly wait for what they took.
    shares = {row["node"]: row["cpu_share"] for row in analysis.rows("callbacks").records()}
    assert shares["/planner"] > 0.85
    assert max(shares["/camera"], shares["/detector"]) < 0.5
