# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Columns of result tables, kept while many single rows are read from them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.engine.groups import is_ascending
from strata.schema.rows import NONE, Ints, Rows


class Kept:
    """A table of which single values are read by column and row; each column is made once."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._numbers: dict[str, npt.NDArray[np.generic]] = {}
        self._words: dict[str, tuple[Ints, tuple[str, ...]]] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def number(self, name: str, row: int) -> int:
        """Return a number or a flag; `NONE` for null."""
        values = self._numbers.get(name)
        if values is None:
            values = self._numbers[name] = self.rows[name]
        return int(values[row])

    def text(self, name: str, row: int) -> str | None:
        """Return a text; null for null."""
        found = self._words.get(name)
        if found is None:
            column = self.rows.words(name)
            found = self._words[name] = (column.codes, column.words)
        code = int(found[0][row])
        return None if code == NONE else found[1][code]


class RowsOf:
    """The rows of a table by a key, in their order, found without looking at the others."""

    def __init__(self, keys: Ints) -> None:
        self._order = None if is_ascending(keys) else np.argsort(keys, kind="stable")
        self._keys = keys if self._order is None else keys[self._order]

    def of(self, key: int) -> list[int]:
        """Return the rows of a key, ascending; none for a key that is not there."""
        first = int(np.searchsorted(self._keys, key, side="left"))
        last = int(np.searchsorted(self._keys, key, side="right"))
        if self._order is None:
            return list(range(first, last))
        found: list[int] = self._order[first:last].tolist()
        return found


class RowById:
    """The row of each id of a table's key, whose rows may be in any order."""

    def __init__(self, ids: Ints) -> None:
        self._order = np.argsort(ids, kind="stable")
        self._ids = ids[self._order]

    def of(self, ids: Ints) -> Ints:
        """Return the rows of ids; `NONE` for one that is not there."""
        if not len(self._ids):
            return np.full(len(ids), NONE, np.int64)
        at = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[at] == ids, self._order[at], NONE)

    def row(self, number: int) -> int:
        """Return the row of one id; `NONE` for one that is not there."""
        return int(self.of(np.asarray([number]))[0])
