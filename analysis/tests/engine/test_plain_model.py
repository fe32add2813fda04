# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every declared table of an analysis is the same from the engine's rows as from event tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from random import Random

import model.test_driver
import model.test_driver_links
import model.test_ring_buffers
import numpy as np
import pyarrow as pa
import pytest
from against_model import CHUNKS, ros2_samples, run_engine
from by_tables import read_by_tables
from driver_events import driver_work
from hypothesis import example, given
from hypothesis import strategies as st
from message_results import STAGES
from model.test_driver_interleavings import Played
from model.test_driver_interleavings import worlds as driver_worlds
from model.worlds import Recording, record, worlds
from ring_events import ring_work
from work_events import play, scenes_of, work

from strata.engine.left_out import Unwanted, others_left_out
from strata.engine.tables import EngineTables
from strata.engine.windows import NO_LOSSES, Windows
from strata.model.build import Model, build_model
from strata.onepass.model import model_of_rows
from strata.pipeline import analyze, run
from strata.pipeline.entities import ENTITY_STAGES
from strata.pipeline.messages import Wanted
from strata.pipeline.stages import LEDGER, Made, stage
from strata.read.namespaces import tell_namespaces_apart
from strata.read.processes import leave_out
from strata.schema.quality import Ledger
from strata.schema.rows import Rows
from strata.schema.tables import TABLES


def assert_same_rows(found: Rows, wanted: Rows) -> None:
    name = wanted.table.name
    assert len(found) == len(wanted), name
    for column in wanted.table.columns:
        if column.dtype == "string":
            same = found.texts(column.name) == wanted.texts(column.name)
        else:
            one, other = found[column.name], wanted[column.name]
            same = (one == other) | ((one != one) & (other != other))
        assert np.all(same), f"{name}.{column.name}"


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(name: str, sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = sample(name)
    found = analyze(path)
    monkeypatch.setattr(run, "model_of_trace", read_by_tables)
    wanted = analyze(path)
    for table in TABLES:
        assert_same_rows(found.rows(table.name), wanted.rows(table.name))
    for of in ("trace", "counts", "bottlenecks", "system"):
        assert getattr(found, of) == getattr(wanted, of), of


OF_MODEL = (
    *STAGES,
    *(one for one in ENTITY_STAGES if "trace" not in one.needs and "facts" not in one.needs),
    stage("facts", lambda model, ledger: model.facts.process_facts(ledger), "model", LEDGER),
)


def made_of(model: Model, ledger: Ledger) -> tuple[Made, Ledger]:
    made = Made(OF_MODEL, model=model, wanted=Wanted())
    ledger.merge(made.findings())
    return made, ledger


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(recording=worlds().map(record))
def test_worlds(chunk_rows: int, recording: Recording) -> None:
    assert_same_tables(recording.tables(), chunk_rows)


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(seed=st.integers(0, (1 << 32) - 1))
def test_ring_buffers(chunk_rows: int, seed: int) -> None:
    assert_same_tables(ring_work(Random(seed))[0], chunk_rows)


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(played=driver_worlds())
def test_drivers(chunk_rows: int, played: Played) -> None:
    assert_same_tables(played.scene.tables(), chunk_rows)


@given(st.integers(0, (1 << 32) - 1))
@example(225738532)  # two threads go on with one coroutine at one instant
def test_any_order(seed: int) -> None:
    assert_same_tables(work(Random(seed))[0], 7)


@given(st.integers(0, (1 << 32) - 1), st.data())
def test_any_losses(seed: int, data: st.DataObject) -> None:
    tables = {name: table for name, table in work(Random(seed))[0].items() if len(table)}
    every = [table["timestamp"].to_numpy() for table in tables.values()]
    first, last = min(int(ns.min()) for ns in every), max(int(ns.max()) for ns in every)
    bounds = st.tuples(st.integers(first - 1, last + 1), st.integers(first - 1, last + 1))
    windows = sorted((min(pair), max(pair)) for pair in data.draw(st.lists(bounds, min_size=1)))
    begin, end = np.asarray(windows, np.int64).T
    assert_same_tables(tables, 7, (begin, end))


@given(st.integers(0, (1 << 32) - 1))
def test_any_order_of_drivers(seed: int) -> None:
    assert_same_tables(driver_work(Random(seed))[0], 7)


@pytest.mark.parametrize(
    "test", scenes_of(model.test_ring_buffers, model.test_driver, model.test_driver_links)
)
def test_scenes(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    play(test, monkeypatch, compare)


def compare(tables: Mapping[str, pa.Table], losses: Windows = NO_LOSSES) -> None:
    for chunk_rows in CHUNKS:
        assert_same_tables(tables, chunk_rows, losses)


def assert_same_tables(
    tables: Mapping[str, pa.Table],
    chunk_rows: int,
    losses: Windows = NO_LOSSES,
    *,
    clocks: Mapping[str, str] | None = None,
    left_out: Collection[int] = (),
) -> None:
    tables = {name: table for name, table in tables.items() if len(table)}
    run = run_engine(tables, losses, chunk_rows=chunk_rows, clocks=clocks, left_out=left_out)
    rows = EngineTables(run.engine)
    ledger, known = Ledger(), Ledger()
    model = model_of_rows(rows, ledger, dict(clocks or {}), None, losses)
    found, ledger = made_of(model, ledger)
    kept, others = leave_out(tell_namespaces_apart(tables), left_out)
    wanted, known = made_of(build_model(kept, known, losses, None, clocks), known)
    names = {name for one in OF_MODEL for name in one.gives}
    for table in TABLES:
        if table.name in names:
            assert_same_rows(found[table.name], wanted[table.name])
    assert ledger.rows() == known.rows()
    unwanted = Unwanted(frozenset(), frozenset(left_out))
    assert others_left_out(rows, unwanted) == others
