# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever the events, in whatever order: chunks change nothing, no event is lost, sums are exact.

Worlds are any of their kind, other ones in each run; those that are the same in every run are of
frozen_worlds.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import layers.test_action_results
import layers.test_held_senders
import layers.test_late_copies
import layers.test_late_joiners
import layers.test_middleware
import layers.test_service_layers
import model.test_cut_traces
import model.test_driver
import model.test_driver_links
import model.test_executions
import model.test_executors
import model.test_inferred
import model.test_loans
import model.test_matching
import model.test_process_facts
import model.test_publications
import model.test_ring_buffers
import model.test_service_calls
import model.test_suspensions
import numpy as np
import pyarrow as pa
import pytest
from engine_runs import engine_of, told
from frozen import NAMES, OF_MODEL
from frozen_worlds import KINDS, World
from hypothesis import example, given
from hypothesis import strategies as st
from model.test_driver_interleavings import Played
from model.test_driver_interleavings import worlds as driver_worlds
from model.test_service_interleavings import Call, a_call
from model.test_service_interleavings import play as play_calls
from scheduler_events import EVENTS, TRACED_STEP, tables_of
from work_events import play, scenes_of, work

from strata.engine._model import Engine
from strata.engine.from_tables import engine_of_tables
from strata.engine.tables import EngineTables
from strata.engine.windows import NO_LOSSES, Windows
from strata.model.build import Model
from strata.pipeline.messages import Wanted
from strata.pipeline.stages import Made
from strata.schema.events import (
    CATALOGUE,
    DRIVER_PROVIDER,
    PROVIDER,
    RCLPY_PROVIDER,
)
from strata.schema.layers import HOP_LAYERS
from strata.schema.rows import NONE, Rows

SEED = st.integers(0, (1 << 32) - 1)
TID = st.integers(0, 2)
PAUSE = st.one_of(st.just(0), st.just(1), st.integers(0, 3))
HOST = st.sampled_from(("h", "h", "h", "h", "i"))
KERNEL = st.fixed_dictionaries(
    {
        "event": st.sampled_from(EVENTS),
        "pause": PAUSE,
        "host": HOST,
        "cpu_id": st.integers(0, 2),
        # Most often who came to the CPU leaves it.
        "prev_tid": st.one_of(st.none(), st.none(), TID),
        "next_tid": TID,
        "tid": TID,
        "prev_state": st.sampled_from((0, 256, 1, 2, None)),
        "target_cpu": st.one_of(st.none(), st.integers(-1, 2)),
        "prev_comm": st.sampled_from(("a", "b", None)),
        "context": st.one_of(
            st.none(), st.just((1, None)), st.tuples(st.integers(0, 2), st.integers(0, 3))
        ),
    }
)
TRACED = st.fixed_dictionaries(
    {
        "event": st.just(TRACED_STEP["event"]),
        "pause": PAUSE,
        "host": HOST,
        "vpid": st.integers(1, 2),
        "vtid": st.integers(0, 3),
    }
)
SCENES = scenes_of(
    layers.test_action_results,
    layers.test_held_senders,
    layers.test_late_copies,
    layers.test_late_joiners,
    layers.test_middleware,
    layers.test_service_layers,
    model.test_cut_traces,
    model.test_driver,
    model.test_driver_links,
    model.test_executions,
    model.test_executors,
    model.test_inferred,
    model.test_loans,
    model.test_matching,
    model.test_process_facts,
    model.test_publications,
    model.test_ring_buffers,
    model.test_service_calls,
    model.test_suspensions,
)
COUNTED = (PROVIDER, RCLPY_PROVIDER, DRIVER_PROVIDER)
"""Providers of whose events each counts for one use."""


def check(world: World) -> None:
    """Feed a world in chunks of several sizes, and hold the results against the events."""
    of = {"clocks": world.clocks, "left_out": world.left_out}
    whole, *others = (
        engine_of(world.tables, world.losses, chunk_rows=rows, **of)  # type: ignore[arg-type]
        for rows in (1 << 20, 1, 7)
    )
    for other in others:
        np.testing.assert_equal(told(other), told(whole))
    assert_every_event_has_one_use(whole, world)
    made = results(others[-1], world)
    for name in NAMES:
        assert made[name].table.name == name
    assert_sums_are_exact(made["messages"])


