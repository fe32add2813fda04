# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Records the `dds` events of several programs at once, and reads them.

`read` gives the events of a trace; of an operation those of its steps, each at its own time.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bt2
from traced_ros import INSTALLED, Lttng, alone

LIBRARY = INSTALLED / "jazzy/lib/dds_tracepoints/libdds_tracepoints.so"
HOOKS = INSTALLED / "jazzy/share/dds_tracepoints/hooks.def"
PATIENCE_S = 120


@dataclass(frozen=True)
class Program:
    line: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended:
    """How a program ended; `code` is 0 for all of them, else the test has failed."""

    pid: int
    out: str
    err: str


@dataclass(frozen=True)
class DdsEvent:
    name: str
    time_ns: int
    vpid: int
    vtid: int
    fields: dict[str, int | str | bytes] = field(repr=False)

    def __getitem__(self, name: str) -> int | str | bytes:
        return self.fields[name]

    @property
    def sample(self) -> tuple[bytes, int]:
        """The writer's GUID and the sequence number."""
        guid, sequence = self["writer_guid"], self["sequence_number"]
        assert isinstance(guid, bytes) and isinstance(sequence, int)
        return guid, sequence


def start(program: Program, lttng: Lttng | None) -> subprocess.Popen[str]:
    line = alone(program.line, program.environment, lttng)
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(programs: Sequence[Program], lttng: Lttng | None = None) -> list[Ended]:
    """Run programs at once, with the hooks' events going to `lttng`."""
    started = [start(program, lttng) for program in programs]
    ended = []
    with contextlib.ExitStack() as left:
        for process in started:
            left.callback(process.kill)
        for process in started:
            out, err = process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0, (process.args, out, err)
            ended.append(Ended(process.pid, out, err))
    return ended


def trace(lttng: Lttng, programs: Sequence[Program]) -> tuple[list[Ended], list[DdsEvent]]:
    """Run programs at once and record their `dds` events; give both."""
    session, output = lttng.start("dds:*")
    try:
        ended = run(programs, lttng)
    finally:
        lttng.stop(session)
    return ended, list(read(output)) if any(output.rglob("metadata")) else []


def read(path: Path) -> Iterator[DdsEvent]:
    """Give the events of a trace in order of time, with steps in place of operations."""
    events: list[DdsEvent] = []
    given: dict[tuple[int, int, int | str | bytes], int] = {}
    for event, clock in read_raw(path):
        steps = _steps(event, clock)
        if kind := _kind(event):
            # Of an operation that was seen going on, only the further steps are left.
            thread = int(event.fields.get("thread", event.vtid))
            operation = (thread, kind, event["begin"])
            before = given.get(operation, 0)
            given[operation] = max(before, len(steps))
            steps = steps[before:]
        events += steps
    return iter(sorted(events, key=lambda event: event.time_ns))


def read_raw(path: Path) -> Iterator[tuple[DdsEvent, int]]:
    """Give the events of a trace, as they were recorded, and the trace's clock at each."""
    for message in bt2.TraceCollectionMessageIterator(str(path)):
        assert type(message) is not bt2._DiscardedEventsMessageConst, "events were discarded"
        if type(message) is not bt2._EventMessageConst:
            continue
        event = message.event
        context = event.common_context_field
        read = DdsEvent(
            event.name.removeprefix("dds:"),
            message.default_clock_snapshot.ns_from_origin,
            int(context["vpid"]),
            int(context["vtid"]),
            {name: _value(value) for name, value in event.payload_field.items()},
        )
        yield read, message.default_clock_snapshot.value


_KINDS = {"written": 1, "taken": 2, "sent": 3, "received": 4}


def _kind(event: DdsEvent) -> int:
    """Give the kind of operation that an event is of, as `unfinished` has it; 0 for none."""
    return _KINDS.get(event.name, int(event.fields.get("operation", 0)))


