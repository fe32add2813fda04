# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Events of the middleware, made up: of few samples, threads and instants, so that they collide.

    tables, losses = hooked_work(Random(7))

Two kinds of sequences: any events in any order, and messages of which some events are missing,
doubled, or of other samples.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
from scene import BASE
from work_events import lost

from strata.engine.windows import Windows
from strata.read.columns import declared_schema
from strata.schema.dds_events import OPERATIONS
from strata.schema.event import Kind as FieldKind
from strata.schema.events import CATALOGUE

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
    and CATALOGUE[name] not in OPERATIONS
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

Step = tuple[str, int, int, tuple[int, ...]]
"""Name, time since the one before, thread, and which values its fields have."""

_TOPICS = ("/t", "/u")


def hooked_work(chance: Random) -> tuple[dict[str, pa.Table], Windows]:
    """Return event tables and the windows in which events were lost."""
    steps = _inits(chance) + chance.choice((_anything, _messages))(chance)
    return tables_of(steps), lost(chance, sum(step[1] for step in steps))


def _choices(chance: Random) -> tuple[int, ...]:
    return tuple(chance.randint(0, 11) for _ in range(10))


def _inits(chance: Random) -> list[Step]:
    """Nodes, publishers and subscriptions of the threads' processes; some are never made."""
    names = ("ros2:rcl_node_init", "ros2:rcl_publisher_init", "ros2:rcl_subscription_init")
    return [
        (name, 1, thread, _choices(chance))
        for name in names
        for thread in range(len(_THREADS))
        for _ in range(2)
        if chance.random() < 0.8
    ]


def _anything(chance: Random) -> list[Step]:
    """Events of a few kinds, whose fields have one of a few sets of values."""
    names = chance.sample(_NAMES, chance.randint(4, len(_NAMES)))
    of_fields = [_choices(chance) for _ in range(chance.randint(1, 5))]
    threads = chance.randint(1, len(_THREADS))
    return [
        (
            chance.choice(names),
            chance.choice(_STEPS),
            chance.randint(0, threads - 1),
            chance.choice(of_fields),
        )
        for _ in range(chance.randint(10, 100))
    ]


def _messages(chance: Random) -> list[Step]:
    steps: list[Step] = []
    wrong = chance.choice((0, 0.02, 0.1))
    for _ in range(chance.randint(1, 8)):
        threads = [chance.randint(0, len(_THREADS) - 1) for _ in range(3)]
        common = _choices(chance)
        begin = chance.randint(0, max(len(steps), 1))
        own: list[Step] = []
        for name, who in _MESSAGE:
            if chance.random() < wrong:
                continue
            choices = _choices(chance) if chance.random() < wrong else common
            step = (name, chance.choice(_STEPS), threads[who], choices)
            own += [step, step] if chance.random() < wrong else [step]
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
        if column == "topic_name":
            out[column] = _TOPICS[choice % len(_TOPICS)]
        elif column in _VALUES:
            out[column] = _VALUES[column][choice % len(_VALUES[column])]
        elif field.kind is FieldKind.STRING:
            out[column] = ""
        else:
            out[column] = _HANDLES[choice % len(_HANDLES)]
    return out


def tables_of(steps: list[Step]) -> dict[str, pa.Table]:
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
