# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Event tables as NumPy columns with dense process and thread numbers.

A process is (host, vpid) and a thread is (host, vpid, vtid), numbered from 0 over all event tables;
a process id that is another process later on is several (strata.model.generations).
Events without a vpid or vtid belong to no thread; they are counted and left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from strata.lazy import arrow_compute as pc
from strata.lazy import pandas as pd
from strata.lazy import pyarrow as pa
from strata.model.generations import Restart, find_restarts
from strata.schema.events import CATALOGUE
from strata.schema.kernel_events import is_of_kernel
from strata.schema.quality import Ledger

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_EXACT_FLOATS = 2.0**53
NONE = -1
"""Stands for null in dense ids and instants inside the model; frames turn it into null."""


@dataclass(frozen=True)
class Processes:
    """Every process and thread of a trace; the index is its dense number.

    `end_ns` is when another process got the process id; `NONE` for one that none came after.
    """

    host: list[str]
    vpid: Ints
    thread_process: Ints
    thread_vtid: Ints
    end_ns: Ints


def filled(values: pd.Series[Any]) -> Ints:
    """Return whole numbers that may be null as int64, with `NONE` for null.

    Raises ValueError for numbers that went through floats and are too large for them.
    """
    if values.dtype.kind == "f" and (values.abs() >= _EXACT_FLOATS).any():
        raise ValueError(f"{values.name}: whole numbers went through floats")
    return np.asarray(values.astype("Int64").fillna(NONE).to_numpy(np.int64), np.int64)


