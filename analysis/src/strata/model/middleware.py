# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the events of the middleware show about publications and takes.

On the publishing thread: rmw_publish -> write_begin -> serialize_begin -> serialize_end ->
writer_history_add -> write_end. On the taking thread: take_begin -> deserialize_begin ->
deserialize_end -> take_end -> rmw_take. How each sample came to its reader is `Facts.ways`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from strata.engine.tables import EngineTables
from strata.model.columns import NONE, Ints
from strata.model.numbers import Numbers
from strata.model.when_asked import when_asked
from strata.schema.rows import Coded, Flags, nulls


class Samples:
    """Every sample of a trace by its number: its writer's GUID and its sequence number."""

    def __init__(self, tables: EngineTables) -> None:
        """Take the rows of an engine that is finished."""
        sequence = tables.ints("samples", "sequence")
        self.sequence: Ints = np.append(np.where(sequence == 0, NONE, sequence), NONE)
        self._writer = np.append(tables.ints("samples", "writer"), NONE)
        self._guids = tuple(run.hex() for run in tables.engine.bytes)

    def writer(self, sample: Ints) -> Ints:
        """Return a number of each sample's writer; `NONE` for `NONE`."""
        return self._writer[sample]

    def writer_gids(self, sample: Ints) -> Coded:
        """Return the writers' GUIDs as 32 hexadecimal digits; null for `NONE`."""
        return Coded(self._writer[sample], self._guids)

    def sequences(self, sample: Ints) -> Ints:
        """Return sequence numbers; `NONE` for `NONE`, and where none is known."""
        return self.sequence[sample]


@dataclass(frozen=True)
class Writes:
    """One row a publication; `NONE` is null.

    `sample` is a row of the samples; `size` the bytes that were made of the value, or of a loan
    those in the writer's history; `end_ns` when the write returned. `lent`: nothing was serialized.
    """

    serialize_begin_ns: Ints
    serialize_end_ns: Ints
    size: Ints
    sample: Ints
    end_ns: Ints
    lent: Flags


@dataclass(frozen=True)
class Reads:
    """One row a take; `NONE` is null."""

    begin_ns: Ints
    deserialize_begin_ns: Ints
    deserialize_end_ns: Ints
    sample: Ints


@dataclass(frozen=True)
class Notified:
    """When each take's reader was notified of its sample, and on which thread; `NONE` is null.

    `inferred` counts takes whose reader is not known, of samples that several readers of the
    process were told of.
    """

    ns: Ints
    thread: Ints
    inferred: int


@dataclass(frozen=True)
class Middleware:
    """What the middleware did; empty of knowledge (`NONE` everywhere) without `dds` events.

    `writes` has one row a publication, `reads` and `notified` one a take. `refused` counts sends
    that a socket refused, `incomplete` samples of which a process got only some fragments.
    """

    samples: Samples
    writes: Writes
    reads: Reads
    notified: Notified
    refused: int
    incomplete: int


def find_middleware(tables: EngineTables, numbers: Numbers) -> Middleware:
    """Return the passage of each publication and take; null without hooks."""
    published, taken = len(numbers.publish_order), len(numbers.take_order)

    def write(name: str) -> Callable[[], Ints]:
        if not tables.size("writes"):
            return lambda: nulls(published)
        return lambda: numbers.publications.of(tables.ints("writes", name))

    def read(name: str) -> Callable[[], Ints]:
        if not tables.size("reads"):
            return lambda: nulls(taken)
        return lambda: numbers.takes.of(tables.ints("reads", name))

    found: dict[str, int] = {}
    for code, _, _, count, _, _ in tables.engine.findings:
        found[code] = found.get(code, 0) + count
    writes = when_asked(
        Writes,
        {name: write(name) for name in ("serialize_begin_ns", "serialize_end_ns", "sample")}
        | {
            "size": write("size_bytes"),
            "end_ns": write("end_ns"),
            "lent": lambda: write("lent")() == 1,
        },
    )
    times = ("begin_ns", "deserialize_begin_ns", "deserialize_end_ns")
    reads = when_asked(Reads, {name: read(name) for name in (*times, "sample")})
    notified = when_asked(
        Notified,
        {
            "ns": read("notified_ns"),
            "thread": read("notified_thread"),
            "inferred": lambda: found.get("inferred_notifications", 0),
        },
    )
    return Middleware(
        Samples(tables),
        writes,
        reads,
        notified,
        found.get("refused_sends", 0),
        found.get("incomplete_samples", 0),
    )
