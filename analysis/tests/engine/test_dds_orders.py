# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Events of the middleware in any order, of few samples, threads and instants: they collide."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from against_model import CHUNKS, run_engine
from hypothesis import given
from hypothesis import strategies as st
from middleware_of_model import Pair, assert_same_middleware, assert_same_ways
from scene import BASE

from strata.engine.windows import Windows
from strata.model.build import Model
from strata.model.columns import NONE, EventColumns
from strata.model.dds.middleware import find_middleware
from strata.model.timeline import EVENT_OF, Kind, Timeline
from strata.read.columns import declared_schema
from strata.schema.event import Kind as FieldKind
from strata.schema.events import CATALOGUE
from strata.schema.quality import Ledger

_STEPS = (0, 0, 0, 0, 1, 10, 30_000, 60_000, 300_000, 1_000_000, 12_000_000)
"""Between one event and the next, ns."""
_THREADS = ((1, 1), (1, 2), (2, 3), (2, 4), (3, 5))
_GUIDS = (bytes(16), b"A" * 16, b"B" * 15 + b"\0")
_VALUES: dict[str, tuple[Any, ...]] = {
    "sequence_number": (0, 1, 2),
    "source_timestamp": (0, BASE + 1, BASE + 2),
    "fragment": (0, 1, 2, 3),
    "fragment_count": (0, 1, 2),
    "transport": (1, 1, 16, 16, 4, 65536),
    "port": (0, 7411, 7412),
    "bytes": (0, 100, 60_000),
    "destinations": (0, 1, 1, 2),
    "result": (-11, 1, 1, 100),
    "size": (0, 40),
    "taken": (0, 1, 1, 1),
    "address": (bytes(16), b"\x01" * 16),
    "writer_guid": (*_GUIDS, b"A" * 16),
    "reader_guid": (b"R" * 16, b"S" * 16, b"R" * 16, b"S" * 16, bytes(16), b"S" * 16),
    "gid_prefix": (b"R" * 12, b"S" * 12),
    "gid_entity": (b"RRRR", b"SSSS"),
}
_CHOSEN_AS = {"gid_entity": "gid_prefix", "reader_guid": "gid_prefix"}
"""Columns that have the choice of another: a reader's GUID is one."""
_HANDLES = (0, 70, 71)
_DDS = tuple(
    name
    for name in CATALOGUE
    if name.startswith("dds:")
    and name.partition(":")[2]
    not in ("create_writer", "write_related", "take_related", "write_pre", "write", "read")
)
_NAMES = (*_DDS, "ros2:rmw_publish", "ros2:rmw_take")
_MESSAGE = (
    ("dds:create_reader", 2),
    ("ros2:rmw_publish", 0),
    ("dds:write_begin", 0),
    ("dds:serialize_begin", 0),
    ("dds:serialize_end", 0),
    ("dds:writer_history_add", 0),
    ("dds:send_begin", 0),
    ("dds:send_end", 0),
    ("dds:send_begin", 0),
    ("dds:send_sample", 0),
    ("dds:send_end", 0),
    ("dds:write_end", 0),
    ("dds:receive", 1),
    ("dds:reader_history_add", 1),
    ("dds:receive_sample", 1),
    ("dds:reader_notify", 1),
    ("dds:take_begin", 2),
    ("dds:deserialize_begin", 2),
    ("dds:deserialize_end", 2),
    ("dds:take_end", 2),
    ("ros2:rmw_take", 2),
)
"""The events of a message, and which of three threads emits each."""

_Step = tuple[str, int, int, tuple[int, ...]]
"""Name, time since the one before, thread, and which values its fields have."""

_choices = st.tuples(*[st.integers(0, 11)] * 10)


def _any_events(seed: int) -> list[_Step]:
    """Events of a few kinds, whose fields have one of a few sets of values."""
    random = np.random.default_rng(seed)
    names = random.choice(_NAMES, random.integers(4, len(_NAMES)), replace=False)
    of_fields = random.integers(0, 12, (random.integers(1, 6), 10))
    threads = random.integers(1, len(_THREADS) + 1)
    return [
        (
            str(random.choice(names)),
            int(random.choice(_STEPS)),
            int(random.integers(threads)),
            tuple(random.choice(of_fields).tolist()),
        )
        for _ in range(random.integers(10, 100))
    ]


@st.composite
def _messages(draw: st.DrawFn) -> list[_Step]:
    """Messages of which some events are missing, doubled, swapped or of other samples."""
    steps: list[_Step] = []
    for _ in range(draw(st.integers(1, 5))):
        threads = draw(st.tuples(*[st.integers(0, len(_THREADS) - 1)] * 3))
        common = draw(_choices)
        begin = draw(st.integers(0, max(len(steps), 1)))
        own = []
        for name, who in _MESSAGE:
            kept = draw(st.integers(0, 7))
            if kept == 0:
                continue
            choices = draw(_choices) if kept == 1 else common
            step = (name, draw(st.sampled_from(_STEPS)), threads[who], choices)
            own += [step, step] if kept == 2 else [step]
        # Interleaved with those of the messages before.
        for place, step in enumerate(own):
            steps.insert(min(begin + 2 * place, len(steps)), step)
    return steps


