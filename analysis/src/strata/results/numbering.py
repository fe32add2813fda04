# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One number for each thing, though each window numbers its rows from 0.

Windows overlap: what is in two of them is one row. Entities are told apart by process, handle and
begin; where an init event is older than the window, the model has the first event of the process
instead, so the newest known entity of that handle is meant. All else has columns that no two rows
share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from strata.schema.rows import NONE, Flags, Ints, Rows
from strata.schema.stored import STORED, Stored

Maps = dict[str, Ints]
"""By table: the number of the row with each key of the window; one more, for null."""

FirstEvents = Mapping[tuple[str, int], int]
"""When the first event of each process of a window was, by host and vpid, in ns since the epoch."""


_LIVES = 8
"""So many entities of one handle are kept in mind: windows overlap by seconds only."""


class Numbers:
    """Gives out numbers; `next_numbers` are those of the next new row of each table."""

    def __init__(self, next_numbers: Mapping[str, int]) -> None:
        self.next_numbers = dict.fromkeys((one.name for one in STORED if one.key), 0)
        self.next_numbers.update(next_numbers)
        self._entities: dict[str, dict[tuple[str, int, int], list[tuple[int, int]]]] = {}
        self._recent: dict[str, pd.DataFrame] = {}

    def know_entity(self, stored: Stored, row: Mapping[str, Any], number: int) -> None:
        """Take an entity that has a number."""
        self._lives(stored, row).append((_begin(row), number))

    def know_recent(self, stored: Stored, rows: pd.DataFrame, numbers: Ints) -> None:
        """Take rows that were written: the next window may have them, too."""
        identity = _with_repetitions(rows[list(stored.identity)].reset_index(drop=True))
        self._recent[stored.name] = identity.assign(number=numbers, written=1)

    def entities(self, stored: Stored, rows: Rows, first_ns: FirstEvents) -> Ints:
        """Return the number of each row of a table of entities."""
        out = np.empty(len(rows), np.int64)
        seen: dict[tuple[str, int, int], list[tuple[int, int]]] = {}
        for at, row in enumerate(rows.records()):
            out[at] = self._entity(stored, row, first_ns)
            place = (row["host"], row["vpid"], row[stored.handle])
            seen[place] = self._lives(stored, row)[-_LIVES:]
        # Those of processes that no window has any more are not needed.
        self._entities[stored.name] = seen
        return out

    def instances(self, stored: Stored, rows: Rows, maps: Maps) -> tuple[Ints, Flags]:
        """Return the number of each row, and which were written before."""
        columns = {name: _values(stored, rows, name, maps) for name in stored.identity}
        identity = _with_repetitions(pd.DataFrame(columns))
        out, written = np.full(len(rows), NONE, np.int64), np.zeros(len(rows), bool)
        before = self._recent.get(stored.name)
        if before is not None and len(before) and len(rows):
            found = identity.merge(before, how="left", on=list(identity.columns))
            out = found["number"].fillna(NONE).to_numpy(np.int64, copy=True)
            written = found["written"].fillna(0).to_numpy(np.int8) == 1
        new = out == NONE
        out[new] = self._new(stored, int(new.sum()))
        self._recent[stored.name] = identity.assign(number=out)
        return out, written

    def wrote(self, stored: Stored, written: Flags) -> None:
        """Take which of the rows of the last call of `instances` are written now."""
        recent = self._recent[stored.name]
        self._recent[stored.name] = recent.assign(written=written.astype(np.int8))

    def _entity(self, stored: Stored, row: Mapping[str, Any], first_ns: FirstEvents) -> int:
        lives, begin_ns = self._lives(stored, row), _begin(row)
        for known_ns, number in reversed(lives):
            if known_ns == begin_ns:
                return number
        is_older = begin_ns <= first_ns.get((row["host"], row["vpid"]), begin_ns)
        if lives and (is_older or not _is_introduced(stored, row)):
            before = [number for known_ns, number in lives if known_ns <= begin_ns]
            return before[-1] if before else lives[-1][1]
        number = int(self._new(stored, 1)[0])
        lives.append((begin_ns, number))
        return number

    def _lives(self, stored: Stored, row: Mapping[str, Any]) -> list[tuple[int, int]]:
        """Begin and number of each entity of a handle, the newest last."""
        of_table = self._entities.setdefault(stored.name, {})
        return of_table.setdefault((row["host"], row["vpid"], row[stored.handle]), [])

    def _new(self, stored: Stored, count: int) -> Ints:
        first = self.next_numbers[stored.name]
        self.next_numbers[stored.name] = first + count
        return np.arange(first, first + count)


def map_of(keys: Ints, numbers: Ints) -> Ints:
    """Return the number of each key; one more, for null."""
    out = np.full(int(keys.max(initial=NONE)) + 2, NONE, np.int64)
    out[keys] = numbers
    out[-1] = NONE
    return out


def _begin(row: Mapping[str, Any]) -> int:
    begin_ns = row.get("begin_ns")
    return 0 if begin_ns is None else int(begin_ns)


def _is_introduced(stored: Stored, row: Mapping[str, Any]) -> bool:
    """Return whether an init event is known: else the begin is that of the first use."""
    if stored.name == "callback_objects":
        return row["symbol"] is not None
    return stored.name != "processes" and "begin_ns" in row


def _values(stored: Stored, rows: Rows, name: str, maps: Maps) -> Any:
    if name in stored.references:
        return maps[stored.references[name]][rows[name]]
    dtype = next(column.dtype for column in rows.table.columns if column.name == name)
    return rows.texts(name) if dtype == "string" else rows[name]


def _with_repetitions(identity: pd.DataFrame) -> pd.DataFrame:
    """Number rows that are equal in all columns, so that they are not."""
    again: Any = 0
    if identity.duplicated().any():
        again = identity.groupby(list(identity.columns), dropna=False).cumcount()
    return identity.assign(again=again)
