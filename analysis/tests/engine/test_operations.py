# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An operation's one event says the same as the events of its steps."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scene import BASE

from strata.engine._model import Engine
from strata.engine.from_tables import engine_of_tables
from strata.read.columns import declared_schema
from strata.schema.dds_events import OPERATIONS, SPAN
from strata.schema.events import CATALOGUE

HOST = "robot"
ORIGIN = BASE - 5_000_000_000
"""When the host's clock began to count."""
WRITER, READER = b"W" * 16, b"R" * 16
Row = dict[str, Any]
_SAMPLE = ("writer_guid", "sequence_number", "source_timestamp")


class Recording:
    """The same messages, recorded by events of operations and by events of their steps."""

    def __init__(self) -> None:
        self.by_operation: dict[str, list[Row]] = {}
        self.by_step: dict[str, list[Row]] = {}

    def of_both(self, name: str, ns: int, of: tuple[int, int], **fields: Any) -> None:
        for events in (self.by_operation, self.by_step):
            _add(events, name, ns, of, fields)

    def operation(self, name: str, ns: int, of: tuple[int, int], **fields: Any) -> None:
        _add(self.by_operation, name, ns, of, fields)

    def step(self, name: str, ns: int, of: tuple[int, int], **fields: Any) -> None:
        _add(self.by_step, name, ns, of, fields)

    def write(self, thread: tuple[int, int], begin: int, number: int, *, lent: bool) -> int:
        """A message that is published, serialized, sent and written; return when it was sent."""
        sample = _sample(number)
        serialized, added, sent, left, end = (begin + 10 * (i + 2) for i in range(5))
        if lent:
            serialized = 0
        self.of_both(
            "ros2:rmw_publish", begin - 5, thread, message=70, source_timestamp=BASE + number
        )
        writer, value = {"writer": 9}, {"data": 70}
        self.step("dds:write_begin", begin, thread, **writer, **value)
        if serialized:
            self.step("dds:serialize_begin", begin + 10, thread, **value)
            self.step("dds:serialize_end", serialized, thread, **value, size=40)
        self.step("dds:writer_history_add", added, thread, **sample, size=40)
        there = {"address": bytes(16), "port": 7411, "destinations": 1, "result": 1}
        whole = {"fragment": 0, "fragment_count": 0, "fragment_size": 0}
        buffer = {"transport": 16, "bytes": 100, **sample, "size": 40, **whole}
        self.step("dds:send_begin", sent, thread, **buffer)
        self.step("dds:send_end", left, thread, transport=16, **there)
        self.operation("dds:sent", left, thread, **buffer, **there, begin=sent - ORIGIN)
        self.step("dds:write_end", end, thread, **writer, result=0)
        spans = {
            "serialize_begin": 10 if serialized else 0,
            "serialize_end": serialized - begin if serialized else 0,
            "writer_history_add": added - begin,
        }
        self.operation(
            "dds:written",
            end,
            thread,
            **writer,
            **value,
            **sample,
            size=40,
            result=0,
            begin=begin - ORIGIN,
            **spans,
        )
        return sent

    def receive(self, thread: tuple[int, int], begin: int, number: int) -> int:
        """The same message arrives; return when its reader is notified."""
        sample = _sample(number)
        buffer = {"transport": 16, "port": 7411, "bytes": 40, **sample, "size": 40}
        whole = {"fragment": 0, "fragment_count": 0, "fragment_size": 0}
        notified = begin + 20
        self.step("dds:receive", begin, thread, **buffer, **whole)
        self.step("dds:reader_history_add", begin + 10, thread, **sample, size=40)
        named = {key: sample[key] for key in _SAMPLE[:2]}
        self.step("dds:reader_notify", notified, thread, reader_guid=READER, **named)
        self.operation(
            "dds:received",
            notified,
            thread,
            **buffer,
            notified=1,
            reader_guid=READER,
            begin=begin - ORIGIN,
            reader_history_add=10,
        )
        return notified

    def take(self, thread: tuple[int, int], begin: int, number: int) -> None:
        sample = _sample(number)
        reader, value, end = {"reader": 8}, {"data": 80}, begin + 40
        self.step("dds:take_begin", begin, thread, **reader)
        self.step("dds:deserialize_begin", begin + 10, thread, **value)
        self.step("dds:deserialize_end", begin + 20, thread, **value, size=40)
        done = {**reader, "buffer": 80, **sample, "taken": 1, "result": 0}
        self.step("dds:take_end", end, thread, **done)
        spans = {"deserialize_begin": 10, "deserialize_end": 20}
        self.operation("dds:taken", end, thread, **done, size=40, begin=begin - ORIGIN, **spans)
        stamp = sample["source_timestamp"]
        self.of_both("ros2:rmw_take", end + 5, thread, message=80, source_timestamp=stamp, taken=1)