class EventColumns:
    """Columns of all event tables; a table that the trace does not hold has no rows."""

    def __init__(self, tables: dict[str, pa.Table], ledger: Ledger) -> None:
        known = {
            name: table
            for name, table in tables.items()
            # The kernel's threads are numbered by themselves (strata.model.scheduling).
            if name in CATALOGUE and not is_of_kernel(name)
        }
        self._tables = {name: _with_thread(table, ledger) for name, table in known.items()}
        self._stand_ins: dict[str, npt.NDArray[np.int8]] = {}
        self._number(find_restarts(self._tables, ledger))

    def add_stand_ins(
        self, name: str, source: str, rows: Ints, kind: Ints, payload: dict[str, pa.Array]
    ) -> None:
        """Add events that were not recorded, each told by a row of the events `source`.

        They have the time, process and thread of that row, and `payload`; `kind` (from 1) says by
        which rule each is told, and `stand_ins` gives it back.
        """
        if not len(rows):
            return
        of = self._tables[source]
        own = {field.column or field.name for field in CATALOGUE[source].fields}
        made = of.select([column for column in of.column_names if column not in own])
        made = made.take(pa.array(rows))
        for column, values in payload.items():
            made = made.append_column(column, values)
        process, thread = self._process[source][rows], self._thread[source][rows]
        told = kind.astype(np.int8)
        if name in self._tables:
            told = np.concatenate([self.stand_ins(name), told])
            made = pa.concat_tables([self._tables[name], made], promote_options="default")
            process = np.concatenate([self._process[name], process])
            thread = np.concatenate([self._thread[name], thread])
        order = np.argsort(made["timestamp"].to_numpy(), kind="stable")
        self._tables[name] = made.take(pa.array(order))
        self._process[name], self._thread[name] = process[order], thread[order]
        self._stand_ins[name] = told[order]

    def stand_ins(self, event: str) -> npt.NDArray[np.int8]:
        """Return by which rule each event of a name is told; 0 for one that was recorded."""
        return self._stand_ins.get(event, np.zeros(self.count(event), np.int8))

    def __contains__(self, event: str) -> bool:
        return event in self._tables and len(self._tables[event]) > 0

    def count(self, event: str) -> int:
        """Return the number of events of a name."""
        return len(self._tables[event]) if event in self._tables else 0

    def recorded(self, provider: str) -> bool:
        """Tell whether there is any event of a provider."""
        return any(name.startswith(f"{provider}:") and name in self for name in self._tables)

    def ints(self, event: str, column: str) -> Ints:
        """Return an integer column; handles keep their 64 bits, nulls become `NONE`."""
        if event not in self._tables:
            return np.empty(0, np.int64)
        values = self._tables[event][column]
        if values.null_count:
            values = pc.fill_null(values.cast(pa.int64()), NONE)
        return np.asarray(values.to_numpy()).astype(np.int64, copy=False)

    def text(self, event: str, column: str) -> npt.NDArray[np.object_]:
        """Return a string column as objects; null stays None."""
        if event not in self._tables:
            return np.empty(0, object)
        return np.asarray(self._tables[event][column].cast(pa.string()).to_pylist(), dtype=object)

    def lists(self, event: str, column: str) -> list[Ints]:
        """Return a column of lists of integers, one array a row; null is empty."""
        if event not in self._tables:
            return []
        values = self._tables[event][column].to_pylist()
        return [np.asarray(item or [], np.uint64).astype(np.int64) for item in values]

    def words(self, event: str, *columns: str) -> Words:
        """Return columns that have 16 bytes together as two words a row; zeros otherwise."""
        parts = [self._bytes(event, column) for column in columns]
        content = (
            np.concatenate(parts, axis=1) if self.count(event) else np.empty((0, 16), np.uint8)
        )
        if content.shape[1] != 16:
            return np.zeros((self.count(event), 2), np.uint64)
        return np.ascontiguousarray(content).view(np.uint64)

    def _bytes(self, event: str, column: str) -> npt.NDArray[np.uint8]:
        """Rows of bytes of the column's greatest length; zeros where a value is shorter."""
        if not self.count(event):
            return np.empty((0, 0), np.uint8)
        values = self._tables[event][column].combine_chunks()
        width = pc.max(pc.binary_length(values)).as_py() or 0
        whole = np.asarray(pc.fill_null(pc.equal(pc.binary_length(values), width), False))
        out = np.zeros((len(values), width), np.uint8)
        kept = values.filter(pa.array(whole)).cast(pa.binary(width)) if width else values
        content = np.frombuffer(kept.buffers()[1], np.uint8) if width else out
        out[whole] = content.reshape(-1, max(width, 1))[
            kept.offset : kept.offset + len(kept), :width
        ]
        return out

    def timestamps(self, event: str) -> Ints:
        """Return the events' times, ns since the epoch."""
        return self.ints(event, "timestamp")

    def process(self, event: str) -> Ints:
        """Return the dense process number of each event."""
        return self._process.get(event, np.empty(0, np.int64))

    def thread(self, event: str) -> Ints:
        """Return the dense thread number of each event."""
        return self._thread.get(event, np.empty(0, np.int64))

    def present(self, event: str, column: str) -> npt.NDArray[np.bool_]:
        """Return which events of a name carry a value in a column."""
        if event not in self._tables:
            return np.empty(0, bool)
        valid = self._tables[event][column].is_valid()
        return np.asarray(valid.to_numpy(), dtype=bool)

    def sizes(self, event: str, column: str) -> Ints:
        """Return the length in bytes of each value of a column; `NONE` for null."""
        if event not in self._tables:
            return np.empty(0, np.int64)
        lengths = pc.binary_length(self._tables[event][column])
        return np.asarray(pc.fill_null(lengths, NONE).to_numpy(), dtype=np.int64)

    def procnames(self, event: str) -> tuple[Ints, list[str]]:
        """Return the number of each event's procname in a list of names; `NONE` for null."""
        if event not in self._tables:
            return np.empty(0, np.int64), []
        column = self._tables[event]["procname"].unify_dictionaries().combine_chunks()
        whole = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        codes = pc.fill_null(whole.indices, NONE).to_numpy().astype(np.int64)
        return codes, [str(name) for name in whole.dictionary.to_pylist()]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the catalogue's events that the trace has tables of."""
        return tuple(self._tables)

    def _number(self, restarts: list[Restart]) -> None:
        tables = list(self._tables.values())
        host, hosts = _host_codes(tables)
        vpid, vpids = _codes([table["vpid"].to_numpy() for table in tables])
        vtid, vtids = _codes([table["vtid"].to_numpy() for table in tables])
        pair_of = host * len(vpids) + vpid
        ended = _ended(restarts, hosts, vpids)
        ns = [table["timestamp"].to_numpy() for table in tables] if restarts else []
        generation = _generation(pair_of, np.concatenate(ns), ended) if ns else pair_of * 0
        generations = len(restarts) + 1
        process, keys = _codes([pair_of * generations + generation])
        pairs = keys // generations
        thread, triples = _codes([process * len(vtids) + vtid])
        self.processes = Processes(
            [hosts[pair // len(vpids)] for pair in pairs],
            vpids[pairs % max(len(vpids), 1)],
            triples // max(len(vtids), 1),
            vtids[triples % max(len(vtids), 1)],
            _ends(pairs, keys % generations, ended),
        )
        self._process: dict[str, Ints] = {}
        self._thread: dict[str, Ints] = {}
        at = 0
        for name, table in self._tables.items():
            self._process[name] = process[at : at + len(table)]
            self._thread[name] = thread[at : at + len(table)]
            at += len(table)


def _codes(parts: list[Any]) -> tuple[Ints, Ints]:
    """Number the distinct values of all parts in ascending order; return numbers and values."""
    values = np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)
    codes, distinct = pd.factorize(values, sort=True)
    return codes.astype(np.int64, copy=False), np.asarray(distinct, np.int64)


def _ended(restarts: list[Restart], hosts: list[str], vpids: Ints) -> dict[int, Ints]:
    """By number of (host, vpid): the times at which its process ended and another began."""
    times: dict[int, list[int]] = {}
    for item in restarts:
        pair = hosts.index(item.host) * len(vpids) + int(np.searchsorted(vpids, item.vpid))
        times.setdefault(pair, []).append(item.at_ns)
    return {pair: np.asarray(sorted(found), np.int64) for pair, found in times.items()}


def _generation(pair: Ints, ns: Ints, ended: dict[int, Ints]) -> Ints:
    """How many processes had the event's process id before its own."""
    out = np.zeros(len(pair), np.int64)
    for number, times in ended.items():
        rows = pair == number
        out[rows] = np.searchsorted(times, ns[rows], side="right")
    return out


def _ends(pair: Ints, generation: Ints, ended: dict[int, Ints]) -> Ints:
    out = np.full(len(pair), NONE, np.int64)
    for number, times in ended.items():
        rows = np.flatnonzero((pair == number) & (generation < len(times)))
        out[rows] = times[generation[rows]]
    return out


def _host_codes(tables: list[pa.Table]) -> tuple[Ints, list[str]]:
    """Number the hosts by name, over tables whose dictionaries differ."""
    chunks = [chunk for table in tables for chunk in table["host"].chunks]
    hosts = sorted({str(host) for chunk in chunks for host in chunk.dictionary.to_pylist()})
    number = {host: code for code, host in enumerate(hosts)}
    parts = []
    for chunk in chunks:
        mapped = np.array([number[str(host)] for host in chunk.dictionary.to_pylist()], np.int64)
        parts.append(mapped[chunk.indices.to_numpy()])
    return (np.concatenate(parts) if parts else np.empty(0, np.int64)), hosts


def _with_thread(table: pa.Table, ledger: Ledger) -> pa.Table:
    if not table["vpid"].null_count and not table["vtid"].null_count:
        return table
    known = pc.and_(pc.is_valid(table["vpid"]), pc.is_valid(table["vtid"]))
    kept = table.filter(known)
    ledger.add("missing_contexts", len(table) - len(kept))
    return kept
