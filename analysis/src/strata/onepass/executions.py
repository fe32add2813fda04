# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Executions and waits from the engine's rows."""

from __future__ import annotations

import numpy as np

from strata.model.columns import NONE, Ints
from strata.model.entities import Callbacks
from strata.model.executions import Executions, Waits
from strata.onepass.kept import KeptEvents
from strata.onepass.numbers import Numbers, positions
from strata.onepass.tables import EngineTables


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
    order, number = numbers.execution_order, numbers.execution_number

    def column(name: str) -> Ints:
        return tables.ints("executions", name)[order]

    intra = column("is_intra_process")
    return Executions(
        start=positions(column("thread"), column("start_at")),
        until=positions(column("thread"), column("until_at")),
        start_ns=column("start_ns"),
        end_ns=column("end_ns"),
        until_ns=column("until_ns"),
        thread=column("thread"),
        callback=callback_of[column("callback")],
        intra_process=np.where(intra == 2, NONE, intra),
        depth=column("depth"),
        first=number[column("first")],
        last=number[column("last")],
        previous=number[column("previous")],
        resumed=column("is_resumed") == 1,
        finished_ns=column("finished_ns"),
        paused_ns=column("paused_ns"),
    )


def find_waits(tables: EngineTables) -> Waits:
    """Return the waits of executors' threads."""
    found = tables.engine.waits()
    thread = tables.thread_number[found["thread"].astype(np.int64)]
    return Waits(found["start_ns"].astype(np.int64), found["end_ns"].astype(np.int64), thread)


def threads_of_executors(
    tables: EngineTables, kept: KeptEvents
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which threads have events of an executor, or waits."""
    told = np.zeros(len(kept.processes.thread_process), bool)
    thread = tables.ints("executor_threads", "thread")
    told[thread[tables.rows["executor_threads"]["has_executor"] == 1]] = True
    told[np.unique(find_waits(tables).thread)] = True
    return told
