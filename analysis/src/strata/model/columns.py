# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes and threads, and the events that the engine keeps whole, as columns.

A process is (host, vpid) and a thread is (host, vpid, vtid), numbered from 0 in this order; a
process id that is another process later on is several.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from strata.engine.tables import EngineTables
from strata.lazy import pandas as pd
from strata.schema.events import CATALOGUE
from strata.schema.rows import NONE as NONE
from strata.schema.rows import Ints as Ints

Words = npt.NDArray[np.uint64]

_EXACT_FLOATS = 2.0**53
_START = "ros2:callback_start"


@dataclass(frozen=True)
class Processes:
    """Every process and thread of a trace; the index is its dense number.

    `end_ns` is when another process got the process id; `NONE` for one that none came after.
    `always_named`: nodes are called by their process, too, though no other has their name.
    """

    host: list[str]
    vpid: Ints
    thread_process: Ints
    thread_vtid: Ints
    end_ns: Ints
    always_named: bool = False


def filled(values: pd.Series[Any]) -> Ints:
    """Return whole numbers that may be null as int64, with `NONE` for null.

    Raises ValueError for numbers that went through floats and are too large for them.
    """
    if values.dtype.kind == "f" and (values.abs() >= _EXACT_FLOATS).any():
        raise ValueError(f"{values.name}: whole numbers went through floats")
    return np.asarray(values.astype("Int64").fillna(NONE).to_numpy(np.int64), np.int64)


@dataclass(frozen=True)
class _Kept:
    """Events of one name: `columns` of numbers, which for text, bytes and lists are the engine's.

    `null` tells of columns of fields which events lack them.
    """

    columns: dict[str, Ints]
    null: dict[str, npt.NDArray[np.bool_]]
    process: Ints
    thread: Ints


class EventColumns:
    """The events that the engine keeps whole: those that make or change an entity.

    Of events of any other name there are none.
    """

    def __init__(self, tables: EngineTables) -> None:
        """Take the rows of an engine that is finished."""
        self._of = tables
        self._lists = tables.engine.lists
        self._runs = tables.engine.bytes
        self.processes = _processes(tables)
        self._kept = {
            name: self._kept_of(name, columns) for name, columns in tables.engine.inits().items()
        }
        self._add_unregistered()

    def _kept_of(self, name: str, columns: dict[str, Ints]) -> _Kept:
        made, null = {"timestamp": columns["timestamp"]}, {}
        for number, field in enumerate(CATALOGUE[name].fields):
            column = field.column or field.name
            null[column] = (columns["present"] >> number & 1) == 0
            made[column] = np.where(null[column], NONE, columns[column])
        process = self._of.process_number[columns["process"]]
        return _Kept(made, null, process, self._of.thread_number[columns["thread"]])

    def _add_unregistered(self) -> None:
        """The first runs of callbacks that were never registered, which make them entities."""
        registered = self.count("ros2:rclcpp_callback_register")
        address = self._of.ints("callbacks", "address")[registered:]
        if not len(address):
            return
        begin_ns = self._of.ints("callbacks", "begin_ns")[registered:]
        process = self._of.ints("callbacks", "process")[registered:]
        order = np.argsort(begin_ns, kind="stable")
        columns = {"timestamp": begin_ns[order], "callback": address[order]}
        no_thread = np.full(len(order), NONE, np.int64)
        self._kept[_START] = _Kept(columns, {}, process[order], no_thread)

    def __contains__(self, event: str) -> bool:
        return self.count(event) > 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the events that are kept."""
        return tuple(self._kept)

    def count(self, event: str) -> int:
        """Return the number of kept events of a name."""
        return len(self._kept[event].process) if event in self._kept else 0

    def ints(self, event: str, column: str) -> Ints:
        """Return an integer column; handles keep their 64 bits, nulls become `NONE`."""
        return self._kept[event].columns[column] if event in self._kept else np.empty(0, np.int64)

    def text(self, event: str, column: str) -> npt.NDArray[np.object_]:
        """Return a string column as objects; null stays None."""
        return self._of.words(self.ints(event, column))

    def lists(self, event: str, column: str) -> list[Ints]:
        """Return a column of lists of integers, one array a row; null is empty."""
        none = np.empty(0, np.int64)
        numbers = self.ints(event, column).tolist()
        return [none if number == NONE else self._lists[number] for number in numbers]

    def timestamps(self, event: str) -> Ints:
        """Return the events' times, ns since the epoch."""
        return self.ints(event, "timestamp")

    def process(self, event: str) -> Ints:
        """Return the dense process number of each event."""
        return self._kept[event].process if event in self._kept else np.empty(0, np.int64)

    def thread(self, event: str) -> Ints:
        """Return the dense thread number of each event; `NONE` of those that no thread kept."""
        return self._kept[event].thread if event in self._kept else np.empty(0, np.int64)

    def sizes(self, event: str, column: str) -> Ints:
        """Return the length in bytes of each value of a column of bytes; `NONE` for null."""
        runs = self._contents(event, column)
        return np.asarray([NONE if run is None else len(run) for run in runs], np.int64)

    def _contents(self, event: str, column: str) -> list[bytes | None]:
        numbers = self.ints(event, column).tolist()
        return [None if number == NONE else self._runs[number] for number in numbers]


def _processes(tables: EngineTables) -> Processes:
    order, threads = tables.process_order, tables.thread_order
    own = tables.rows["processes"]
    return Processes(
        [str(host) for host in tables.text("processes", "host")[order]],
        own["vpid"].astype(np.int64)[order],
        tables.ints("threads", "process")[threads],
        tables.rows["threads"]["vtid"].astype(np.int64)[threads],
        own["end_ns"].astype(np.int64)[order],
    )
