# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""All publications, takes and matches of the engine are the model's, with ring buffers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import model.test_cut_traces
import model.test_matching
import model.test_publications
import model.test_ring_buffers
import numpy as np
import pyarrow as pa
import pytest
from against_model import CHUNKS, Run, ros2_samples, run_engine
from hypothesis import given
from hypothesis import strategies as st
from intra_scene import IntraScene
from model.worlds import Recording, record, worlds
from ring_events import ring_work
from test_execution_machine import executions_of_model
from work_events import play, scenes_of, work

from strata.engine.windows import NO_LOSSES, Windows
from strata.model.build import Model, build_model
from strata.model.columns import NONE, Ints
from strata.model.intra_process import Traffic
from strata.read import open_trace
from strata.schema.quality import Ledger

_FINDINGS = (
    "publisher_buffer_enqueues",
    "contradictory_ring_buffers",
    "ring_buffer_overwrites",
    "ring_buffers_with_losses",
    "replayed_messages",
    "enqueues_without_publication",
    "intra_process_duplicates",
    "unmatched_dequeues",
    "takes_without_callback",
    "untaken_publications",
    "contradictory_matches",
    "ambiguous_matches",
    "unmatched_takes",
    "out_of_order_matches",
    "inferred_matches",
    "undecided_publish_times",
    "matches_by_publish_time",
)
Tables = Mapping[str, pa.Table]


def assert_same(tables: Tables, chunk_rows: int, losses: Windows = NO_LOSSES) -> None:
    ledger = Ledger()
    model = build_model(tables, ledger, losses)
    run = run_engine(tables, losses, chunk_rows=chunk_rows, processes=model.events.processes)
    traffic = Traffic(model.publications, model.takes, model.middleware, model.matches)
    of_model = executions_of_model(run, model)
    published = _same_publications(run, traffic, of_model)
    taken = _same_takes(run, traffic, of_model)
    _same_matches(run, traffic, published, taken)
    _same_passages(run, model)
    for code in _FINDINGS:
        assert run.findings[code] == ledger.counts.get(code, 0), code


def _either(run: Run, table: str, first: tuple[str, str], second: tuple[str, str]) -> Ints:
    """A column of two tables, by whether a row of the second names one of the first."""
    rows = run.rows[table]
    names = {"publish": "publishes", "call": "intra_publishes", "take": "takes"}
    names |= {"dequeue": "dequeues"}
    one, other = (
        np.append(run.rows[names[key]][column], NONE).astype(np.int64) if column else None
        for key, column in (first, second)
    )
    none = np.full(len(rows[first[0]]), NONE, np.int64)
    left = none if one is None else one[rows[first[0]]]
    right = none if other is None else other[rows[second[0]]]
    return np.where(rows[first[0]] != NONE, left, right)


def _same_publications(run: Run, known: Traffic, of_model: Ints) -> Ints:
    def column(publish: str, call: str) -> Ints:
        return _either(run, "published_messages", ("publish", publish), ("call", call))

    publications = known.publications
    sent = np.argsort(publications.position, kind="stable")
    ns = column("ns", "ns")
    assert (np.diff(ns) >= 0).all()
    thread = run.thread_of_model[column("thread", "thread")]
    own = np.lexsort((column("at", "at"), thread))
    found = {
        "thread": thread,
        "publisher": column("publisher", "publisher"),
        "rmw_handle": column("rmw_handle", "handle"),
        "client_ns": column("client_ns", "ns"),
        "rmw_publish_ns": column("ns", ""),
        "source_timestamp": column("stamp", ""),
        "execution": np.append(of_model, NONE)[column("execution", "execution")],
        "handed_ns": ns,
    }
    for name, values in found.items():
        assert values[own].tolist() == getattr(publications, name)[sent].tolist(), name
    out = np.empty(len(own), np.int64)
    out[own] = sent
    return out


def _same_takes(run: Run, known: Traffic, of_model: Ints) -> Ints:
    def column(take: str, dequeue: str) -> Ints:
        return _either(run, "taken_messages", ("take", take), ("dequeue", dequeue))

    takes = known.takes
    taken = np.argsort(takes.position, kind="stable")
    ns = column("ns", "ns")
    assert (np.diff(ns) >= 0).all()
    thread = run.thread_of_model[column("thread", "thread")]
    own = np.lexsort((column("at", "at"), thread))
    buffer = column("", "buffer")
    of_buffer = {
        name: np.append(run.rows["ring_buffers"][name], NONE)[buffer]
        for name in ("subscription", "address")
    }
    inside = run.rows["taken_messages"]["take"] == NONE
    found = {
        "thread": thread,
        "subscription": np.where(inside, of_buffer["subscription"], column("subscription", "")),
        "rmw_handle": np.where(inside, of_buffer["address"], column("rmw_handle", "")),
        "picked_ns": column("picked_ns", "ns"),
        "rmw_take_ns": column("ns", ""),
        "dequeue_ns": column("", "ns"),
        "source_timestamp": column("stamp", ""),
        "execution": np.append(of_model, NONE)[column("execution", "execution")],
        "duplicate": run.rows["taken_messages"]["duplicate"],
        "loaned": np.where(inside, 0, column("loaned", "")),
    }
    for name, values in found.items():
        assert values[own].tolist() == getattr(takes, name)[taken].tolist(), name
    out = np.empty(len(own), np.int64)
    out[own] = taken
    return out


