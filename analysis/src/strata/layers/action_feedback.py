# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Feedback of actions: of which goal each message is, and what its client did with it.

A message is of the goal in whose execution it was published (rclpy); else of the only goal that the
server was at; else, where several were open, of the one that its thread finished (`thread`,
inferred: the result and then the status are sent by it, as rclcpp does). What none of these tells
stays without a goal, and is counted.

A client takes the feedback of all goals of the action, its own or not, and calls a callback for its
own: the first callback of an action that starts after the take on its thread, before the next take
of feedback, request or wait.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.layers.actions import FEEDBACK, Goals, open_goal
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import at_topics, take
from strata.model.goals import GoalColumns
from strata.model.naming import node_labels
from strata.model.search import pick

FEEDBACK_METHODS = ("execution", "only goal", "thread")
FEEDBACK_CONFIDENCES = ("exact", "exact", "inferred")
_IN_EXECUTION, _ONLY_GOAL, _THREAD = range(3)


@dataclass(frozen=True)
class Feedback:
    """One row a published feedback message; `NONE` is null.

    `publication`, `goal`, `taken` and `execution` are rows of the model's publications, of the
    goals, of its takes and executions; `method` one of `FEEDBACK_METHODS`.
    """

    publication: Ints
    goal: Ints
    method: Ints
    taken: Ints
    execution: Ints


def find_feedback(
    model: Model, facts: GoalColumns, goals: Goals, client_node: list[str]
) -> Feedback:
    """Return all feedback; `client_node` names the node of each goal's client."""
    publications, publishers = model.publications, model.entities.publishers
    row = np.flatnonzero(at_topics(publishers.topic, publications.publisher, FEEDBACK))
    if not len(row):
        return Feedback(row, row, row, row, row)
    goal, method = _goals(
        model,
        facts,
        goals,
        row,
        [str(text) for text in publishers.topic[publications.publisher[row]]],
    )
    taken = _taken(model, row, goal, client_node)
    return Feedback(row, goal, method, taken, _callbacks(model, taken))


def _goals(
    model: Model, facts: GoalColumns, goals: Goals, row: Ints, topics: list[str]
) -> tuple[Ints, Ints]:
    publications, publishers = model.publications, model.entities.publishers
    process = pick(publishers.process, publications.publisher[row])
    ns, thread = publications.begin_ns[row], publications.thread[row]
    of_run = np.full(len(model.executions), NONE, np.int64)
    known = np.flatnonzero(goals.execution != NONE)
    of_run[goals.execution[known]] = known
    within = pick(of_run, pick(model.executions.first, publications.execution[row]))
    only = open_goal(goals, _servers(model, goals, process, topics), ns)
    by_thread = _of_threads(facts, goals, thread, ns)
    found = np.where(within != NONE, within, np.where(only != NONE, only, by_thread))
    method = np.where(within != NONE, _IN_EXECUTION, np.where(only != NONE, _ONLY_GOAL, _THREAD))
    return found, np.where(found != NONE, method, NONE)


def _servers(model: Model, goals: Goals, process: Ints, topics: list[str]) -> Ints:
    """The number of the server that published: of the action, in the process; `NONE` if several."""
    import pandas as pd

    traffic = model.service_traffic
    calls = traffic.calls
    served = pick(traffic.services.process, _known(calls.service, len(traffic.services)))
    own = pd.DataFrame(
        {
            "process": served[goals.call],
            "action": goals.action,
            "server": goals.server,
        }
    ).drop_duplicates()
    if not len(own):
        return np.full(len(process), NONE, np.int64)
    own = own[own["server"] != NONE].drop_duplicates(["process", "action"], keep=False)
    asked = pd.DataFrame(
        {"process": process, "action": [text[: -len(FEEDBACK)] for text in topics]}
    )
    found = asked.merge(own, on=["process", "action"], how="left")["server"]
    return found.fillna(NONE).to_numpy(np.int64)


def _known(owner: Ints, count: int) -> Ints:
    return np.where(owner < count, owner, NONE)


def _of_threads(facts: GoalColumns, goals: Goals, thread: Ints, ns: Ints) -> Ints:
    """The one open goal that each thread finished later; `NONE` for none or several.

    rclcpp sends the result and publishes the status on the thread that finishes a goal.
    """
    import pandas as pd

    sender = pick(facts.answerer, goals.result)
    follows = pick(facts.status_follows.astype(np.int64), goals.result) == 1
    _, answered, _, _, replied, _ = goals.checkpoints
    row = np.flatnonzero(follows & (answered != NONE) & (replied != NONE))
    spans = pd.DataFrame(
        {"thread": sender[row], "goal": row, "begin": answered[row], "end": replied[row]}
    )
    asked = pd.DataFrame({"thread": thread, "ns": ns, "at": np.arange(len(ns))})
    both = asked.merge(spans, on="thread")
    both = both[(both["begin"] <= both["ns"]) & (both["ns"] <= both["end"])]
    both = both.drop_duplicates("at", keep=False)
    out = np.full(len(ns), NONE, np.int64)
    out[both["at"]] = both["goal"]
    return out


def _taken(model: Model, row: Ints, goal: Ints, client_node: list[str]) -> Ints:
    """The take of each message by its goal's client, or `NONE`."""
    import pandas as pd

    matches, subscriptions = model.matches, model.entities.subscriptions
    own = np.flatnonzero(np.isin(matches.publication, row))
    take_of = matches.take[own]
    node = pick(subscriptions.node, model.takes.subscription[take_of])
    names = take(node_labels(model.entities.nodes, model.processes), node, "")
    taken = pd.DataFrame(
        {"publication": matches.publication[own], "node": names, "taken": take_of}
    ).drop_duplicates(["publication", "node"])
    asked = pd.DataFrame(
        {
            "publication": row,
            "node": np.asarray([client_node[at] if at != NONE else None for at in goal], object),
        }
    )
    found = asked.merge(taken, on=["publication", "node"], how="left")["taken"]
    return found.fillna(NONE).to_numpy(np.int64)


def _callbacks(model: Model, taken: Ints) -> Ints:
    """The execution that each take started, or `NONE`."""
    return pick(model.facts.feedback_executions(), taken)
