# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the middleware did with each message, from the engine's rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from strata.model.columns import NONE, Ints
from strata.model.dds.middleware import Middleware
from strata.model.dds.reads import Notified, Reads
from strata.model.dds.writes import Writes
from strata.onepass.numbers import Numbers
from strata.onepass.tables import EngineTables
from strata.onepass.when_asked import when_asked
from strata.schema.rows import Coded, nulls


class _Samples:
    """Samples by the engine's numbers, as strata.model.dds.samples.Samples gives them."""

    def __init__(self, tables: EngineTables) -> None:
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


class _Wire:
    """What findings say of the wire; the way of each message is EngineFacts.ways."""

    def __init__(self, refused: int) -> None:
        self.refused = refused


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
    times = ("begin_ns", "deserialize_begin_ns", "deserialize_end_ns", "made_ns")
    reads = when_asked(
        Reads,
        {name: read(name) for name in (*times, "sample")}
        | {"reader": lambda: np.zeros((taken, 2), np.uint64)},
    )
    notified = when_asked(
        Notified,
        {
            "ns": read("notified_ns"),
            "thread": read("notified_thread"),
            "added_ns": read("added_ns"),
            "unnumbered": lambda: read("unnumbered")() == 1,
            "inferred": lambda: found.get("inferred_notifications", 0),
        },
    )
    return Middleware(
        _Samples(tables),  # type: ignore[arg-type]
        writes,
        reads,
        notified,
        _Wire(found.get("refused_sends", 0)),  # type: ignore[arg-type]
        found.get("incomplete_samples", 0),
    )