def _same_matches(run: Run, known: Traffic, published: Ints, taken: Ints) -> None:
    rows, enqueues = run.rows["matched_messages"], run.rows["enqueues"]
    assert (np.diff(rows["taken"]) > 0).all()
    found = zip(
        published[rows["published"]].tolist(),
        taken[rows["taken"]].tolist(),
        rows["method"].tolist(),
        np.append(enqueues["ns"], NONE)[rows["enqueue"]].tolist(),
        strict=True,
    )
    wanted = known.matches
    columns = (wanted.publication, wanted.take, wanted.method, wanted.enqueue_ns)
    assert sorted(found) == sorted(zip(*(column.tolist() for column in columns), strict=True))
    of_call = np.full(len(run.rows["intra_publishes"]["ns"]), NONE, np.int64)
    call = run.rows["published_messages"]["call"]
    of_call[call[call != NONE]] = published[call != NONE]
    lost = np.flatnonzero((enqueues["displaced"] == 1) & (enqueues["call"] != NONE))
    subscription = run.rows["ring_buffers"]["subscription"][enqueues["buffer"][lost]]
    pairs = zip(of_call[enqueues["call"][lost]].tolist(), subscription.tolist(), strict=True)
    assert Counter(pairs) == Counter(
        zip(*(column.tolist() for column in wanted.overwritten), strict=True)
    )


def _same_passages(run: Run, model: Model) -> None:
    enqueues, dequeues = run.rows["enqueues"], run.rows["dequeues"]
    of_buffer, known = run.rows["ring_buffers"]["subscription"], model.passages
    assert of_buffer[enqueues["buffer"]].tolist() == known.subscription.tolist()
    assert of_buffer[dequeues["buffer"]].tolist() == known.taker.tolist()
    assert (enqueues["stored"] == 1).tolist() == known.stored.tolist()
    assert (enqueues["displaced"] == 1).tolist() == known.displaced.tolist()
    paired = np.flatnonzero(dequeues["enqueue"] != NONE)
    found = zip(dequeues["enqueue"][paired].tolist(), paired.tolist(), strict=True)
    assert sorted(found) == sorted(zip(known.enqueue.tolist(), known.dequeue.tolist(), strict=True))


def compare(tables: Tables, losses: Windows = NO_LOSSES) -> None:
    for chunk_rows in CHUNKS:
        assert_same(tables, chunk_rows, losses)


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(name: str, sample: Callable[[str], Path]) -> None:
    assert_same(open_trace(sample(name)).tables(), 10_000)


@pytest.mark.parametrize("name", ["intra_jazzy", "loans_jazzy"])
def test_samples_with_losses(name: str, sample: Callable[[str], Path]) -> None:
    tables = open_trace(sample(name)).tables()
    ns = np.sort(np.concatenate([table["timestamp"].to_numpy() for table in tables.values()]))
    begin = ns[len(ns) // 20 :: len(ns) // 20]
    assert_same(tables, 10_000, (begin, begin + 100_000))


@pytest.mark.parametrize(
    "test",
    scenes_of(
        model.test_ring_buffers,
        model.test_publications,
        model.test_matching,
        model.test_cut_traces,
    ),
)
def test_scenes(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    play(test, monkeypatch, compare)


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(worlds().map(record))
def test_worlds(chunk_rows: int, recording: Recording) -> None:
    assert_same(recording.tables(), chunk_rows)


@given(worlds().map(record), st.randoms(use_true_random=False))
def test_worlds_with_lost_events(recording: Recording, chance: Random) -> None:
    kept = recording.without(lambda _event, _row: chance.random() < 0.2)
    assert_same(kept.tables(), 7)


@given(st.integers(0, (1 << 32) - 1))
def test_any_order(seed: int) -> None:
    tables, losses = work(Random(seed))
    assert_same(tables, 7, losses)


@given(st.integers(0, (1 << 32) - 1))
def test_any_order_of_ring_buffers(seed: int) -> None:
    tables, losses = ring_work(Random(seed))
    assert_same(tables, 7, losses)


@pytest.mark.parametrize("takers", [15, 16, 17, 40])
def test_copies_of_many_takers(takers: int) -> None:
    made = IntraScene()
    made.publisher("/t", node="/source", pid=1)
    for number in range(takers):
        made.ring("/t", node="/sink", pid=1, symbol=f"on_{number}")
    made.subscription("/t", node="/other", pid=1, symbol="on_far")
    made.play("100 1.1 rclcpp_intra_publish /t")
    for number in range(takers):
        made.play(f"101 1.1 enqueue on_{number} 0 1")
    # A second message in one buffer: of a call that was lost.
    made.play("101 1.1 enqueue on_0 1 2")
    made.play("103 1.1 rcl_publish /t\n104 1.1 rmw_publish /t 104")
    for number in range(takers):
        made.play(f"{200 + number} 1.2 rmw_take on_{number} 104")
    made.play("300 1.2 rmw_take on_far 104")
    compare(made.tables())
    assert made.model()[0].takes.duplicate.sum() == takers
