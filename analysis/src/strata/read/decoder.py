# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From CTF traces to record batches: the native decoder with Strata's names of columns."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from strata.errors import TraceError
from strata.lazy import pyarrow as pa
from strata.read import _ctf
from strata.read.discover import CtfTrace
from strata.schema.events import CONTEXT_COLUMNS, column_name

NO_TIME = -(2**63)  # in `Decoder.packets`
_FIRST_NS = -(2**63)
_LAST_NS = 2**63 - 1


@dataclass(frozen=True)
class Selection:
    """What is wanted of a trace.

    `events` and `columns` are names, null for all; columns that an event lacks are left out of its
    table. What the decoder gives has `timestamp` and `host` even where `columns` does not name
    them. `begin_ns` is inclusive and `end_ns` exclusive, since the epoch, null for the ends of the
    trace.
    """

    events: frozenset[str] | None = None
    columns: frozenset[str] | None = None
    begin_ns: int | None = None
    end_ns: int | None = None


EVERYTHING = Selection()


@dataclass(frozen=True)
class Damage:
    """Bytes of a stream file that were not read, and why."""

    path: str
    offset: int
    size: int
    truncated: bool
    reason: str


@dataclass(frozen=True)
class StreamFile:
    """A stream file of the traces; `path` is for people: what is not UTF-8 in it is replaced."""

    path: str
    size: int
    trace: int
    of_kernel: bool = False


@dataclass(frozen=True)
class ExtractedEvent:
    """One event as bytes that can stand in any packet of its stream, and its fields' bytes.

    `packet` is its row of `Decoder.packets`, `cycles` its time. Fields are by their own names,
    those of the payload before contexts of the same name.
    """

    name: str
    packet: int
    cycles: int
    content: bytes
    fields: dict[str, bytes]