def _sample(number: int) -> Row:
    return {
        "writer_guid": WRITER,
        "sequence_number": number + 1,
        "source_timestamp": BASE + number,
    }


def _add(
    events: dict[str, list[Row]], name: str, ns: int, thread: tuple[int, int], fields: Row
) -> None:
    vpid, vtid = thread
    declared = {field.name: field.column or field.name for field in CATALOGUE[name].fields}
    own = {declared.get(key, key): value for key, value in fields.items()}
    row = {"timestamp": ns, "host": HOST, "vpid": vpid, "vtid": vtid, "procname": None}
    events.setdefault(name, []).append(row | own)


def tables(events: Mapping[str, list[Row]]) -> dict[str, pa.Table]:
    found: dict[str, pa.Table] = {}
    for name, rows in events.items():
        schema = declared_schema(name, {})
        found[name] = pa.Table.from_pylist(rows, schema=schema)
    return found


def messages(seed: int, count: int = 40) -> Recording:
    """Messages between two processes, some of which are lent, at many instants."""
    random, recording, ns = Random(seed), Recording(), BASE
    for number in range(count):
        ns += random.choice((100, 1_000, 1_000_000))
        sent = recording.write((1, 1), ns, number, lent=random.random() < 0.2)
        # The sample is there, and may be taken, before the send or the write returns.
        notified = recording.receive((2, 3), sent + random.choice((1, 15, 400)), number)
        recording.take((2, 2), notified + random.choice((3, 50, 9_000)), number)
    return recording


def expect_same(one: Engine, other: Engine) -> None:
    """Assert that rows are the same; threads of the hooks' own have none."""
    left, right = one.rows(), other.rows()
    assert left.keys() == right.keys()
    for name in left.keys() - {"processes", "threads", "names", "censuses", "bystanders"}:
        for column in left[name].keys() - {"at"}:
            assert np.array_equal(left[name][column], right[name][column]), (name, column)
    for table in ("transmissions", "notifications"):
        assert repr(getattr(one, table)()) == repr(getattr(other, table)())


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("chunk_rows", [None, 7])
def test_operations_are_their_steps(seed: int, chunk_rows: int | None) -> None:
    recording = messages(seed)
    origins = {HOST: ORIGIN}
    own = engine_of_tables(tables(recording.by_operation), chunk_rows=chunk_rows, origins=origins)
    expect_same(own, engine_of_tables(tables(recording.by_step)))
    assert own.events == sum(map(len, recording.by_operation.values()))
    assert set(own.counts) == set(recording.by_operation)
    assert len(own.rows()["reads"]["begin_ns"]) == 40
    assert (own.rows()["reads"]["notified_ns"] > 0).all()


