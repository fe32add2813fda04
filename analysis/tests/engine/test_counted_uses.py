# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What became of every event: as the NumPy model counts it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import model.test_cut_traces
import model.test_driver
import model.test_driver_links
import model.test_event_uses
import model.test_executions
import model.test_executors
import model.test_loans
import model.test_publications
import model.test_ring_buffers
import model.test_service_calls
import model.test_suspensions
import numpy as np
import pyarrow as pa
import pytest
from against_model import CHUNKS, ros2_samples, run_engine
from driver_events import driver_work
from hypothesis import given
from hypothesis import strategies as st
from model.test_driver_interleavings import Played
from model.test_driver_interleavings import worlds as driver_worlds
from model.test_service_interleavings import Call, a_call
from model.test_service_interleavings import play as play_calls
from model.worlds import Recording, record, worlds
from ring_events import ring_work
from service_events import traffic
from work_events import play, scenes_of, work

from strata.engine.windows import NO_LOSSES, Windows
from strata.model.build import build_model
from strata.model.event_uses import event_uses
from strata.read import open_trace
from strata.schema.event_uses import USES
from strata.schema.quality import Ledger

# In any order, what hooks tell of calls takes the place of other events of the model only.
_OF_CALLS = ("ros2:rmw_send_re", "ros2:rmw_take_re")


def compare(
    tables: Mapping[str, pa.Table],
    losses: Windows = NO_LOSSES,
    chunks: tuple[int, ...] = CHUNKS,
    only: tuple[str, ...] = ("",),
) -> None:
    """Compare the uses of events whose names begin with `only`."""
    model = build_model(dict(tables), Ledger(), losses)
    known = {
        (use.event, use.used, use.text): use.count
        for use in event_uses(model)
        if use.event.startswith(only)
    }
    # The model counts no event of a name by which it has others that hooks told.
    told = {name for name in model.events.names if model.events.stand_ins(name).any()}
    for chunk_rows in chunks:
        run = run_engine(tables, losses, chunk_rows=chunk_rows)
        found = {
            (event, used, text): count
            for event, used, text, count in run.engine.event_uses
            if event not in told and event.startswith(only)
        }
        assert found == known


def test_uses_are_declared() -> None:
    assert len({use.code for use in USES}) == len(USES)
    assert len({use.text for use in USES}) == len(USES)


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(name: str, sample: Callable[[str], Path]) -> None:
    compare(open_trace(sample(name)).tables(), chunks=(10_000,))


@pytest.mark.parametrize(
    "test",
    scenes_of(
        model.test_cut_traces,
        model.test_driver,
        model.test_driver_links,
        model.test_event_uses,
        model.test_executions,
        model.test_executors,
        model.test_loans,
        model.test_publications,
        model.test_ring_buffers,
        model.test_service_calls,
        model.test_suspensions,
    ),
)
def test_scenes(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    play(test, monkeypatch, compare)


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(worlds().map(record))
def test_worlds(chunk_rows: int, recording: Recording) -> None:
    compare(recording.tables(), chunks=(chunk_rows,))


@given(worlds().map(record), st.randoms(use_true_random=False))
def test_worlds_with_lost_events(recording: Recording, chance: object) -> None:
    kept = recording.without(lambda _event, _row: chance.random() < 0.2)  # type: ignore[attr-defined]
    compare(kept.tables(), chunks=(7,))


@given(st.integers(0, (1 << 32) - 1))
def test_any_order(seed: int) -> None:
    tables, losses = work(Random(seed))
    compare(tables, losses, (7,))


@given(st.integers(0, (1 << 32) - 1))
def test_any_order_of_ring_buffers(seed: int) -> None:
    tables, losses = ring_work(Random(seed))
    compare(tables, losses, (7,))


@given(st.integers(0, (1 << 32) - 1))
def test_any_order_of_drivers(seed: int) -> None:
    tables, losses = driver_work(Random(seed))
    compare(tables, losses, (7,))


@given(st.lists(a_call(lossy=True), max_size=15), st.frozensets(st.integers(0, 1)))
def test_interleaved_calls(calls: list[Call], unknown: frozenset[int]) -> None:
    compare(play_calls(calls, unknown)[0].tables(), chunks=(7,))


@given(st.integers(0, (1 << 32) - 1))
def test_any_order_of_service_calls(seed: int) -> None:
    tables, losses = traffic(Random(seed))
    compare(tables, losses, (7,), only=_OF_CALLS)


@given(driver_worlds(), st.sets(st.integers(0, 60)))
def test_worlds_of_drivers(played: Played, lost: set[int]) -> None:
    every = sorted({row["timestamp"] for rows in played.scene.rows.values() for row in rows})
    at = np.asarray([ns for place, ns in enumerate(every) if place in lost], np.int64)
    tables = played.without(set(at.tolist()).__contains__).tables()
    compare(tables, (at, at), (7,))
