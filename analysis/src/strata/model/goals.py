# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The evidence of the goals of actions beside their calls.

rclpy_tracepoints announces a goal on the thread of its answer, and names it again when its callback
is about to run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.engine.tables import EngineTables
from strata.model.columns import NONE, Ints
from strata.model.executions import Executions
from strata.model.numbers import Numbers
from strata.model.search import pick
from strata.schema.rows import Flags

STATUS = "/_action/status"
_ACTION = 4
"""Of the engine's kinds of callbacks: of a goal or its feedback."""


@dataclass(frozen=True)
class GoalColumns:
    """`answered` to `goal_execution` have one row a call; `NONE` is null.

    `answered`: its response was sent, by `answerer`, which published a status before any other work
    (`status_follows`); `goal_execution`: of the goal that was announced after it. `has_status`: any
    server published one. `client_process` and `service_process` are of the objects, `start_ns` and
    `finished_ns` of executions.
    """

    answered: Flags
    answerer: Ints
    status_follows: Flags
    goal_execution: Ints
    has_status: bool
    client_process: Ints
    service_process: Ints
    start_ns: Ints
    finished_ns: Ints


def find_goals(tables: EngineTables, numbers: Numbers, executions: Executions) -> GoalColumns:
    """Return the evidence of goals beside their calls."""
    response = tables.ints("service_calls", "response")
    is_status = np.asarray([text.endswith(STATUS) for text in tables.texts], bool).astype(np.int64)
    topic = pick(tables.ints("publishers", "topic"), tables.ints("publishes", "publisher"))
    of_status = pick(is_status, topic) == 1
    of_status &= tables.rows["publishes"]["of_application"] == 1
    publish = pick(tables.ints("service_steps", "publish"), response)
    execution = pick(tables.ints("service_steps", "goal_execution"), response)
    return GoalColumns(
        response != NONE,
        pick(tables.ints("service_steps", "thread"), response),
        pick(of_status.astype(np.int64), publish) == 1,
        numbers.execution_number[execution],
        bool(of_status.any()),
        tables.ints("clients", "process"),
        tables.ints("services", "process"),
        executions.start_ns,
        executions.finished_ns,
    )


def feedback_executions(tables: EngineTables, numbers: Numbers) -> Ints:
    """Return the execution of an action's callback that each take of feedback started.

    One row a take of the model; `NONE` for none, and for takes of anything else.
    """
    out = np.full(len(numbers.take_order), NONE, np.int64)
    at = tables.ints("feedback_takes", "at")
    if not len(at):
        return out
    # Takes of the engine are in the order of events, but for those that were found to be loans.
    taken = tables.ints("takes", "at")
    order = np.argsort(taken, kind="stable")
    place = np.searchsorted(taken[order], at).clip(max=max(len(order) - 1, 0))
    own = taken[order][place] == at if len(order) else np.zeros(len(at), bool)
    take = numbers.take_number[order[place[own]]]
    execution = tables.ints("feedback_takes", "execution")[own]
    callback = pick(tables.ints("executions", "callback"), execution)
    is_action = pick(tables.ints("callbacks", "kind"), callback) == _ACTION
    known = take != NONE
    started = numbers.execution_number[np.where(is_action, execution, NONE)]
    out[take[known]] = started[known]
    return out