def test_an_operation_may_last_longer_than_events_wait() -> None:
    """A write that is held up for seconds, while others go on."""
    recording, slow = Recording(), 3_000_000_000
    recording.of_both("ros2:rmw_publish", BASE, (1, 1), message=70, source_timestamp=BASE + 1_000)
    held = {"writer": 9, "data": 70}
    recording.step("dds:write_begin", BASE + 5, (1, 1), **held)
    recording.step("dds:serialize_begin", BASE + 15, (1, 1), data=70)
    recording.step("dds:serialize_end", BASE + 25, (1, 1), data=70, size=40)
    sample = _sample(1_000)
    # From 2^31 ns on a span is in microseconds.
    recording.step("dds:writer_history_add", BASE + 5 + slow, (1, 1), **sample, size=40)
    recording.step("dds:write_end", BASE + 50 + slow, (1, 1), writer=9, result=0)
    recording.operation(
        "dds:written",
        BASE + 50 + slow,
        (1, 1),
        **held,
        **sample,
        size=40,
        result=0,
        begin=BASE + 5 - ORIGIN,
        serialize_begin=10,
        serialize_end=20,
        writer_history_add=SPAN + slow // 1000,
    )
    for number in range(100):
        sent = recording.write((3, 3), BASE + 1_000 + 20_000_000 * number, number, lent=False)
        recording.take((2, 2), recording.receive((2, 3), sent + 30, number) + 50, number)
    origins = {HOST: ORIGIN}
    for chunk_rows in (None, 16):
        own = engine_of_tables(
            tables(recording.by_operation), chunk_rows=chunk_rows, origins=origins
        )
        expect_same(own, engine_of_tables(tables(recording.by_step)))


def _unfinished(**fields: Any) -> Row:
    nothing = {"entity": 9, "data": 70, "writer_guid": bytes(16)}
    rest: Row = {field.name: 0 for field in CATALOGUE["dds:unfinished"].fields}
    return rest | nothing | {"thread": 1, "operation": 1} | fields


@pytest.mark.parametrize("ends", [True, False])
def test_an_operation_that_may_end_counts_once(ends: bool) -> None:
    recording = Recording()
    begin, seen = BASE + 1_000, BASE + 200_001_000
    watch = (1, 77)
    recording.operation(
        "dds:unfinished",
        seen,
        watch,
        **_unfinished(may_end=1, begin=begin - ORIGIN, first_step=10, second_step=20, size=40),
    )
    if ends:
        recording.write((1, 1), begin, 0, lent=False)
    else:
        recording.of_both("ros2:rmw_publish", begin - 5, (1, 1), message=70, source_timestamp=BASE)
        recording.step("dds:write_begin", begin, (1, 1), writer=9, data=70)
        recording.step("dds:serialize_begin", begin + 10, (1, 1), data=70)
        recording.step("dds:serialize_end", begin + 20, (1, 1), data=70, size=40)
    own = engine_of_tables(tables(recording.by_operation), origins={HOST: ORIGIN})
    expect_same(own, engine_of_tables(tables(recording.by_step)))
    assert own.rows()["writes"]["serialize_begin_ns"].tolist() == [begin + 10]


def test_what_an_exception_ended_has_the_steps_until_then() -> None:
    recording, begin = Recording(), BASE + 1_000
    recording.of_both("ros2:rmw_publish", begin - 5, (1, 1), message=70, source_timestamp=BASE)
    recording.operation(
        "dds:unfinished",
        begin + 100,
        (1, 1),
        # Bytes are numbered as they come.
        **_unfinished(begin=begin - ORIGIN, first_step=10, writer_guid=WRITER),
    )
    recording.step("dds:write_begin", begin, (1, 1), writer=9, data=70)
    recording.step("dds:serialize_begin", begin + 10, (1, 1), data=70)
    recording.write((1, 1), begin + 1_000, 1, lent=False)
    own = engine_of_tables(tables(recording.by_operation), origins={HOST: ORIGIN})
    expect_same(own, engine_of_tables(tables(recording.by_step)))


