# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Executions and waits from the engine's rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from strata.engine.groups import values_at
from strata.model.columns import NONE, Ints
from strata.model.entities import Callbacks
from strata.model.executions import Executions, Waits
from strata.onepass.kept import KeptEvents
from strata.onepass.numbers import Numbers, positions
from strata.onepass.tables import EngineTables
from strata.onepass.when_asked import when_asked
from strata.schema.rows import nulls, row_numbers


def callback_rows(tables: EngineTables, callbacks: Callbacks) -> Ints:
    """The model's row of each of the engine's callbacks; one more for null."""
    known = {
        key: row
        for row, key in enumerate(
            zip(
                callbacks.process.tolist(),
                callbacks.address.tolist(),
                callbacks.begin_ns.tolist(),
                range(len(callbacks.address)),
                strict=True,
            )
        )
    }
    order = sorted(known)
    own = list(
        zip(
            tables.ints("callbacks", "process").tolist(),
            tables.ints("callbacks", "address").tolist(),
            tables.ints("callbacks", "begin_ns").tolist(),
            range(tables.size("callbacks")),
            strict=True,
        )
    )
    out = np.full(len(own) + 1, NONE, np.int64)
    for mine, theirs in zip(sorted(own), order, strict=True):
        out[mine[3]] = known[theirs]
    return out


def find_executions(tables: EngineTables, numbers: Numbers, callback_of: Ints) -> Executions:
    """Return executions; `callback_of` is the model's row of each of the engine's callbacks."""
    number, size = numbers.executions.number, tables.size("executions")

    def column(name: str) -> Callable[[], Ints]:
        return lambda: numbers.executions.of(tables.narrow("executions", name))

    def piece(name: str) -> Callable[[], Ints]:
        if (tables.rows["executions"][name] == np.arange(size)).all():
            return lambda: row_numbers(size)
        return lambda: values_at(number, column(name)())

    def position(name: str) -> Callable[[], Ints]:
        return lambda: positions(column("thread")(), column(name)())

    def intra_process() -> Ints:
        intra = column("is_intra_process")()
        return np.where(intra == 2, NONE, intra)

    def paused() -> Ints:
        if not tables.rows["executions"]["paused_ns"].any():
            return np.broadcast_to(np.int64(0), size)
        return column("paused_ns")()

    def previous() -> Ints:
        if (tables.rows["executions"]["previous"] == NONE).all():
            return nulls(size)
        return values_at(number, column("previous")())

    times = ("start_ns", "end_ns", "until_ns", "finished_ns")
    makers = {name: column(name) for name in (*times, "thread", "depth")}
    return when_asked(
        Executions,
        makers
        | {
            "start": position("start_at"),
            "until": position("until_at"),
            "callback": lambda: values_at(callback_of, column("callback")()),
            "intra_process": intra_process,
            "first": piece("first"),
            "last": piece("last"),
            "paused_ns": paused,
            "previous": previous,
            "resumed": lambda: numbers.executions.flags(
                tables.rows["executions"]["is_resumed"] == 1
            ),
        },
    )


def find_waits(tables: EngineTables) -> Waits:
    """Return the waits of executors' threads."""
    found = tables.engine.waits()
    return Waits(
        found["start_ns"].astype(np.int64, copy=False),
        found["end_ns"].astype(np.int64, copy=False),
        values_at(tables.thread_number, found["thread"]),
    )


def threads_of_executors(
    tables: EngineTables, kept: KeptEvents, waits: Waits
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which threads have events of an executor, or waits."""
    told = np.zeros(len(kept.processes.thread_process), bool)
    thread = tables.ints("executor_threads", "thread")
    told[thread[tables.rows["executor_threads"]["has_executor"] == 1]] = True
    told[np.unique(waits.thread)] = True
    return told
