# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What tells of the goals of actions beside their calls, from the model or from the engine.

rclpy_tracepoints announces a goal on the thread of its answer, and names it again when its callback
is about to run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, Ints
from strata.model.entities import at_topics, of_actions
from strata.model.executions import NEXT_WORK, first_after
from strata.model.search import Lifetimes, pick
from strata.model.timeline import Kind

if TYPE_CHECKING:
    from strata.model.build import Model

Tables = Mapping[str, Mapping[str, npt.NDArray[np.generic]]]
Flags = npt.NDArray[np.bool_]
STATUS = "/_action/status"
_OTHER_WORK = (Kind.CALLBACK_START, *NEXT_WORK)


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


def goals_of_model(model: Model) -> GoalColumns:
    """Return what the model has of goals."""
    traffic = model.service_traffic
    response = traffic.calls.response
    position = pick(traffic.exchange.sent_responses.position, response)
    return GoalColumns(
        response != NONE,
        pick(traffic.exchange.sent_responses.thread, response),
        _status_follows(model, position),
        _executions(model, position),
        bool(len(_status(model))),
        traffic.clients.process,
        traffic.services.process,
        model.executions.start_ns,
        model.executions.finished_ns,
    )


def goals_of_rows(rows: Tables, texts: Sequence[str]) -> GoalColumns:
    """Return what rows of the engine have of goals; threads and executions are the engine's."""

    def ints(table: str, column: str) -> Ints:
        return rows[table][column].astype(np.int64, copy=False)

    response = ints("service_calls", "response")
    is_status = np.asarray([text.endswith(STATUS) for text in texts], bool).astype(np.int64)
    topic = pick(ints("publishers", "topic"), ints("publishes", "publisher"))
    of_status = pick(is_status, topic) == 1
    of_status &= ints("publishes", "of_application") == 1
    follows = pick(of_status.astype(np.int64), pick(ints("service_steps", "publish"), response))
    return GoalColumns(
        response != NONE,
        pick(ints("service_steps", "thread"), response),
        follows == 1,
        pick(ints("service_steps", "goal_execution"), response),
        bool(of_status.any()),
        ints("clients", "process"),
        ints("services", "process"),
        ints("executions", "start_ns"),
        ints("executions", "finished_ns"),
    )


def _status(model: Model) -> Ints:
    """The positions at which action servers published their status."""
    publications = model.publications
    own = at_topics(model.entities.publishers.topic, publications.publisher, STATUS)
    return np.asarray(publications.position[own], np.int64)


def _status_follows(model: Model, responses: Ints) -> npt.NDArray[np.bool_]:
    """Return after which responses their thread published a status before any other work."""
    timeline = model.timeline
    if not len(timeline):
        return np.zeros(len(responses), bool)
    at = np.maximum(responses, 0)
    published = timeline.after(at, Kind.RMW_PUBLISH)
    other = timeline.after(at, *_OTHER_WORK)
    near = (published != NONE) & ((other == NONE) | (published < other))
    return np.asarray((responses != NONE) & near & np.isin(published, _status(model)), bool)


def _executions(model: Model, responses: Ints) -> Ints:
    """The execution of the goal that was announced after each response; `NONE` for none."""
    events, timeline = model.events, model.timeline
    added, picked = "ros2:rclcpp_service_callback_added", "ros2:rclcpp_executor_execute"
    out = np.full(len(responses), NONE, np.int64)
    announced = np.flatnonzero(of_actions(events.ints(added, "service_handle")))
    ran = timeline.positions(Kind.EXECUTE)
    handle = pick(events.ints(picked, "handle"), timeline.row[ran])
    ran, handle = ran[of_actions(handle)], handle[of_actions(handle)]
    if not len(announced) or not len(ran) or not len(responses):
        return out
    process, ns = events.process(added)[announced], events.timestamps(added)[announced]
    lives = Lifetimes(process, events.ints(added, "service_handle")[announced], ns)
    goal = lives.find(events.process(picked)[timeline.row[ran]], handle, timeline.ns[ran])
    thread = events.thread(added)[announced]
    last = timeline.by_thread.position(thread, ns, after_equal=True) - 1
    before = timeline.before(last, *_OTHER_WORK)
    answer = np.where(np.isin(timeline.kind[last], _OTHER_WORK), last, before)
    # The last event before may be another thread's.
    answer[timeline.thread[last] != thread] = NONE
    answer[pick(timeline.kind.astype(np.int64), answer) != Kind.SEND_RESPONSE] = NONE
    execution = first_after(timeline, model.executions, ran, model.losses)
    of_goal = np.full(len(announced), NONE, np.int64)
    of_goal[goal[goal != NONE]] = execution[goal != NONE]
    ran_here = (answer != NONE) & (of_goal != NONE)
    place = dict(zip(answer[ran_here].tolist(), of_goal[ran_here].tolist(), strict=True))
    found = [place.get(int(at), NONE) for at in responses]
    return np.asarray(found, np.int64)