class Decoder:
    """The packets of several CTF traces, found and ready to be decoded as one trace."""

    def __init__(self, traces: list[CtfTrace]) -> None:
        """Read all packet headers. Raises TraceError when a file cannot be read."""
        self._traces = _ctf.Traces()
        self._kernels = [trace.metadata.environment.get("domain") == "kernel" for trace in traces]
        try:
            for trace in traces:
                files = [os.fsencode(path) for path in trace.stream_files()]
                self._traces.add(trace.metadata, trace.hostname, files)
            self._traces.index()
        except OSError as error:
            raise TraceError(f"Cannot read trace: {error.strerror or error}.") from error
        self._found_damage: dict[Damage, None] = {}
        self._misplaced: dict[tuple[int, int], int] = {}
        self.out_of_order = 0

    @cached_property
    def packets(self) -> dict[str, npt.NDArray[np.int64]]:
        """Columns of all packets, stream after stream; see _ctf.pyi."""
        return self._traces.packets()

    @cached_property
    def missing_packets(self) -> dict[str, npt.NDArray[np.int64]]:
        """The same columns, of packets that the indexes know and that no stream file holds."""
        return self._traces.missing_packets()

    @property
    def misplaced(self) -> dict[tuple[int, int], int]:
        """Events left out for times that are not of their packet, by file and the packet's byte.

        As far as events were decoded.
        """
        return dict(self._misplaced)

    @cached_property
    def index_faults(self) -> dict[int, str]:
        """By file: why the index beside it is no witness."""
        return dict(reversed(self._traces.index_faults))

    @cached_property
    def mended_headers(self) -> Counter[int]:
        """By file: packet headers that were damaged and are mended."""
        found: Counter[int] = Counter()
        for file, count in self._traces.mended_headers:
            found[file] += count
        return found

    @property
    def traces(self) -> _ctf.Traces:
        """The indexed traces, as native code reads them."""
        return self._traces

    @cached_property
    def files(self) -> list[StreamFile]:
        """All stream files; a packet's `file` is an index into them."""
        return [
            StreamFile(path.decode(errors="replace"), size, trace, self._kernels[trace])
            for path, size, trace in self._traces.files
        ]

    @property
    def damage(self) -> list[Damage]:
        """Bytes that were not read: of packets, and of events that were decoded so far."""
        found = dict.fromkeys(self._named(self._traces.damage))
        return [*found, *(item for item in self._found_damage if item not in found)]

    @property
    def duplicate_packets(self) -> int:
        """Packets that stand in several directories (overlapping snapshots), read once."""
        return self._traces.duplicate_packets

    def read(self, selection: Selection, chunk_rows: int, chunk_bytes: int = 64 << 20) -> Reading:
        """Begin to decode what is selected.

        A chunk ends at `chunk_rows` events, or when one of its tables has `chunk_bytes`.
        """
        reader = _ctf.Reader(
            self._traces,
            [self._wish(name, fields, selection) for _, name, fields in self._classes],
            begin_ns=_clamped(selection.begin_ns, _FIRST_NS),
            last_ns=_clamped(selection.end_ns, _LAST_NS + 1) - 1,
            chunk_rows=chunk_rows,
            chunk_bytes=chunk_bytes,
        )
        return Reading(self, reader)

    def extract(self, events: frozenset[str]) -> Iterator[ExtractedEvent]:
        """Take the events of these names out of their packets, stream after stream.

        Raises TraceError when a file cannot be read, or events cannot stand elsewhere.
        """
        classes = self._classes
        columns = [
            [name for scope, _, name in fields if scope != "packet"] for _, _, fields in classes
        ]
        try:
            found = self._traces.extract([name in events for _, name, _ in classes])
        except OSError as error:
            raise TraceError(f"Cannot read trace: {error.strerror or error}.") from error
        except ValueError as error:
            raise TraceError(f"Cannot keep events of a trace: {error}.") from error
        for number, packet, cycles, content, bounds in found:
            fields = {}
            for name, begin, end in zip(columns[number], bounds[:-1], bounds[1:], strict=True):
                fields[name] = content[begin:end]
            yield ExtractedEvent(classes[number][1], packet, cycles, content, fields)

    def take_findings(
        self,
        damage: list[tuple[int, int, int, bool, str]],
        misplaced: list[tuple[int, int, int]],
        out_of_order: int,
    ) -> None:
        """Keep what decoding found wrong, as _ctf.Reader has it.

        The same thing found again counts once.
        """
        self._found_damage.update(dict.fromkeys(self._named(damage)))
        self.out_of_order = max(self.out_of_order, out_of_order)
        for file, offset, count in misplaced:
            known = self._misplaced.get((file, offset), 0)
            self._misplaced[file, offset] = max(known, count)

    @cached_property
    def names_packets(self) -> bool:
        """Whether packets, and not events, say what a thread is called."""
        return any(
            scope == "packet" and field == "procname"
            for _, _, fields in self._classes
            for scope, _, field in fields
        )

    @cached_property
    def _classes(self) -> list[tuple[int, str, list[tuple[str, int, str]]]]:
        return self._traces.event_classes

    def _named(self, damage: list[tuple[int, int, int, bool, str]]) -> list[Damage]:
        return [
            Damage(self.files[file].path, offset, size, truncated, reason)
            for file, offset, size, truncated, reason in damage
        ]

    @staticmethod
    def _wish(
        event: str, fields: list[tuple[str, int, str]], selection: Selection
    ) -> list[tuple[str, int, str]] | None:
        if selection.events is not None and event not in selection.events:
            return None
        wanted = []
        taken = {"timestamp", "host"}
        contexts = {name for name, _, _ in CONTEXT_COLUMNS}
        for scope, member, field in fields:
            name = column_name(event, field) if scope == "payload" else field
            # A context that is called as a column of every event, but is none of them.
            while name in taken or (scope == "payload" and name in contexts):
                name = f"_{name}"
            taken.add(name)
            if selection.columns is None or name in selection.columns:
                wanted.append((scope, member, name))
        return wanted


def _clamped(time_ns: int | None, otherwise: int) -> int:
    return otherwise if time_ns is None else min(max(time_ns, _FIRST_NS + 1), _LAST_NS)


class Reading:
    """Chunks of decoded events, in order of time; use `Decoder.read`.

    Iteration gives lists of (number of the table, batch). Tables of one event name that have
    different numbers have different columns (traces of several distributions, say). Within a
    number, rows are in order of time over all chunks. Raises TraceError.
    """

    def __init__(self, decoder: Decoder, reader: _ctf.Reader) -> None:
        self._decoder = decoder
        self._reader = reader

    @cached_property
    def tables(self) -> list[tuple[str, pa.Schema]]:
        """Event name and columns of each table."""
        return [(event, pa.schema(schema)) for event, schema in self._reader.tables]

    @property
    def kinds(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """Event name, and names and kinds (strata.read.kinds) of the columns of each table."""
        return [(event, schema.kinds) for event, schema in self._reader.tables]

    def __iter__(self) -> Iterator[list[tuple[int, pa.RecordBatch]]]:
        try:
            for chunk in self._reader:
                yield [(batch.table, pa.record_batch(batch)) for batch in chunk]
        except OSError as error:
            raise TraceError(f"Cannot read trace: {error.strerror or error}.") from error
        finally:
            # Also when only some chunks are wanted: what was found in them counts.
            found = self._reader
            self._decoder.take_findings(found.damage, found.misplaced, found.out_of_order)
