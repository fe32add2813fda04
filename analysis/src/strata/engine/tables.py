# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The engine's rows with processes and threads in a fixed order, whatever came first.

The engine numbers processes and threads as their first events come. In results they are in order of
host, process id and thread id, so that two analyses of one trace give them the same numbers.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from strata.engine._model import Engine
from strata.engine.groups import values_at
from strata.schema.rows import NONE, Coded, Ints

_OF_PROCESS, _OF_THREAD = ("process",), ("thread", "notified_thread")


class EngineTables:
    """Rows of an engine that is finished, as int64; null is `NONE`."""

    def __init__(self, engine: Engine) -> None:
        """Take an engine whose last event was fed."""
        self.engine = engine
        self.rows = engine.rows()
        self.texts = engine.texts
        self._words = np.asarray([*self.texts, None], dtype=object)

    def ints(self, table: str, column: str) -> Ints:
        """Return a column; numbers of processes and threads are those of results."""
        values = self.rows[table][column]
        if column in _OF_PROCESS and table != "processes":
            return self._renumbered(self.process_number, values)
        if column in _OF_THREAD:
            return self._renumbered(self.thread_number, values)
        return values.astype(np.int64, copy=False)

    def narrow(self, table: str, column: str) -> npt.NDArray[np.integer]:
        """Return a column as `ints` does, in the type that it has in memory where it can be."""
        if column in (*_OF_PROCESS, *_OF_THREAD):
            return self.ints(table, column)
        values: npt.NDArray[np.integer] = self.rows[table][column]
        return values

    def _renumbered(self, number: Ints, values: npt.NDArray[np.integer]) -> Ints:
        if (number[:-1] == np.arange(len(number) - 1)).all():
            return values.astype(np.int64, copy=False)
        return values_at(number, values)

    def text(self, table: str, column: str) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
        """Return a column of texts as objects; None for null."""
        return self.words(self.rows[table][column].astype(np.int64))

    def words(self, numbers: Ints) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
        """Return texts by their numbers; None for `NONE`."""
        return np.asarray(self._words[numbers], dtype=object)

    def coded(self, numbers: Ints) -> Coded:
        """Return texts by their numbers as a column."""
        used = np.unique(numbers[numbers != NONE])
        codes = np.where(numbers != NONE, np.searchsorted(used, numbers), NONE)
        return Coded(codes, tuple(str(self._words[number]) for number in used))

    def size(self, table: str) -> int:
        """Return how many rows a table has."""
        return len(next(iter(self.rows[table].values())))

    @cached_property
    def process_order(self) -> Ints:
        """The engine's number of each process of results."""
        rows = self.rows["processes"]
        hosts = self.words(rows["host"].astype(np.int64))
        keys = list(zip(hosts, rows["vpid"].tolist(), range(len(hosts)), strict=True))
        return np.asarray([key[2] for key in sorted(keys)], np.int64)

    @cached_property
    def process_number(self) -> Ints:
        """The number in results of each process of the engine; one more for null."""
        return _inverse(self.process_order)

    @cached_property
    def thread_order(self) -> Ints:
        """The engine's number of each thread of results."""
        rows = self.rows["threads"]
        process = self.process_number[rows["process"].astype(np.int64)]
        return np.lexsort((rows["vtid"], process)).astype(np.int64)

    @cached_property
    def thread_number(self) -> Ints:
        """The number in results of each thread of the engine; one more for null."""
        return _inverse(self.thread_order)


def _inverse(order: Ints) -> Ints:
    out = np.empty(len(order) + 1, np.int64)
    out[order] = np.arange(len(order))
    out[-1] = NONE
    return out
