# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Goals of actions and their feedback as declared tables."""

from __future__ import annotations

import numpy as np

from strata.layers.action_feedback import (
    FEEDBACK_CONFIDENCES,
    FEEDBACK_METHODS,
    Feedback,
    find_feedback,
)
from strata.layers.action_results import ONLY_GOAL, RESULT_CONFIDENCES, RESULT_METHODS
from strata.layers.actions import LATEST, Goals, find_goals, phases_of
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.frames import named
from strata.model.search import pick
from strata.schema import tables
from strata.schema.quality import Finding, Findings
from strata.schema.rows import Coded, Rows, numbered


def action_rows(model: Model, calls: Rows) -> tuple[Rows, Rows, Findings]:
    """Return the tables `action_goals` and `action_feedback`, and findings.

    `calls` is `service_calls`.
    """
    facts = model.facts.goals()
    goals = find_goals(facts, calls)
    nodes = calls.words("client_node").take(goals.call).texts()
    feedback = find_feedback(model, facts, goals, [str(node) for node in nodes])
    findings = Findings(
        Finding("goals_by_order", int((goals.method > ONLY_GOAL).sum())),
        Finding("feedback_of_unknown_goals", int((feedback.goal == NONE).sum())),
    )
    publish_ns = model.publications.begin_ns[feedback.publication]
    of_goals = _goals_rows(goals, feedback, calls, publish_ns)
    return of_goals, _feedback_rows(model, feedback), findings


def _goals_rows(goals: Goals, feedback: Feedback, calls: Rows, publish_ns: Ints) -> Rows:
    sent, answered, started, ended, replied, got = goals.checkpoints
    last = np.max(np.stack(goals.checkpoints), axis=0) if len(goals) else sent
    served = np.max(np.stack(goals.checkpoints[1:5]), axis=0) if len(goals) else sent
    last = np.where(goals.unsynchronised & (served != NONE), served, last)
    last = np.where(goals.unsynchronised & (got != NONE), got, last)
    action, client = Coded.of(goals.action.tolist()), calls.words("client_node").take(goals.call)
    return Rows(
        tables.ACTION_GOALS,
        {
            "goal_id": np.arange(len(goals)),
            "action": action,
            "client_node": client,
            "server_node": calls.words("service_node").take(goals.call),
            "goal_call_id": goals.call,
            "result_call_id": goals.result,
            "cancel_call_id": goals.cancel,
            "accepted": goals.accepted,
            "method": named(np.asarray(RESULT_METHODS, object), goals.method),
            "confidence": named(np.asarray(RESULT_CONFIDENCES, object), goals.method),
            "instance_id": goals.execution,
            "begin_ns": sent,
            "answered_ns": answered,
            "started_ns": started,
            "ended_ns": ended,
            "replied_ns": replied,
            "result_taken_ns": got,
            "told_ns": calls["take_response_ns"][goals.call],
            "cancel_ns": pick(calls["begin_ns"], goals.cancel),
            **_counts(goals, feedback, publish_ns),
            **phases_of(goals),
            "latency_ns": last - sent,
            "complete": got != NONE,
            "action_id": numbered(action, client),
        },
    )


def _counts(goals: Goals, feedback: Feedback, publish_ns: Ints) -> dict[str, Ints]:
    known = np.flatnonzero(feedback.goal != NONE)
    of = feedback.goal[known]
    size = len(goals)
    first = np.full(size, LATEST, np.int64)
    np.minimum.at(first, of, publish_ns[known])
    return {
        "first_feedback_ns": np.where(first != LATEST, first, NONE),
        "feedback": np.bincount(of, minlength=size),
        "feedback_taken": np.bincount(of[feedback.taken[known] != NONE], minlength=size),
        "feedback_callbacks": np.bincount(of[feedback.execution[known] != NONE], minlength=size),
    }


def _feedback_rows(model: Model, feedback: Feedback) -> Rows:
    publish_ns = model.publications.begin_ns[feedback.publication]
    take_ns = pick(model.takes.taken_ns, feedback.taken)
    of_thread = model.host_clocks.of_thread
    publisher = of_thread[model.publications.thread[feedback.publication]]
    alone = pick(of_thread, pick(model.takes.thread, feedback.taken)) == publisher
    latency: Ints = np.where(alone & (take_ns >= publish_ns), take_ns - publish_ns, NONE)
    return Rows(
        tables.ACTION_FEEDBACK,
        {
            "publication_id": feedback.publication,
            "goal_id": feedback.goal,
            "method": named(np.asarray(FEEDBACK_METHODS, object), feedback.method),
            "confidence": named(np.asarray(FEEDBACK_CONFIDENCES, object), feedback.method),
            "publish_ns": publish_ns,
            "take_id": feedback.taken,
            "take_ns": take_ns,
            "instance_id": feedback.execution,
            "latency_ns": latency,
        },
    )
