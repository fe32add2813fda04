# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The goals of actions, each as one thing: its request, execution, feedback, result and cancel.

An action NAME is the services NAME/_action/send_goal, get_result and cancel_goal and the topics
NAME/_action/feedback and status. No event carries the goal's id, so what belongs to a goal is told
by who did it and when:

* *accepted*: the server publishes a status on the thread of its answer, before any other work
  (rclcpp and rclpy do so for goals that they accept, and for no other);
* *result*: strata.layers.action_results;
* *cancel*: of the client's one goal that is under way; of several, of none;
* *execution* (rclpy): rclpy_tracepoints announces the goal on the thread of the answer, and names
  it again when its callback is about to run. rclcpp leaves the execution to the program.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.layers.action_results import results_of_clients
from strata.model.columns import NONE, Ints
from strata.model.goals import GoalColumns
from strata.model.search import GroupedSearch, pick
from strata.schema.action_phases import BETWEEN, CHECKPOINTS
from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.rows import Coded, Rows, numbered

SEND, RESULT, CANCEL = (f"/_action/{name}" for name in ("send_goal", "get_result", "cancel_goal"))
FEEDBACK = "/_action/feedback"
LATEST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Goals:
    """One row a goal, in order of the requests; `NONE` is null.

    `call`, `result` and `cancel` are rows of the calls; `client` and `server` number the parties,
    `server` -1 where none took the request. `accepted`: 1, 0 or `NONE`. `method` is a row of
    `action_results.RESULT_METHODS`. `execution` is a row of the executions. `unsynchronised` are
    goals between hosts without a common clock: the client's checkpoints, the first and the last,
    are of another one than the server's.
    """

    action: npt.NDArray[np.object_]
    call: Ints
    result: Ints
    cancel: Ints
    client: Ints
    server: Ints
    accepted: Ints
    method: Ints
    execution: Ints
    checkpoints: tuple[Ints, ...]
    unsynchronised: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.call)


def find_goals(facts: GoalColumns, calls: Rows) -> Goals:
    """Return the goals; `calls` is the table `service_calls`, in the order of the calls."""
    names = np.asarray([name or "" for name in calls.texts("service")], object)
    own = ~calls["further"]
    of = {
        end: np.flatnonzero(np.asarray([text.endswith(end) for text in names], bool) & own)
        for end in (SEND, RESULT, CANCEL)
    }
    rows = of[SEND]
    client, server = _parties(facts, calls, names)
    accepted = _accepted(facts, rows)
    execution = facts.goal_execution[rows]
    asked = of[RESULT]
    ended_ns = pick(facts.finished_ns, execution)
    told_ns = np.where(accepted != 0, calls["take_response_ns"][rows], NONE)
    found, method = results_of_clients(
        (client[rows], told_ns, ended_ns),
        (client[asked], calls["begin_ns"][asked], calls["send_response_ns"][asked]),
    )
    result = pick(asked, found)
    stages = (
        calls["begin_ns"][rows],
        calls["send_response_ns"][rows],
        pick(facts.start_ns, execution),
        ended_ns,
        pick(calls["send_response_ns"], result),
        pick(calls["take_response_ns"], result),
    )
    apart = calls.words("confidence").are(UNSYNCHRONISED)[rows]
    ended = np.where(stages[4] != NONE, stages[4], stages[3])
    # When the server ended it, its client's clock does not tell.
    ended = np.where(apart, stages[5], ended)
    span = (stages[0], np.where(accepted == 0, stages[0], np.where(ended != NONE, ended, LATEST)))
    cancel = _cancels(calls, client, rows, of[CANCEL], span)
    return Goals(
        np.asarray([text[: -len(SEND)] for text in names[rows]], object),
        rows,
        result,
        cancel,
        client[rows],
        server[rows],
        accepted,
        method,
        execution,
        _in_order(stages, apart),
        apart,
    )


