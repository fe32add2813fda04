# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Entities of the engine are those of the model, for all samples and chunk sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from against_model import CHUNKS, Run, ros2_samples, run_engine
from hypothesis import given
from model.worlds import Recording, record, worlds

from strata.model.columns import EventColumns, Ints
from strata.model.entities import Entities, build_entities
from strata.read import open_trace
from strata.schema.quality import Ledger

_KINDS = ("unknown", "subscription", "timer", "service", "action")


def assert_same_entities(tables: Mapping[str, pa.Table], chunk_rows: int) -> None:
    events = EventColumns(dict(tables), Ledger())
    known = build_entities(events)
    run = run_engine(tables, chunk_rows=chunk_rows, processes=events.processes)
    _assert_nodes(run, known)
    for name, endpoints in (
        ("publishers", known.publishers),
        ("subscriptions", known.subscriptions),
    ):
        rows = run.rows[name]
        assert run.process_of_model[rows["process"]].tolist() == endpoints.process.tolist()
        for column in ("handle", "rmw_handle", "node", "queue_depth", "begin_ns"):
            assert rows[column].tolist() == getattr(endpoints, column).tolist(), (name, column)
        assert run.words(rows["topic"]) == endpoints.topic.tolist()
    timers = run.rows["timers"]
    for column in ("handle", "period_ns", "node", "begin_ns"):
        assert timers[column].tolist() == getattr(known.timers, column).tolist(), column
    _assert_callbacks(run, known)


def _assert_nodes(run: Run, known: Entities) -> None:
    rows = run.rows["nodes"]
    assert run.process_of_model[rows["process"]].tolist() == known.nodes.process.tolist()
    assert rows["handle"].tolist() == known.nodes.handle.tolist()
    assert rows["begin_ns"].tolist() == known.nodes.begin_ns.tolist()
    assert run.words(rows["name"]) == known.nodes.name.tolist()


def _assert_callbacks(run: Run, known: Entities) -> None:
    rows, callbacks = run.rows["callbacks"], known.callbacks
    process = run.process_of_model[rows["process"]]
    # Those without a registration are ordered by process, which the engine numbers otherwise.
    order = _order(process, rows["address"], rows["begin_ns"])
    wanted = _order(callbacks.process, callbacks.address, callbacks.begin_ns)
    for column in ("address", "begin_ns", "subscription", "timer", "node"):
        assert rows[column][order].tolist() == getattr(callbacks, column)[wanted].tolist(), column
    assert process[order].tolist() == callbacks.process[wanted].tolist()
    kinds = [_KINDS[kind] for kind in rows["kind"][order].tolist()]
    assert kinds == callbacks.kind[wanted].tolist()
    of_timer = callbacks.kind[wanted] == "timer"
    triggers = np.asarray(run.words(rows["trigger"][order]), object)
    assert triggers[~of_timer].tolist() == callbacks.trigger[wanted][~of_timer].tolist()


def _order(process: Ints, address: Ints, begin_ns: Ints) -> Ints:
    return np.lexsort((begin_ns, address, process))


@pytest.mark.parametrize("name", ros2_samples())
def test_entities_of_samples(name: str, sample: Callable[[str], Path]) -> None:
    assert_same_entities(open_trace(sample(name)).tables(), 10_000)


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(worlds().map(record))
def test_entities_of_worlds(chunk_rows: int, recording: Recording) -> None:
    assert_same_entities(recording.tables(), chunk_rows)
