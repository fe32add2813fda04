# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The events that the engine keeps whole, as event columns: once an entity is made or changes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from strata.model.columns import NONE, EventColumns, Ints, Processes
from strata.onepass.tables import EngineTables
from strata.schema.event import Kind
from strata.schema.events import CATALOGUE

_START = "ros2:callback_start"


class KeptEvents(EventColumns):
    """Event columns of kept events; of all others there are none."""

    def __init__(self, tables: EngineTables) -> None:
        """Take the rows of an engine that is finished."""
        self._of = tables
        self._stand_ins = {}
        self._tables, self._process, self._thread = {}, {}, {}
        self._lists = tables.engine.lists
        self._runs = tables.engine.bytes
        self.processes = _processes(tables)
        for name, columns in tables.engine.inits().items():
            self._add(name, columns)
        self._add_unregistered()

    def _add(self, name: str, columns: dict[str, Ints]) -> None:
        made: dict[str, pa.Array] = {"timestamp": pa.array(columns["timestamp"])}
        for number, field in enumerate(CATALOGUE[name].fields):
            column = field.column or field.name
            there = (columns["present"] >> number & 1).astype(bool)
            made[column] = self._array(columns[column], field.kind, ~there)
        self._tables[name] = pa.table(made)
        self._process[name] = self._of.process_number[columns["process"]]
        self._thread[name] = self._of.thread_number[columns["thread"]]

    def _array(self, values: Ints, kind: Kind, null: np.ndarray) -> pa.Array:
        if kind is Kind.STRING:
            return pa.array(self._of.words(np.where(null, NONE, values)).tolist(), pa.string())
        if kind is Kind.BYTES:
            found = [
                None if absent else self._runs[number]
                for number, absent in zip(values.tolist(), null.tolist(), strict=True)
            ]
            return pa.array(found, pa.binary())
        if kind is Kind.HANDLES:
            lists = [
                None if absent else self._lists[number].astype(np.uint64)
                for number, absent in zip(values.tolist(), null.tolist(), strict=True)
            ]
            return pa.array(lists, pa.list_(pa.uint64()))
        return pa.array(values, mask=null)

    def _add_unregistered(self) -> None:
        """The first runs of callbacks that were never registered, which make them entities."""
        registered = self.count("ros2:rclcpp_callback_register")
        address = self._of.ints("callbacks", "address")[registered:]
        if not len(address):
            return
        begin_ns = self._of.ints("callbacks", "begin_ns")[registered:]
        process = self._of.ints("callbacks", "process")[registered:]
        order = np.argsort(begin_ns, kind="stable")
        self._tables[_START] = pa.table(
            {"timestamp": pa.array(begin_ns[order]), "callback": pa.array(address[order])}
        )
        self._process[_START] = process[order]
        self._thread[_START] = np.full(len(order), NONE, np.int64)


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
