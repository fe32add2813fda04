# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Executions of coroutine callbacks (rclpy), which run in pieces.

Each piece has a callback_start and a callback_end of its own, and its thread does other things in
between; `callback_suspend` and `callback_resume` number the execution that pieces belong to:

    thread 1   start --- suspend end      start --- end (another callback)
    thread 2                                           resume start --- end

A suspend is of the piece that it lies in, a resume of the piece that starts next on its thread with
nothing else in between. What lies between the end of one piece and the start of the next is time
suspended. An execution whose last piece is suspended never ended: it still awaits something at the
end of the trace, or was cancelled. While events were being lost, pieces may be among them: such an
execution has no end that is known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.executions import Executions, first_after
from strata.model.joins import codes_of
from strata.model.timeline import EVENT_OF, Kind, Timeline
from strata.model.windows import NO_LOSSES, Windows, touched
from strata.schema.quality import Ledger


def join_pieces(
    events: EventColumns,
    timeline: Timeline,
    executions: Executions,
    ledger: Ledger,
    losses: Windows = NO_LOSSES,
) -> Executions:
    """Return the executions with their pieces joined."""
    suspends, resumes = timeline.positions(Kind.SUSPEND), timeline.positions(Kind.RESUME)
    if not len(suspends) + len(resumes):
        return executions
    ended = executions.innermost(suspends)
    begun = first_after(timeline, executions, resumes, losses)
    begun[:-1][begun[:-1] == begun[1:]] = NONE  # another resume lies between
    at = np.concatenate([suspends, resumes])
    number = np.empty(len(at), np.int64)
    for kind, own in (
        (Kind.SUSPEND, slice(len(suspends))),
        (Kind.RESUME, slice(len(suspends), None)),
    ):
        number[own] = events.ints(EVENT_OF[kind], "execution")[timeline.row[at[own]]]
    (code,) = codes_of([events.processes.thread_process[timeline.thread[at]], number])
    row = np.concatenate([ended, begun])
    known = row != NONE
    code, row = code[known], row[known]
    order = np.lexsort((row, executions.start_ns[row], code))
    code, row = code[order], row[order]
    once = np.append(True, (code[1:] != code[:-1]) | (row[1:] != row[:-1]))[: len(row)]
    out = _joined(executions, code[once], row[once], ended[ended != NONE], losses)
    out.resumed[begun[begun != NONE]] = True
    rows = np.arange(len(out))
    open_ended = (out.last != out.first) | np.isin(rows, ended)
    open_ended &= (out.first == rows) & (out.finished_ns == NONE)
    ledger.add("callbacks_left_suspended", int(open_ended.sum()))
    return out


def _joined(
    executions: Executions, code: Ints, row: Ints, suspended: Ints, losses: Windows
) -> Executions:
    """Join rows of one code, which are in order of time; `suspended` are pieces that awaited.

    One that two executions claim is of that with the greater number.
    """
    begins = np.flatnonzero(np.append(True, code[1:] != code[:-1]))[: len(row)]
    sizes = np.diff(np.append(begins, len(row)))
    first = np.repeat(row[begins], sizes)
    last = np.repeat(row[begins + sizes - 1], sizes)
    gap = np.zeros(len(row), np.int64)
    gap[1:] = executions.start_ns[row[1:]] - executions.until_ns[row[:-1]]
    gap[begins] = 0
    total = np.cumsum(gap)
    paused_ns = total - np.repeat(total[begins], sizes)
    awaits = np.isin(last, suspended)
    awaits |= touched(losses, executions.start_ns[first], executions.until_ns[last])
    out = replace(
        executions,
        first=executions.first.copy(),
        last=executions.last.copy(),
        previous=executions.previous.copy(),
        resumed=executions.resumed.copy(),
        finished_ns=executions.finished_ns.copy(),
        paused_ns=executions.paused_ns.copy(),
    )
    out.first[row], out.last[row] = first, last
    out.previous[row[1:]] = np.where(code[1:] == code[:-1], row[:-1], NONE)
    out.finished_ns[row] = np.where(awaits, NONE, executions.end_ns[last])
    out.paused_ns[row] = paused_ns
    return out
