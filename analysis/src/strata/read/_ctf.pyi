# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The CTF decoder, from analysis/native. It knows nothing of ROS; strata.read.decoder uses it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

# (file number, byte offset, bytes, whether the file ends inside a packet, reason)
_Damage = tuple[int, int, int, bool, str]
# (scope, member, column name); the scopes are "common", "specific", "packet" and "payload"
_Column = tuple[str, int, str]

class MetadataError(ValueError):
    """Metadata that are wrong or not supported; the text begins with the place."""

class Metadata:
    """The layout that a metadata file declares."""

    version: int
    """Of CTF: 1 (that is 1.8) or 2."""
    uuid: str
    """Empty when the metadata have none."""
    cut: str
    """Where and how the metadata end too early; empty when they are whole."""
    environment: dict[str, int | str]
    event_names: list[str]
    clocks: list[dict[str, Any]]
    """name, uuid (empty when not declared), frequency (Hz), offset_seconds, offset_cycles,
    offset_ns (of clock value 0)."""

    def take_offset_of(self, other: Metadata) -> None:
        """Take the offset of the other's first clock for the own; before events are decoded."""

def parse_metadata(data: bytes) -> Metadata:
    """Parse packetized or plain TSDL, or CTF 2's JSON. Raises MetadataError."""

class Traces:
    """CTF traces that are read as one; `add` them in the order of ties, then `index`."""

    def add(self, metadata: Metadata, host: str, files: Sequence[bytes]) -> None: ...
    def index(self) -> None:
        """Read the header of every packet; once, after the last `add`. Raises OSError."""
    event_classes: list[tuple[int, str, list[_Column]]]
    """Of every event class: number of its trace, event name, fields in declared order."""
    files: list[tuple[bytes, int, int]]
    """Path, bytes, number of the trace."""
    damage: list[_Damage]
    duplicate_packets: int
    index_faults: list[tuple[int, str]]
    """File number, and why the index beside that file is no witness of it."""
    mended_headers: list[tuple[int, int]]
    """File number, and how many packet headers were damaged and are mended."""
    def packets(self) -> dict[str, npt.NDArray[np.int64]]:
        """Of every packet, stream after stream: stream, file, offset, bytes, content_bits,
        events_at (bits before the first event), begin_ns, end_ns, sequence, discarded, instance,
        sequence_bits, discarded_bits. Where a header does not say: -2**63 for times, -1 for
        numbers, 64 for bits."""
    def clock_origins(self, events: Sequence[str]) -> list[tuple[str, int]]:
        """Return hosts with when the clocks began to count that such events have, in ns since the
        epoch; of clocks that count nanoseconds. A host may have several."""

    def extract(self, wanted: Sequence[bool]) -> list[tuple[int, int, int, bytes, list[int]]]:
        """Take events out of their packets, as bytes that can stand in another of their stream.

        `wanted` is by the number of `event_classes`. Of every event, stream after stream: number
        of its class, row of `packets()`, time in cycles, bytes with LTTng's extended header, and
        bounds of its fields in these bytes (begin of the first, then the end of each, in the order
        of the class' fields without those of scope "packet"). Raises ValueError where a wanted
        class has another layout than LTTng-UST's, OSError."""
    def missing_packets(self) -> dict[str, npt.NDArray[np.int64]]:
        """The same columns, of packets that indexes know and that no stream file holds."""

class Schema:
    """Columns of a table, for Arrow."""

    def __arrow_c_schema__(self) -> object: ...
    kinds: list[tuple[str, str]]
    """Name and kind of each column, in Arrow's letters; equal types have equal kinds."""

class Batch:
    """A chunk of one table. Arrow reads it without a copy, and NumPy what Arrow has."""

    event: str
    table: int
    """Batches of one number have the same columns."""
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

class Reader:
    """Chunks of tables, merged by time. One wish for every event class; null: nothing of it."""

    def __init__(
        self,
        traces: Traces,
        wishes: Sequence[Sequence[_Column] | None],
        *,
        begin_ns: int = ...,
        last_ns: int = ...,
        chunk_rows: int = ...,
        chunk_bytes: int = ...,
    ) -> None: ...
    def __iter__(self) -> Iterator[list[Batch]]: ...
    def __next__(self) -> list[Batch]: ...
    tables: list[tuple[str, Schema]]
    """Event name and columns; a batch's `table` is an index into them."""
    damage: list[_Damage]
    misplaced: list[tuple[int, int, int]]
    """File number, byte of a packet, and how many of its events have times outside of it."""
    out_of_order: int
