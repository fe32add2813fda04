# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Goals of actions and their feedback as declared tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.layers.action_feedback import (
    FEEDBACK_CONFIDENCES,
    FEEDBACK_METHODS,
    Feedback,
    find_feedback,
)
from strata.layers.action_results import ONLY_GOAL, RESULT_CONFIDENCES, RESULT_METHODS
from strata.layers.actions import LATEST, Goals, find_goals, phases_of
from strata.model.build import Model
from strata.model.columns import NONE, Ints, filled
from strata.model.entities import take
from strata.model.frames import nullable
from strata.model.search import pick
from strata.schema import tables
from strata.schema.quality import Ledger


def action_frames(
    model: Model, calls: pd.DataFrame, ledger: Ledger
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables `action_goals` and `action_feedback`; `calls` is `service_calls`."""
    goals = find_goals(model, calls)
    nodes = calls["client_node"].to_numpy(object)[goals.call]
    feedback = find_feedback(model, goals, [str(node) for node in nodes])
    ledger.add("goals_by_order", int((goals.method > ONLY_GOAL).sum()))
    ledger.add("feedback_of_unknown_goals", int((feedback.goal == NONE).sum()))
    publish_ns = model.publications.begin_ns[feedback.publication]
    return _goals_frame(goals, feedback, calls, publish_ns), _feedback_frame(model, feedback)


def _goals_frame(
    goals: Goals, feedback: Feedback, calls: pd.DataFrame, publish_ns: Ints
) -> pd.DataFrame:
    of_goal = calls.iloc[goals.call]
    sent, answered, started, ended, replied, got = goals.checkpoints
    begin_ns = calls["begin_ns"].to_numpy(np.int64)
    told_ns = filled(calls["take_response_ns"])
    last = np.max(np.stack(goals.checkpoints), axis=0) if len(goals) else sent
    served = np.max(np.stack(goals.checkpoints[1:5]), axis=0) if len(goals) else sent
    last = np.where(goals.unsynchronised & (served != NONE), served, last)
    last = np.where(goals.unsynchronised & (got != NONE), got, last)
    counts = _counts(goals, feedback, publish_ns)
    frame = pd.DataFrame(
        {
            "goal_id": np.arange(len(goals)),
            "action": goals.action,
            "client_node": of_goal["client_node"].to_numpy(object),
            "server_node": of_goal["service_node"].to_numpy(object),
            "goal_call_id": goals.call,
            "result_call_id": nullable(goals.result),
            "cancel_call_id": nullable(goals.cancel),
            "accepted": pd.array(
                [None if value == NONE else bool(value) for value in goals.accepted], "boolean"
            ),
            "method": take(np.asarray(RESULT_METHODS, object), goals.method, None),
            "confidence": take(np.asarray(RESULT_CONFIDENCES, object), goals.method, None),
            "instance_id": nullable(goals.execution),
            "begin_ns": sent,
            "answered_ns": nullable(answered),
            "started_ns": nullable(started),
            "ended_ns": nullable(ended),
            "replied_ns": nullable(replied),
            "result_taken_ns": nullable(got),
            "told_ns": nullable(told_ns[goals.call]),
            "cancel_ns": nullable(pick(begin_ns, goals.cancel)),
            **counts,
            **{column: nullable(ns) for column, ns in phases_of(goals).items()},
            "latency_ns": last - sent,
            "complete": got != NONE,
        }
    )
    frame["action_id"] = frame.groupby(["action", "client_node"], sort=True).ngroup()
    return tables.ACTION_GOALS.frame(frame)


def _counts(goals: Goals, feedback: Feedback, publish_ns: Ints) -> dict[str, object]:
    known = np.flatnonzero(feedback.goal != NONE)
    of = feedback.goal[known]
    size = len(goals)
    first = np.full(size, LATEST, np.int64)
    np.minimum.at(first, of, publish_ns[known])
    return {
        "first_feedback_ns": nullable(np.where(first != LATEST, first, NONE)),
        "feedback": np.bincount(of, minlength=size),
        "feedback_taken": np.bincount(of[feedback.taken[known] != NONE], minlength=size),
        "feedback_callbacks": np.bincount(of[feedback.execution[known] != NONE], minlength=size),
    }


def _feedback_frame(model: Model, feedback: Feedback) -> pd.DataFrame:
    publish_ns = model.publications.begin_ns[feedback.publication]
    take_ns = pick(model.takes.taken_ns, feedback.taken)
    of_thread = model.host_clocks.of_thread
    publisher = of_thread[model.publications.thread[feedback.publication]]
    alone = pick(of_thread, pick(model.takes.thread, feedback.taken)) == publisher
    latency: Ints = np.where(alone & (take_ns >= publish_ns), take_ns - publish_ns, NONE)
    return tables.ACTION_FEEDBACK.frame(
        pd.DataFrame(
            {
                "publication_id": feedback.publication,
                "goal_id": nullable(feedback.goal),
                "method": take(np.asarray(FEEDBACK_METHODS, object), feedback.method, None),
                "confidence": take(np.asarray(FEEDBACK_CONFIDENCES, object), feedback.method, None),
                "publish_ns": publish_ns,
                "take_id": nullable(feedback.taken),
                "take_ns": nullable(take_ns),
                "instance_id": nullable(feedback.execution),
                "latency_ns": nullable(latency),
            }
        )
    )
