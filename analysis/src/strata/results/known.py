# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is known from earlier windows: entities and their names, numbers, grids of timers, hops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from strata.layers.deliveries import Names
from strata.live.known_names import KnownNames
from strata.pipeline.stored_rows import StoredRows
from strata.read.results import ResultsDirectory
from strata.results.numbering import Numbers
from strata.results.timer_grids import TimerGrids
from strata.schema.arrow import no_values, values_of
from strata.schema.rows import Coded
from strata.schema.stored import HOP_COUNTS, STORED, Stored
from strata.schema.table import Table

_HOP = ("topic", "publisher_node", "subscription_node")


class Known:
    """Of one results directory; it is learned again from what is stored there.

    `names` are the init events (of which the directory has none), `heard` the hops over which
    something was received.
    """

    def __init__(self, directory: ResultsDirectory) -> None:
        self.names = KnownNames()
        self.numbers = Numbers(directory.contents.next_numbers)
        self.grids = TimerGrids()
        self.heard: set[Names] = set()
        self._entities: dict[str, dict[int, dict[str, Any]]] = {}
        if directory.contents.windows:
            self._learn(directory)

    def changed(self, stored: Stored, rows: pa.Table) -> pa.Table:
        """Return the entities of which something is new; what was known of them stays known."""
        known = self._entities.setdefault(stored.name, {})
        changed = []
        for row in rows.to_pylist():
            number = row[stored.key]
            before = known.get(number)
            newest = row if before is None else _latest(before, row)
            if newest != before:
                known[number] = newest
                changed.append(newest)
        return pa.Table.from_pylist(changed, schema=rows.schema)

    def _learn(self, directory: ResultsDirectory) -> None:
        for stored in STORED:
            if stored.handle:
                self._learn_entities(directory, stored)
            elif stored.identity:
                frame = _frame(directory, stored.table, [stored.key, *stored.identity])
                numbers = frame.pop(stored.key).to_numpy(np.int64)
                self.numbers.know_recent(stored, frame, numbers)
        rows = StoredRows(directory)
        self.grids.know(rows.rows("timers"), rows.rows("timer_fires"))
        hops = _frame(directory, HOP_COUNTS, [*_HOP, "received"])
        heard = hops[hops["received"] > 0]
        self.heard.update(zip(*(map(str, heard[name]) for name in _HOP), strict=True))

    def _learn_entities(self, directory: ResultsDirectory, stored: Stored) -> None:
        found = directory.read(stored.name, stored.table.names)
        known = self._entities.setdefault(stored.name, {})
        for row in found.to_pylist() if found.num_columns else ():
            number = row[stored.key]
            if number not in known:
                self.numbers.know_entity(stored, row, number)
            known[number] = row


def _latest(before: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of an entity: what was known first, and its newest end."""
    known = {
        column: value if before[column] is None else before[column] for column, value in row.items()
    }
    # A process without any event in a window has no begin there.
    if "end_ns" in row and (row["begin_ns"] or 0) > 0:
        known["end_ns"] = row["end_ns"]
    return known


def _frame(directory: ResultsDirectory, table: Table, names: Sequence[str]) -> pd.DataFrame:
    """Return columns as they are compared: text as objects, null integers as -1."""
    found = directory.read(table.name, names)
    columns: dict[str, Any] = {}
    for column in table.columns:
        if column.name in names:
            part = found[column.name] if found.num_columns else None
            values = no_values(column) if part is None else values_of(column, part)
            columns[column.name] = values.texts() if isinstance(values, Coded) else values
    return pd.DataFrame(columns)
