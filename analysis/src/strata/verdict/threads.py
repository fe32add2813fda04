# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Threads of a table by number, and the executor whose thread took each message."""

from __future__ import annotations

import numpy as np

from strata.schema.rows import NONE, Ints, Rows
from strata.stats.grouped import first_rows, recoded

_IDS = 1 << 32
"""Ids of processes and threads are of 32 bits."""


class ThreadNumbers:
    """The different threads (host, vpid, vtid) of a table, numbered from 0.

    `first` is the first row of each in the table.
    """

    def __init__(self, threads: Rows) -> None:
        hosts = threads.words("host")
        self._hosts = hosts.words
        self._ids, number = np.unique(_ids(threads), return_inverse=True)
        pairs, thread = np.unique(hosts.codes * len(self._ids) + number, return_inverse=True)
        self._number = np.full(len(self._hosts) * len(self._ids) + 1, NONE, np.int64)
        self._number[pairs] = np.arange(len(pairs))
        self.of_rows: Ints = thread.astype(np.int64)
        self.first = first_rows(self.of_rows, len(pairs))

    def __len__(self) -> int:
        return len(self.first)

    def of(self, rows: Rows) -> Ints:
        """Return the thread of each row of another table; `NONE` for one that is not there."""
        if not len(self._ids):
            return np.full(len(rows), NONE, np.int64)
        ids, host = _ids(rows), recoded(rows.words("host"), self._hosts)
        at = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        pair = np.where((self._ids[at] == ids) & (host != NONE), host * len(self._ids) + at, NONE)
        # The last number stands for none.
        return np.asarray(self._number[pair], np.int64)


def _ids(rows: Rows) -> Ints:
    return np.asarray(rows["vpid"] * _IDS + rows["vtid"], np.int64)


def executors_of(messages: Rows, takes: Rows, threads: Rows) -> Ints:
    """Return the executor (id) of the thread that took each message; `NONE` for none.

    The arguments are the tables `messages`, `takes` and `executor_threads`.
    """
    numbers = ThreadNumbers(threads)
    executor = np.append(threads["executor_id"][numbers.first], NONE)
    return np.asarray(executor[numbers.of(takes)[messages["take_id"]]], np.int64)