def phases_of(goals: Goals) -> dict[str, Ints]:
    """Return the columns of the phases: `NONE` where a phase is not in a goal's row."""
    out = {phase.column: np.full(len(goals), NONE, np.int64) for phase in BETWEEN.values()}
    at = goals.checkpoints
    for (first, last), phase in BETWEEN.items():
        there = (at[first] != NONE) & (at[last] != NONE)
        for between in range(first + 1, last):
            there &= at[between] == NONE
        out[phase.column][there] = (at[last] - at[first])[there]
    return out


def _in_order(stages: tuple[Ints, ...], apart: npt.NDArray[np.bool_]) -> tuple[Ints, ...]:
    """Leave out checkpoints that lie before an earlier one or after the last, by one clock."""
    limit = np.where((stages[-1] != NONE) & ~apart, stages[-1], LATEST)
    latest, out = np.where(apart, NONE, stages[0]), [stages[0]]
    for number in range(1, CHECKPOINTS):
        if number == CHECKPOINTS - 1:
            latest = np.where(apart, stages[0], latest)
        fits = (stages[number] >= latest) & (stages[number] <= limit)
        out.append(np.where(fits, stages[number], NONE))
        latest = np.maximum(latest, out[-1])
    return _without_null(out, apart)


def _without_null(stages: list[Ints], apart: npt.NDArray[np.bool_]) -> tuple[Ints, ...]:
    """Drop the server's checkpoint beside which a phase between hosts would be -1 ns: null."""
    for number in range(1, CHECKPOINTS - 1):
        odd = apart & (stages[number] != NONE)
        odd &= (stages[number] - stages[0] == NONE) | (stages[-1] - stages[number] == NONE)
        stages[number] = np.where(odd, NONE, stages[number])
    return tuple(stages)


def _parties(facts: GoalColumns, calls: Rows, names: npt.NDArray[np.object_]) -> tuple[Ints, Ints]:
    """Number the action clients and servers: by process, node and action."""
    client = calls["client_object_id"]
    service = calls["service_object_id"]
    action = Coded.of(text.rpartition("/_action/")[0] for text in names)
    asker = numbered(pick(facts.client_process, client), calls.words("client_node"), action)
    server = numbered(pick(facts.service_process, service), calls.words("service_node"), action)
    return asker, server


def _accepted(facts: GoalColumns, rows: Ints) -> Ints:
    told = facts.answered[rows] & facts.has_status
    return np.where(told, facts.status_follows[rows], NONE)


def _cancels(calls: Rows, client: Ints, rows: Ints, cancels: Ints, span: tuple[Ints, Ints]) -> Ints:
    """The cancel of each goal that was its client's only one under way; `NONE` for none."""
    out = np.full(len(rows), NONE, np.int64)
    begin_ns = calls["begin_ns"]
    for cancel in cancels:
        ns = begin_ns[cancel]
        open_goals = np.flatnonzero(
            (client[rows] == client[cancel]) & (span[0] <= ns) & (ns < span[1])
        )
        if len(open_goals) == 1:
            out[open_goals] = cancel
    return out


def open_goal(goals: Goals, server: Ints, ns: Ints) -> Ints:
    """The one goal that each server was at at a time; `NONE` for none and for several.

    A goal is open from the server's answer to the end of its execution, or the result.
    """
    _, answered, _, ended, replied, _ = goals.checkpoints
    row = np.flatnonzero((goals.server != NONE) & (goals.accepted != 0) & (answered != NONE))
    end_ns = np.where(ended != NONE, ended, np.where(replied != NONE, replied, LATEST))
    begun = GroupedSearch(goals.server[row], answered[row])
    over = GroupedSearch(goals.server[row], end_ns[row])
    count, which = np.zeros(len(ns), np.int64), np.zeros(len(ns), np.int64)
    for search, sign in ((begun, 1), (over, -1)):
        upto = np.concatenate([[0], np.cumsum(row[search.order])])
        first = search.begin(server)
        last = search.position(server, ns, after_equal=sign > 0)
        count += sign * (last - first)
        which += sign * (upto[last] - upto[first])
    return np.where(count == 1, which, NONE)
