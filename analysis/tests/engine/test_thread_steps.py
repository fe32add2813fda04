# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps of threads after losses of events: as the timeline has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import model.test_executions
import model.test_executors
import numpy as np
import pyarrow as pa
import pytest
from against_model import CHUNKS, Run, ros2_samples, run_engine
from hypothesis import given
from hypothesis import strategies as st
from work_events import play, scenes_of, work

from strata.engine.windows import NO_LOSSES, Windows, over_before
from strata.model.columns import EventColumns, Ints
from strata.model.thread_steps import ThreadSteps, find_thread_steps
from strata.model.timeline import Timeline
from strata.read import open_trace
from strata.schema.quality import Ledger


def compare(
    tables: Mapping[str, pa.Table], losses: Windows = NO_LOSSES, chunks: tuple[int, ...] = CHUNKS
) -> None:
    events = EventColumns(dict(tables), Ledger())
    timeline = Timeline(events)
    asked = _asked(timeline, len(events.processes.thread_vtid))
    wanted = _last_steps(timeline, losses, *asked)
    assert find_thread_steps(timeline, losses).losses_over(*asked).tolist() == wanted
    for chunk_rows in chunks:
        run = run_engine(tables, losses, chunk_rows=chunk_rows, processes=events.processes)
        assert _of_engine(run).losses_over(*asked).tolist() == wanted
        last = run.rows["last_steps"]
        last_ns = dict(zip(timeline.thread.tolist(), timeline.ns.tolist(), strict=True))
        threads = run.thread_of_model[last["thread"]].tolist()
        assert dict(zip(threads, last["ns"].tolist(), strict=True)) == last_ns


def _of_engine(run: Run) -> ThreadSteps:
    rows = run.rows["steps_after_losses"]
    return ThreadSteps(run.thread_of_model[rows["thread"]], rows["ns"], rows["over"])


def _asked(timeline: Timeline, threads: int) -> tuple[Ints, Ints]:
    """Every thread at, before and after some steps of all."""
    some = np.unique(timeline.ns)[:: max(1, len(timeline) // 200)]
    at_ns = np.unique(np.concatenate([some - 1, some, some + 1, [-1, 0]]))
    return np.repeat(np.arange(threads), len(at_ns)), np.tile(at_ns, threads)


def _last_steps(timeline: Timeline, losses: Windows, thread: Ints, at_ns: Ints) -> list[int]:
    search = timeline.by_thread
    before = search.position(thread, at_ns, after_equal=True) - 1
    some = before >= search.begin(thread)
    ns = np.append(timeline.ns, 0)[np.maximum(before, 0)]
    over: list[int] = over_before(losses, np.where(some, ns, 0)).tolist()
    return over


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(name: str, sample: Callable[[str], Path]) -> None:
    tables = open_trace(sample(name)).tables()
    ns = np.sort(np.concatenate([table["timestamp"].to_numpy() for table in tables.values()]))
    begins = ns[[len(ns) // 4, len(ns) // 3, len(ns) // 2]]
    compare(tables, (begins, begins + np.asarray([1, 1_000_000_000, 1000])), (10_000,))


@pytest.mark.parametrize("test", scenes_of(model.test_executions, model.test_executors))
def test_scenes(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    play(test, monkeypatch, compare)


@given(st.integers(0, (1 << 32) - 1))
def test_any_order(seed: int) -> None:
    tables, losses = work(Random(seed))
    compare(tables, losses, (7,))