_NO_FRAGMENTS = {"fragment": 0, "fragment_count": 0, "fragment_size": 0}
_SAMPLE = ("writer_guid", "sequence_number", "source_timestamp", "size")
_BUFFER = ("transport", "bytes", *_SAMPLE)


def span_ns(value: int) -> int:
    """Give a step's time after its operation's begin, as the event has it."""
    return value if value < 1 << 31 else (value - (1 << 31)) * 1000


def _steps(event: DdsEvent, clock: int) -> list[DdsEvent]:
    """Give what happened in an operation, as one event each; any other event as it is."""
    made: list[DdsEvent] = []
    fields = event.fields

    def add(name: str, after: int | None, *chosen: str, **more: int | str | bytes) -> None:
        time_ns = event.time_ns
        if after is not None:
            time_ns += fields["begin"] + span_ns(after) - clock
        own = {key: fields[key] for key in chosen} | more
        thread = int(fields.get("thread", event.vtid))
        made.append(DdsEvent(name, time_ns, event.vpid, thread, own))

    def add_if_done(name: str, step: str, *chosen: str, **more: int | str | bytes) -> None:
        if fields[step]:
            add(name, fields[step], *chosen, **more)

    if event.name == "written":
        add("write_begin", 0, "writer", "data")
        add_if_done("serialize_begin", "serialize_begin", "data")
        add_if_done("serialize_end", "serialize_end", "data", "size")
        add_if_done("writer_history_add", "writer_history_add", *_SAMPLE)
        add("write_end", None, "writer", "result")
    elif event.name == "taken":
        value = {"data": fields["buffer"]}
        add("take_begin", 0, "reader")
        add_if_done("deserialize_begin", "deserialize_begin", **value)
        add_if_done("deserialize_end", "deserialize_end", "size", **value)
        add("take_end", None, "reader", "buffer", *_SAMPLE[:3], "taken", "result")
    elif event.name == "sent":
        add("send_begin", 0, *_BUFFER, *_NO_FRAGMENTS)
        add("send_end", None, "transport", "address", "port", "destinations", "result")
    elif event.name == "received":
        add("receive", 0, "port", *_BUFFER, **_NO_FRAGMENTS)
        add_if_done("reader_history_add", "reader_history_add", *_SAMPLE)
        if fields["notified"]:
            add("reader_notify", None, "reader_guid", *_SAMPLE[:2])
    elif event.name in ("serialized", "deserialized"):
        verb = event.name[:-1]
        add(f"{verb}_begin", 0, "data")
        add_if_done(f"{verb}_end", "end", "data", "size")
    elif event.name == "unfinished":
        _unfinished(event, add)
    else:
        made.append(event)
    return made


def _unfinished(event: DdsEvent, add: Callable[..., None]) -> None:
    fields = event.fields
    entity, value = fields["entity"], {"data": fields["data"]}
    first, second, third = (fields[f"{step}_step"] for step in ("first", "second", "third"))
    if fields["operation"] == 1:
        add("write_begin", 0, "data", writer=entity)
        if first:
            add("serialize_begin", first, **value)
        if second:
            add("serialize_end", second, "size", **value)
        if third:
            add("writer_history_add", third, *_SAMPLE)
    elif fields["operation"] == 2:
        add("take_begin", 0, reader=entity)
        if first:
            add("deserialize_begin", first, **value)
        if second:
            add("deserialize_end", second, "size", **value)
    elif fields["operation"] == 3:
        parts = dict(zip(_NO_FRAGMENTS, (first, second, third), strict=True))
        add("send_begin", 0, *_BUFFER, **parts)
    else:
        add("receive", 0, "port", *_BUFFER, **_NO_FRAGMENTS)
        if first:
            add("reader_history_add", first, *_SAMPLE)


def _value(value: bt2._FieldConst) -> int | str | bytes:
    if isinstance(value, bt2._StringFieldConst):
        return str(value)
    # Sequences too, which have a field more: their length.
    if isinstance(value, bt2._ArrayFieldConst):
        return bytes(int(byte) for byte in value)
    return int(value)
