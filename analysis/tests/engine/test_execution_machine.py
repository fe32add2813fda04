# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Executions, publications and takes of the engine are those of the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from against_model import CHUNKS, Run, ros2_samples, run_engine, with_calls
from hypothesis import given
from hypothesis import strategies as st
from model.worlds import Recording, record, worlds

from strata.engine.windows import NO_LOSSES, Windows
from strata.model.build import Model, build_model
from strata.model.columns import NONE, Ints
from strata.model.dds.middleware import find_middleware
from strata.model.hosts import number_clocks
from strata.model.inferred import infer
from strata.model.matching import Matches, match
from strata.model.topics import number_topics
from strata.model.traffic import Publications, Takes, find_publications, find_takes
from strata.read import open_trace
from strata.schema.quality import Ledger

_FINDINGS = (
    "callback_ends_without_start",
    "callbacks_without_end",
    "callbacks_with_losses",
    "callbacks_left_suspended",
    "graph_publications",
    "publications_without_timestamp",
    "publications_without_client_event",
    "empty_takes",
    "takes_without_source_timestamp",
    "loaned_takes",
    "unseen_takes",
)
_OF_MATCHES = (
    "contradictory_matches",
    "ambiguous_matches",
    "unmatched_takes",
    "out_of_order_matches",
    "inferred_matches",
    "undecided_publish_times",
    "matches_by_publish_time",
)


def assert_same(
    tables: Mapping[str, pa.Table], chunk_rows: int, losses: Windows = NO_LOSSES
) -> None:
    ledger = Ledger()
    model = build_model(tables, ledger, losses)
    run = run_engine(tables, losses, chunk_rows=chunk_rows, processes=model.events.processes)
    of_model = executions_of_model(run, model)
    # Ring buffers join what stays in its process later.
    known = (model.events, model.timeline, model.entities, model.executions)
    publications = find_publications(*known, Ledger(), losses)
    takes = find_takes(*known, Ledger(), losses)
    publications = with_calls(publications, model)
    publish_of_model = _same_publications(run, publications, of_model)
    take_of_model = _same_takes(run, takes, of_model)
    matched = Ledger()
    topics = number_topics(publications, takes, model.entities)
    matches = match(
        publications,
        takes,
        topics,
        find_middleware(model.events, model.timeline, publications, takes, losses),
        matched,
        infer(model.events, model.timeline, publications, takes, topics),
        number_clocks(model.events.processes, {}),
    )
    _same_matches(run, matches, publish_of_model, take_of_model)
    for code in _OF_MATCHES:
        assert run.findings[code] == matched.counts.get(code, 0), code
    for code in _FINDINGS:
        assert run.findings[code] == ledger.counts.get(code, 0), code


def _mapped(rows: Ints, of_model: Ints) -> list[int]:
    """Rows of the engine as rows of the model; null stays."""
    return [NONE if row == NONE else int(of_model[row]) for row in rows.tolist()]


def executions_of_model(run: Run, model: Model) -> Ints:
    """Compare the executions; return the model's row of each of the engine's."""
    rows, known = run.rows["executions"], model.executions
    thread = run.thread_of_model[rows["thread"]]
    order = np.lexsort((rows["start_at"], thread))
    of_model = np.empty(len(order), np.int64)
    of_model[order] = np.arange(len(order))
    assert thread[order].tolist() == known.thread.tolist()
    for column in ("start_ns", "end_ns", "until_ns", "depth", "finished_ns", "paused_ns"):
        assert rows[column][order].tolist() == getattr(known, column).tolist(), column
    for column in ("first", "last", "previous"):
        found = _mapped(rows[column][order], of_model)
        assert found == getattr(known, column).tolist(), column
    assert (rows["is_resumed"][order] == 1).tolist() == known.resumed.tolist()
    callbacks, entities = run.rows["callbacks"], model.entities.callbacks
    own = rows["callback"][order]
    assert (own == NONE).tolist() == (known.callback == NONE).tolist()
    for column in ("address", "begin_ns"):
        assert (
            np.append(callbacks[column], NONE)[own].tolist()
            == np.append(getattr(entities, column), NONE)[known.callback].tolist()
        )
    return of_model


