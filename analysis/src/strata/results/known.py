# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is known from earlier windows: entities and their names, numbers, grids of timers, hops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from strata.layers.deliveries import Names
from strata.live.known_names import KnownNames
from strata.read.results import ResultsDirectory
from strata.results.numbering import Numbers
from strata.results.timer_grids import TimerGrids
from strata.schema import tables
from strata.schema.arrow import no_values, values_of
from strata.schema.rows import NONE, Coded
from strata.schema.stored import HOP_COUNTS, STORED, Stored
from strata.schema.table import Table

# More than there are in lead and tail of a window, at 20,000 messages a second.
_ROWS = 400_000
_ENTITIES = 200_000


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

    @classmethod
    def again(cls, directory: ResultsDirectory, known: Known) -> Known:
        """Return what the directory has, after a window that was not written; names are kept."""
        found = cls(directory)
        found.names = known.names
        return found

    def changed(self, stored: Stored, rows: pa.Table) -> pa.Table:
        """Return the entities of which something is new; what was known of them stays known."""
        known, seen = self._entities.get(stored.name, {}), {}
        changed = []
        for row in rows.to_pylist():
            number = row[stored.key]
            before = known.get(number)
            newest = seen[number] = row if before is None else _latest(before, row)
            if newest != before:
                changed.append(newest)
        # What no window has any more is not needed: rclpy makes a timer for each call of spin_once.
        self._entities[stored.name] = seen
        return pa.Table.from_pylist(changed, schema=rows.schema)

    def _learn(self, directory: ResultsDirectory) -> None:
        for stored in STORED:
            if stored.handle:
                self._learn_entities(directory, stored)
            elif stored.identity:
                frame = _newest(directory, stored.table, [stored.key, *stored.identity])
                numbers = frame.pop(stored.key).to_numpy(np.int64)
                self.numbers.know_recent(stored, frame, numbers)
        self._learn_grids(directory)
        names = list(HOP_COUNTS.key)
        hops = directory.read(HOP_COUNTS.name, [*names, "received"])
        if hops.num_columns:
            heard = hops.filter(pc.greater(hops["received"], 0)).group_by(names).aggregate([])
            self.heard.update(tuple(row[name] for name in names) for row in heard.to_pylist())

    def _learn_grids(self, directory: ResultsDirectory) -> None:
        """Learn when the newest fires were due of the timers that are known."""
        places = {
            number: (row["host"], row["vpid"], row["handle"])
            for number, row in self._entities.get(tables.TIMERS.name, {}).items()
        }
        columns = ["timer_id", "start_ns", "expected_ns"]
        fires = _newest(directory, tables.TIMER_FIRES, columns)
        fires = fires[fires["expected_ns"] != NONE].sort_values("start_ns")
        for timer, own in fires.groupby("timer_id"):
            if timer in places:
                due = (own[name].to_numpy(np.int64) for name in ("start_ns", "expected_ns"))
                self.grids.due[places[timer]] = (*due,)  # type: ignore[index,assignment]

    def _learn_entities(self, directory: ResultsDirectory, stored: Stored) -> None:
        found = directory.read_newest(stored.name, stored.table.names, _ENTITIES)
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


def _newest(directory: ResultsDirectory, table: Table, names: Sequence[str]) -> pd.DataFrame:
    """Return columns of the newest rows, which the next window may have, too.

    As they are compared: text as objects, null integers as -1.
    """
    found = directory.read_newest(table.name, names, _ROWS)
    columns: dict[str, Any] = {}
    for column in table.columns:
        if column.name in names:
            part = found[column.name] if found.num_columns else None
            values = no_values(column) if part is None else values_of(column, part)
            columns[column.name] = values.texts() if isinstance(values, Coded) else values
    return pd.DataFrame(columns)
