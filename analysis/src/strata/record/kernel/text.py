# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The text of `perf script` as columns: whole blocks at once, no loop over its lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from strata.lazy import arrow_compute as pc
from strata.lazy import pyarrow as pa
from strata.record.kernel.events import Form, PerfEvent

SCRIPT_FIELDS = "tid,cpu,time,event,trace"
"""What `perf script -F` is to print; `SWITCH_FIELDS` for a record of context switches alone."""
SWITCH_FIELDS = "comm,tid,cpu,time"

_HEAD = rb"^ *-?\d+ +\[(?P<cpu>\d+)\] +(?P<s>\d+)\.(?P<ns>\d{9}): +(?P<event>\S+?):? +(?P<rest>.*)$"
_SWITCH = (
    rb"^ *(?P<prev_comm>.*?) +(?P<prev_tid>-?\d+) +\[(?P<cpu>\d+)\] +(?P<s>\d+)\.(?P<ns>\d{9}): +"
    rb"PERF_RECORD_SWITCH_CPU_WIDE OUT +(?P<prev_state>preempt)? *"
    rb"next pid/tid: *-?\d+/(?P<next_tid>-?\d+) *$"
)
_LOST = "PERF_RECORD_LOST"
_SWITCHED = "PERF_RECORD_SWITCH_CPU_WIDE"
# Letters of the kernel's task states (fs/proc/array.c); `+` is a preemption.
_STATES = dict(zip("RSDTtXZPI", (0, 1, 2, 4, 8, 16, 32, 64, 128), strict=True))
_PREEMPTED = 256
_WIDTH = {Form.COMM: 16, Form.NAME: 32}
_DTYPES = {
    Form.INT32: "<i4",
    Form.HANDLED: "<i4",
    Form.UINT32: "<u4",
    Form.INT64: "<i8",
    Form.STATE: "<i8",
    Form.HEX: "<u8",
}
Array = npt.NDArray[Any]


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return `size` bytes; less only at the end."""


@dataclass(frozen=True)
class Batch:
    """Events of one name, in order of time; `fields` are those of the event, by name."""

    event: PerfEvent
    time_ns: npt.NDArray[np.int64]
    cpu: npt.NDArray[np.int64]
    fields: Mapping[str, Array]


@dataclass(frozen=True)
class Lost:
    """Events of one CPU that perf had no space for; it noticed the last ones at `until_ns`."""

    count: int
    until_ns: int


@dataclass(frozen=True)
class Block:
    """A part of the text; `lost` tells by CPU what perf lost, `unread` counts its other lines."""

    batches: list[Batch]
    lost: Mapping[int, Lost]
    unread: int


def dtype_of(form: Form) -> str:
    """Return the NumPy type that holds a field."""
    return f"S{_WIDTH[form]}" if form in _WIDTH else _DTYPES[form]


def read_script(
    stream: Readable, events: list[PerfEvent], *, switches: bool, block_bytes: int = 32 << 20
) -> Iterator[Block]:
    """Parse what `perf script --ns` prints, block by block.

    `switches` tells that it holds PERF_RECORD_SWITCH_CPU_WIDE in place of tracepoints.
    """
    parse: Callable[[pa.Array], Block] = (
        (lambda lines: _switches(lines, events[0]))
        if switches
        else (lambda lines: _tracepoints(lines, events))
    )
    rest = b""
    while part := stream.read(block_bytes):
        whole, newline, rest = (rest + part).rpartition(b"\n")
        if newline:
            yield parse(_lines(whole))
    if rest:
        yield parse(_lines(rest))


def _lines(text: bytes) -> pa.Array:
    return pc.split_pattern(pa.array([text], pa.large_binary()), b"\n").values


def _tracepoints(lines: pa.Array, events: list[PerfEvent]) -> Block:
    heads = _matched(lines, _HEAD)
    names = heads.field("event").dictionary_encode()
    known = names.dictionary.to_pylist()
    read = len(heads)
    batches = []
    for event in events:
        if event.perf.encode() not in known:
            continue
        rows = heads.filter(pc.equal(names, event.perf.encode()))
        rest = pc.extract_regex(rows.field("rest"), f"^{event.pattern} *$".encode())
        fitting = rest.is_valid()
        rows, rest = rows.filter(fitting), rest.filter(fitting)
        read -= fitting.false_count
        fields = {name: _values(rest.field(name), form) for name, form in event.fields}
        batches.append(Batch(event, _times(rows), _ints(rows.field("cpu")), fields))
    lost = heads.filter(pc.equal(names, _LOST.encode()))
    unread = len(lines) - read
    return Block(batches, _lost(lost), unread)


def _switches(lines: pa.Array, event: PerfEvent) -> Block:
    """Read switches without tracepoints; the next thread's name and all priorities are unknown.

    A thread that has just ended has the id -1.
    """
    rows = _matched(lines, _SWITCH)
    heads = _matched(lines, _HEAD.replace(rb"^ *-?\d+ +", rb"^.* +-?\d+ +"))
    event_names = heads.field("event")
    lost = heads.filter(pc.equal(event_names, _LOST.encode()))
    # The same switch, as the thread that comes sees it.
    came = pc.and_(
        pc.equal(event_names, _SWITCHED.encode()), pc.starts_with(heads.field("rest"), b"IN ")
    )
    unread = len(lines) - len(rows) - len(lost) - came.true_count
    preempted = pc.equal(rows.field("prev_state"), b"preempt").to_numpy(zero_copy_only=False)
    size = len(rows)
    fields: dict[str, Array] = {
        "prev_comm": _values(rows.field("prev_comm"), Form.COMM),
        "prev_tid": _values(rows.field("prev_tid"), Form.INT32),
        "prev_prio": np.full(size, -1, "<i4"),
        "prev_state": np.where(preempted, _PREEMPTED, 1).astype("<i8"),
        "next_comm": np.zeros(size, "S16"),
        "next_tid": _values(rows.field("next_tid"), Form.INT32),
        "next_prio": np.full(size, -1, "<i4"),
    }
    batch = Batch(event, _times(rows), _ints(rows.field("cpu")), fields)
    return Block([batch], _lost(lost), unread)


def _matched(lines: pa.Array, pattern: bytes) -> pa.Array:
    found = pc.extract_regex(lines, pattern)
    return found.filter(found.is_valid())


def _times(rows: pa.Array) -> npt.NDArray[np.int64]:
    return _ints(rows.field("s")) * 1_000_000_000 + _ints(rows.field("ns"))


def _ints(column: pa.Array) -> npt.NDArray[np.int64]:
    numbers: npt.NDArray[np.int64] = column.cast(pa.string()).cast(pa.int64()).to_numpy()
    return numbers


def _values(column: pa.Array, form: Form) -> Array:
    if form in (Form.INT32, Form.UINT32, Form.INT64):
        return _ints(column).astype(_DTYPES[form])
    encoded = column.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    if form is Form.HEX:
        values: Array = np.array([int(text, 16) for text in distinct], _DTYPES[form])
    elif form is Form.STATE:
        values = np.array([state_of(text.decode()) for text in distinct], _DTYPES[form])
    elif form is Form.HANDLED:
        values = np.array([text == b"handled" for text in distinct], _DTYPES[form])
    else:
        values = np.array([_utf8(text, _WIDTH[form]) for text in distinct], dtype_of(form))
    return values[encoded.indices.to_numpy()] if len(distinct) else values


def _utf8(text: bytes, width: int) -> bytes:
    """Return the text as UTF-8 of at most `width` bytes, whole characters only."""
    whole = text.decode("utf-8", "replace").encode()[:width]
    return whole.decode("utf-8", "ignore").encode()


def state_of(letters: str) -> int:
    """Return the number of a task state that the kernel printed as letters ("S", "R+", "D|K")."""
    if re.fullmatch(r"(0x)?[0-9a-f]+", letters):
        return int(letters, 16)
    state = _PREEMPTED if letters.endswith("+") else 0
    for letter in letters.rstrip("+").split("|"):
        state |= _STATES.get(letter, 1)
    return state


def _lost(rows: pa.Array) -> dict[int, Lost]:
    counts = pc.extract_regex(rows.field("rest"), rb"^lost (?P<count>\d+) *$")
    cpu, count, ns = _ints(rows.field("cpu")), _ints(counts.field("count")), _times(rows)
    return {
        int(one): Lost(int(count[cpu == one].sum()), int(ns[cpu == one].max()))
        for one in np.unique(cpu)
    }