def _same_matches(run: Run, known: Matches, publish: Ints, take: Ints) -> None:
    rows, doubtful = run.rows["matches"], run.rows["doubtful_takes"]
    found = zip(
        take[rows["take"]].tolist(),
        publish[rows["publish"]].tolist(),
        rows["method"].tolist(),
        strict=True,
    )
    columns = (known.take, known.publication, known.method)
    assert sorted(found) == sorted(zip(*(column.tolist() for column in columns), strict=True))
    pairs = set(
        zip(take[doubtful["take"]].tolist(), publish[doubtful["publish"]].tolist(), strict=True)
    )
    assert pairs == set(zip(*(column.tolist() for column in known.doubtful), strict=True))


def _same_publications(run: Run, known: Publications, of_model: Ints) -> Ints:
    rows = run.rows["publishes"]
    own = np.flatnonzero(rows["of_application"] == 1)
    thread = run.thread_of_model[rows["thread"]]
    own = own[np.lexsort((rows["at"][own], thread[own]))]
    sent = np.argsort(known.position, kind="stable")
    assert thread[own].tolist() == known.thread[sent].tolist()
    named = {"ns": "rmw_publish_ns", "stamp": "source_timestamp"}
    for column in ("publisher", "rmw_handle", "client_ns", "ns", "stamp"):
        wanted = getattr(known, named.get(column, column))[sent]
        assert rows[column][own].tolist() == wanted.tolist(), column
    assert _mapped(rows["execution"][own], of_model) == known.execution[sent].tolist()
    out = np.full(len(thread), NONE, np.int64)
    out[own] = sent
    return out


def _same_takes(run: Run, known: Takes, of_model: Ints) -> Ints:
    rows = run.rows["takes"]
    taken = np.argsort(known.position, kind="stable")
    thread = run.thread_of_model[rows["thread"]]
    own = np.lexsort((rows["at"], thread))
    assert thread[own].tolist() == known.thread[taken].tolist()
    named = {"ns": "rmw_take_ns", "stamp": "source_timestamp"}
    for column in ("subscription", "rmw_handle", "picked_ns", "ns", "stamp"):
        wanted = getattr(known, named.get(column, column))[taken]
        assert rows[column][own].tolist() == wanted.tolist(), column
    assert (rows["loaned"][own] == 1).tolist() == known.loaned[taken].tolist()
    assert _mapped(rows["execution"][own], of_model) == known.execution[taken].tolist()
    out = np.empty(len(thread), np.int64)
    out[own] = taken
    return out


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(name: str, sample: Callable[[str], Path]) -> None:
    assert_same(open_trace(sample(name)).tables(), 10_000)


@pytest.mark.parametrize("name", ["fast_throws", "loans_jazzy", "ends_jazzy", "throws_rclpy"])
def test_samples_with_losses(name: str, sample: Callable[[str], Path]) -> None:
    tables = open_trace(sample(name)).tables()
    ns = np.sort(np.concatenate([table["timestamp"].to_numpy() for table in tables.values()]))
    begin = ns[len(ns) // 10 :: len(ns) // 10][:8]
    assert_same(tables, 10_000, (begin, begin + 20_000_000))


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(worlds().map(record))
def test_worlds(chunk_rows: int, recording: Recording) -> None:
    assert_same(recording.tables(), chunk_rows)


@given(worlds().map(record), st.randoms(use_true_random=False))
def test_worlds_with_lost_events(recording: Recording, chance: object) -> None:
    kept = recording.without(lambda _event, _row: chance.random() < 0.2)  # type: ignore[attr-defined]
    assert_same(kept.tables(), 7)