def test_a_write_within_a_write_does_not_end_it() -> None:
    """A listener writes within a write that is seen going on, and never ends."""
    recording, begin = Recording(), BASE + 1_000
    recording.of_both("ros2:rmw_publish", begin - 5, (1, 1), message=70, source_timestamp=BASE)
    recording.step("dds:write_begin", begin, (1, 1), writer=9, data=70)
    recording.operation(
        "dds:unfinished",
        BASE + 110_000_000,
        (1, 77),
        **_unfinished(may_end=1, begin=begin - ORIGIN, writer_guid=WRITER),
    )
    inner = {"writer": 9, "data": 71}
    recording.step("dds:write_begin", BASE + 120_000_000, (1, 1), **inner)
    recording.step("dds:write_end", BASE + 120_000_100, (1, 1), writer=9, result=0)
    recording.operation(
        "dds:written",
        BASE + 120_000_100,
        (1, 1),
        **inner,
        **dict.fromkeys(_SAMPLE[1:], 0),
        writer_guid=bytes(16),
        size=0,
        result=0,
        begin=BASE + 120_000_000 - ORIGIN,
        serialize_begin=0,
        serialize_end=0,
        writer_history_add=0,
    )
    own = engine_of_tables(tables(recording.by_operation), origins={HOST: ORIGIN})
    expect_same(own, engine_of_tables(tables(recording.by_step)))
    seen = {name for name, *_ in own.findings}
    assert "long_operations" not in seen