def results(engine: Engine, world: World) -> Made:
    model = Model(EngineTables(engine), losses=world.losses, clocks_of_hosts=world.clocks)
    assert all(count > 0 for count in model.findings.counts.values())
    return Made(OF_MODEL, model=model, wanted=Wanted())


def assert_every_event_has_one_use(engine: Engine, world: World) -> None:
    counted: Counter[str] = Counter()
    for event, _, _, count in engine.event_uses:
        assert count > 0
        counted[event] += count
    kept = {
        name: sum(vpid not in world.left_out for vpid in table["vpid"].to_pylist())
        for name, table in world.tables.items()
        if name in CATALOGUE and CATALOGUE[name].provider in COUNTED
    }
    assert counted == Counter(kept)


def assert_sums_are_exact(messages: Rows) -> None:
    layers = [messages[layer.column] for layer in HOP_LAYERS]
    parts = [np.where(ns == NONE, 0, ns) for ns in layers]
    np.testing.assert_array_equal(np.sum(parts, axis=0), messages["latency_ns"])


@pytest.mark.parametrize("kind", KINDS)
@given(seed=SEED)
def test_worlds(kind: str, seed: int) -> None:
    world = KINDS[kind].make(Random(seed))
    check(replace(world, tables=_with_rows(world.tables)))


@given(SEED)
@example(225738532)  # two threads go on with one coroutine at one instant
def test_threads_and_executors(seed: int) -> None:
    check(World(_with_rows(work(Random(seed))[0])))


@given(SEED, st.data())
def test_any_losses(seed: int, data: st.DataObject) -> None:
    tables = _with_rows(work(Random(seed))[0])
    every = [table["timestamp"].to_numpy() for table in tables.values()]
    first, last = min(int(ns.min()) for ns in every), max(int(ns.max()) for ns in every)
    bounds = st.tuples(st.integers(first - 1, last + 1), st.integers(first - 1, last + 1))
    windows = sorted((min(pair), max(pair)) for pair in data.draw(st.lists(bounds, min_size=1)))
    begin, end = np.asarray(windows, np.int64).T
    check(World(tables, (begin, end)))


@given(driver_worlds(), st.sets(st.integers(0, 60)))
def test_drivers_of_which_events_are_lost(played: Played, lost: set[int]) -> None:
    every = sorted({row["timestamp"] for rows in played.scene.rows.values() for row in rows})
    at = np.asarray([ns for place, ns in enumerate(every) if place in lost], np.int64)
    check(World(_with_rows(played.without(set(at.tolist()).__contains__).tables()), (at, at)))


@given(st.lists(a_call(lossy=True), max_size=15), st.frozensets(st.integers(0, 1)))
def test_interleaved_calls(calls: list[Call], unknown: frozenset[int]) -> None:
    check(World(_with_rows(play_calls(calls, unknown)[0].tables())))


@given(st.lists(st.one_of(KERNEL, KERNEL, KERNEL, TRACED), min_size=15, max_size=60), st.booleans())
def test_whatever_the_kernel_tells(steps: list[dict[str, Any]], contexts: bool) -> None:
    # Threads that have the ids of two of the kernel's.
    known = TRACED_STEP | {"pause": 0}
    check(World(tables_of([known | {"vtid": 1}, known | {"vtid": 2}, *steps], contexts=contexts)))


@pytest.mark.parametrize("test", SCENES)
def test_scenes(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    def compare(tables: Mapping[str, pa.Table], losses: Windows = NO_LOSSES) -> None:
        check(World(_with_rows(tables), losses))

    play(test, monkeypatch, compare)


@given(SEED)
def test_tables_of_a_user_may_be_in_any_order(seed: int) -> None:
    """Event tables whose rows are not in order of time are put into it."""
    chance = Random(seed)
    tables = _with_rows(work(chance)[0])
    mixed = {}
    for name, table in tables.items():
        ns = table["timestamp"].to_numpy()
        # Rows of one instant have an order that tells what came first.
        places = np.unique(ns, return_inverse=True)[1]
        moved = np.argsort(
            np.asarray([chance.random() for _ in range(places.max() + 1)])[places], kind="stable"
        )
        mixed[name] = table.take(pa.array(moved))
    wanted = told(engine_of_tables(tables, chunk_rows=7))
    np.testing.assert_equal(told(engine_of_tables(mixed, chunk_rows=7)), wanted)


def _with_rows(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    return {name: table for name, table in tables.items() if len(table)}
