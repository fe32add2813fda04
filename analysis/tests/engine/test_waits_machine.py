# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Waits, what hung at the end and threads that are two: as the model has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import model.test_executions
import model.test_executors
import numpy as np
import pyarrow as pa
import pytest
from against_model import CHUNKS, Run, ros2_samples, run_engine
from hypothesis import given
from hypothesis import strategies as st
from work_events import play, scenes_of, work

from strata.engine.windows import NO_LOSSES, Windows
from strata.model.build import Model
from strata.model.columns import EventColumns
from strata.model.entities import build_entities
from strata.model.executions import Waits, open_waits, pair_executions, pair_waits
from strata.model.facts import TableFacts
from strata.model.last_seen import host_ends, ran_until
from strata.model.nesting import count_contradictory_nesting
from strata.model.thread_cpu import no_samples
from strata.model.timeline import Timeline
from strata.read import open_trace
from strata.schema.quality import Ledger


def compare(
    tables: Mapping[str, pa.Table], losses: Windows = NO_LOSSES, chunks: tuple[int, ...] = CHUNKS
) -> None:
    ledger = Ledger()
    events = EventColumns(dict(tables), ledger)
    timeline = Timeline(events)
    callbacks = build_entities(events).callbacks
    executions = pair_executions(events, timeline, callbacks, Ledger(), losses)
    count_contradictory_nesting(events, executions, ledger)
    known = cast(
        Model,
        SimpleNamespace(
            events=events,
            timeline=timeline,
            executions=executions,
            losses=losses,
            cpu=no_samples(),
            processes=events.processes,
        ),
    )
    cast(Any, known).facts = TableFacts(known)
    ends_ns = host_ends(known) if len(timeline) else np.empty(0, np.int64)
    for chunk_rows in chunks:
        run = run_engine(tables, losses, chunk_rows=chunk_rows, processes=events.processes)
        found = {name: np.asarray(column) for name, column in run.engine.waits().items()}
        assert _of_run(run, found) == _of_model(pair_waits(events, timeline))
        last = open_waits(timeline, ends_ns, losses)
        assert _of_run(run, run.rows["open_waits"]) == _of_model(last)
        code = "contradictory_nesting"
        assert run.findings[code] == ledger.counts.get(code, 0)
        if len(executions):
            _assert_hanging(run, known)


def _of_run(run: Run, rows: dict[str, Any]) -> list[tuple[int, ...]]:
    columns = (run.thread_of_model[rows["thread"]], rows["start_ns"], rows["end_ns"])
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def _of_model(waits: Waits) -> list[tuple[int, ...]]:
    columns = (waits.thread, waits.start_ns, waits.end_ns)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def _assert_hanging(run: Run, known: Model) -> None:
    rows, hanging = run.rows["executions"], run.rows["hanging_executions"]
    until_ns = rows["until_ns"].copy()
    own = hanging["execution"]
    seen_ns = np.minimum(hanging["seen_ns"], hanging["lost_ns"])
    until_ns[own] = np.maximum(until_ns[own], seen_ns)
    order = np.lexsort((rows["start_at"], run.thread_of_model[rows["thread"]]))
    assert until_ns[order].tolist() == ran_until(known).tolist()


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(name: str, sample: Callable[[str], Path]) -> None:
    compare(open_trace(sample(name)).tables(), chunks=(10_000,))


@pytest.mark.parametrize("test", scenes_of(model.test_executions, model.test_executors))
def test_scenes(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    play(test, monkeypatch, compare)


@given(st.integers(0, (1 << 32) - 1))
def test_any_order(seed: int) -> None:
    tables, losses = work(Random(seed))
    compare(tables, losses, (7,))