def test_what_lasts_long_is_put_as_it_is_seen() -> None:
    """Nothing has to wait for its end, which is hours later."""
    recording, hours = Recording(), 7_200_000_000_000
    begin, added = BASE + 5, BASE + hours
    held, sample = {"writer": 9, "data": 70}, _sample(1_000)
    stamp = sample["source_timestamp"]
    recording.of_both("ros2:rmw_publish", BASE, (1, 1), message=70, source_timestamp=stamp)
    recording.step("dds:write_begin", begin, (1, 1), **held)
    recording.step("dds:serialize_begin", begin + 10, (1, 1), data=70)
    recording.step("dds:serialize_end", begin + 20, (1, 1), data=70, size=40)
    recording.step("dds:writer_history_add", added, (1, 1), **sample, size=40)
    recording.step("dds:write_end", added + 50, (1, 1), writer=9, result=0)
    seen = _unfinished(may_end=1, begin=begin - ORIGIN, writer_guid=WRITER, first_step=10, size=40)
    recording.operation("dds:unfinished", BASE + 100_000_000, (1, 77), **seen)
    seen |= {"second_step": 20}
    recording.operation("dds:unfinished", BASE + 200_000_000, (1, 77), **seen)
    end = added + 50
    spans = {"serialize_begin": 10, "serialize_end": 20}
    # In microseconds.
    spans["writer_history_add"] = SPAN + (added - 5 - BASE) // 1000
    begins = {"begin": begin - ORIGIN}
    recording.operation(
        "dds:written", end, (1, 1), **held, **sample, size=40, result=0, **begins, **spans
    )
    recording.write((3, 3), BASE + hours // 2, 1, lent=False)
    own = engine_of_tables(tables(recording.by_operation), origins={HOST: ORIGIN})
    other = engine_of_tables(tables(recording.by_step))
    assert {name for name, *_ in own.findings} == {name for name, *_ in other.findings}
    for name in ("writes", "publishes"):
        for column in other.rows()[name].keys() - {"at"}:
            assert np.array_equal(own.rows()[name][column], other.rows()[name][column]), column


def test_what_lasts_too_long_is_counted() -> None:
    """It was not seen going on: every event would have to wait as long."""
    recording, long = Recording(), 11_000_000_000
    for number in range(3):
        recording.write((3, 3), BASE + 1_000 + number, number, lent=False)
    rest = dict.fromkeys(("serialize_begin", "serialize_end", "writer_history_add"), 0)
    sample = _sample(7)
    recording.operation(
        "dds:written",
        BASE + long,
        (1, 1),
        writer=9,
        data=70,
        size=0,
        result=0,
        begin=BASE - ORIGIN,
        **sample,
        **rest,
    )
    own = engine_of_tables(tables(recording.by_operation), origins={HOST: ORIGIN})
    assert ("long_operations", 1) in [(name, count) for name, _, _, count, *_ in own.findings]


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_what_the_watch_says_after_the_operations_own_event_does_not_count(kind: int) -> None:
    """It had looked before the operation ended, and had to wait for a CPU."""
    recording = Recording()
    sent = recording.write((1, 1), BASE + 1_000, 0, lent=False)
    notified = recording.receive((2, 3), sent + 15, 0)
    recording.take((2, 2), notified + 50, 0)
    begin, process, thread = {
        1: (BASE + 1_000, 1, 1),
        2: (notified + 50, 2, 2),
        3: (sent, 1, 1),
        4: (sent + 15, 2, 3),
    }[kind]
    late = _unfinished(may_end=1, begin=begin - ORIGIN, operation=kind, writer_guid=WRITER)
    recording.operation(
        "dds:unfinished", BASE + 100_000_000, (process, 77), **late | {"thread": thread}
    )
    own = engine_of_tables(tables(recording.by_operation), origins={HOST: ORIGIN})
    expect_same(own, engine_of_tables(tables(recording.by_step)))


@pytest.mark.parametrize("kind", [2, 3, 4])
def test_other_operations_that_do_not_end_have_their_steps(kind: int) -> None:
    recording, begin, size = Recording(), BASE + 1_000, 400_000
    named = {"writer_guid": WRITER, "sequence_number": 3, "source_timestamp": BASE}
    buffer = {"transport": 1, "bytes": 60_000, **named, "size": size}
    seen: Row = {"operation": kind, "begin": begin - ORIGIN}
    if kind == 2:
        recording.step("dds:take_begin", begin, (1, 1), reader=9)
        recording.step("dds:deserialize_begin", begin + 10, (1, 1), data=70)
        seen |= {"first_step": 10}
    elif kind == 3:
        parts = {"fragment": 5, "fragment_count": 2, "fragment_size": 65_000}
        recording.step("dds:send_begin", begin, (1, 1), **buffer, **parts)
        names = ("first_step", "second_step", "third_step")
        seen |= buffer | dict(zip(names, parts.values(), strict=True))
    else:
        whole = {"fragment": 0, "fragment_count": 0, "fragment_size": 0}
        recording.step("dds:receive", begin, (1, 1), port=7411, **buffer, **whole)
        recording.step("dds:reader_history_add", begin + 10, (1, 1), **named, size=size)
        seen |= buffer | {"port": 7411, "first_step": 10}
    recording.of_both("ros2:rmw_publish", BASE, (3, 3), message=70, source_timestamp=BASE)
    recording.operation("dds:unfinished", begin + 150_000_000, (1, 77), **_unfinished(**seen))
    own = engine_of_tables(tables(recording.by_operation), origins={HOST: ORIGIN})
    other = engine_of_tables(tables(recording.by_step))
    for table in ("transmissions", "notifications"):
        assert repr(getattr(own, table)()) == repr(getattr(other, table)())


def test_without_the_clocks_origin_steps_are_at_the_end_of_their_operation() -> None:
    recording = messages(1, count=3)
    own = engine_of_tables(tables(recording.by_operation))
    writes = own.rows()["writes"]
    assert (writes["serialize_begin_ns"] <= writes["end_ns"]).all()
    assert len(writes["end_ns"]) == 3


def test_every_step_is_of_an_operation() -> None:
    of = {event.step_of for event in CATALOGUE.values() if event.step_of}
    assert of == {"written", "taken", "sent"}
    assert of < {event.name for event in OPERATIONS}