def _fields(name: str, choices: tuple[int, ...]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for field in CATALOGUE[name].fields:
        column = field.column or field.name
        # One choice for all events that have the field: of one message they agree.
        choice = choices[sum(map(ord, _CHOSEN_AS.get(column, column))) % len(choices)]
        if column in _VALUES:
            out[column] = _VALUES[column][choice % len(_VALUES[column])]
        elif field.kind is FieldKind.STRING:
            out[column] = ""
        else:
            out[column] = _HANDLES[choice % len(_HANDLES)]
    return out


def _tables(steps: list[_Step]) -> dict[str, pa.Table]:
    rows: dict[str, list[dict[str, Any]]] = {}
    ns = BASE
    for name, step_ns, thread, choices in steps:
        ns += step_ns
        pid, tid = _THREADS[thread]
        place = {"timestamp": ns, "host": "h", "vpid": pid, "vtid": tid, "procname": "p"}
        rows.setdefault(name, []).append(place | _fields(name, choices))
    out = {}
    for name, own in rows.items():
        schema = declared_schema(name, {})
        plain = pa.schema(
            [
                pa.field(item.name, pa.string()) if pa.types.is_dictionary(item.type) else item
                for item in schema
            ]
        )
        out[name] = pa.Table.from_pylist(own, schema=plain).cast(schema)
    return out


class _Columns(SimpleNamespace):
    def __len__(self) -> int:
        return len(self.position)


def _model(tables: dict[str, pa.Table], losses: Windows, seed: int) -> Model:
    """The middleware of every rmw_publish and rmw_take, and matches of any two of them."""
    random = np.random.default_rng(seed)
    events = EventColumns(dict(tables), Ledger())
    timeline = Timeline(events)
    at = timeline.positions(Kind.RMW_PUBLISH)
    stamp = events.ints(EVENT_OF[Kind.RMW_PUBLISH], "source_timestamp")[timeline.row[at]]
    publications = _Columns(
        position=at,
        thread=timeline.thread[at],
        rmw_publish_ns=timeline.ns[at],
        source_timestamp=stamp,
    )
    at = timeline.positions(Kind.RMW_TAKE)
    name, row = EVENT_OF[Kind.RMW_TAKE], timeline.row[at]
    stamp = events.ints(name, "source_timestamp")[row]
    at = at[(stamp > 0) & (events.ints(name, "taken")[row] == 1)]
    made_ns = BASE + np.asarray([-5, 30_000, 400_000])
    takes = _Columns(
        position=at,
        thread=timeline.thread[at],
        rmw_take_ns=timeline.ns[at],
        dequeue_ns=np.full(len(at), NONE),
        loaned=np.zeros(len(at), np.int64),
        source_timestamp=events.ints(name, "source_timestamp")[timeline.row[at]],
        subscription=random.integers(NONE, len(made_ns), len(at)),
    )
    middleware = find_middleware(events, timeline, publications, takes, losses)
    pairs = len(publications.position) and len(at) and 20
    apart = random.random(pairs) < 0.1
    return cast(
        Model,
        SimpleNamespace(
            events=events,
            processes=events.processes,
            timeline=timeline,
            publications=publications,
            takes=takes,
            middleware=middleware,
            matches=SimpleNamespace(
                publication=random.integers(0, max(len(publications.position), 1), pairs),
                take=random.integers(0, max(len(at), 1), pairs),
            ),
            unsynchronised=apart,
            facts=SimpleNamespace(ways=lambda: None, is_hooked=events.recorded("dds")),
            entities=SimpleNamespace(subscriptions=SimpleNamespace(begin_ns=made_ns)),
        ),
    )


def _compare(steps: list[_Step], seed: int, chunk_rows: int) -> None:
    tables = _tables(steps)
    lost_ns = BASE + seed * 20_000
    losses = (np.asarray([lost_ns]), np.asarray([lost_ns + 20_000]))
    model = _model(tables, losses, seed)
    run = run_engine(tables, losses, chunk_rows=chunk_rows, processes=model.events.processes)
    pair = Pair(model, run)
    assert_same_middleware(pair)
    assert_same_ways(pair)


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(st.integers(0, 1 << 40))
def test_any_events(chunk_rows: int, seed: int) -> None:
    _compare(_any_events(seed), seed % 100, chunk_rows)


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(_messages(), st.integers(0, 100))
def test_messages_of_which_events_are_wrong(chunk_rows: int, steps: list[_Step], seed: int) -> None:
    _compare(steps, seed, chunk_rows)
