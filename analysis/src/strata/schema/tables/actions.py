# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of actions and their goals; strata.schema.tables lists them with all others."""

from __future__ import annotations

from strata.schema.action_phases import ACTION_PHASES
from strata.schema.columns import dense_id, duration, instant, statistics
from strata.schema.table import Column, Table

_NOT_SEEN = "not recorded"
_NO_RESULT = "no result request was matched to this goal"

ACTION_GOALS = Table(
    "action_goals",
    ("goal_id",),
    (
        dense_id("goal_id", "dense number, in order of the requests"),
        dense_id("action_id", "row of `actions`"),
        Column("action", "string", "fully qualified action"),
        Column("client_node", "string", "node that sent the goal"),
        Column("server_node", "string", "node that served it", null="no server took the request"),
        dense_id("goal_call_id", "row of `service_calls`: the goal request"),
        dense_id("result_call_id", "row of `service_calls`: the result request", null=_NO_RESULT),
        dense_id(
            "cancel_call_id", "row of `service_calls`: the cancel request", null="none, or unclear"
        ),
        Column(
            "accepted",
            "bool",
            "the server published a status on the thread that answered, before other work",
            null="no answer, or no status from the server at all, was recorded",
        ),
        Column(
            "method",
            "string",
            "how the result request was matched: only goal (of this client that it could belong "
            "to); of several, last end (the goal that ended last while the client waited for the "
            "result), or order (the one answered first)",
            null=_NO_RESULT,
        ),
        Column("confidence", "string", "exact or inferred", null=_NO_RESULT),
        dense_id("instance_id", "the execution of the goal (rclpy)", null=_NOT_SEEN),
        instant("begin_ns", "checkpoint: begin of the goal request's call"),
        instant("answered_ns", "checkpoint: the server sends its answer", null=_NOT_SEEN),
        instant("started_ns", "checkpoint: callback_start of the execution", null=_NOT_SEEN),
        instant("ended_ns", "checkpoint: callback_end of the execution", null=_NOT_SEEN),
        instant("replied_ns", "checkpoint: the server sends the result", null=_NOT_SEEN),
        instant("result_taken_ns", "checkpoint: the client takes the result", null=_NOT_SEEN),
        instant("told_ns", "the client takes the server's answer", null=_NOT_SEEN),
        instant("cancel_ns", "the cancel request for this goal is sent", null="none, or unclear"),
        instant("first_feedback_ns", "the first feedback is published", null="none, or unclear"),
        Column("feedback", "int64", "feedback messages matched to this goal"),
        Column("feedback_taken", "int64", "of these, taken by the goal's client"),
        Column(
            "feedback_callbacks", "int64", "of these, those that started a callback there (rclpy)"
        ),
        *(
            duration(phase.column, f"phase {phase.name}: {phase.doc}", null="not in this row")
            for phase in ACTION_PHASES
        ),
        duration("latency_ns", "begin_ns to the last checkpoint; the sum of the phases"),
        Column("complete", "bool", "from the request to the result that the client took"),
    ),
    "One row per goal of an action, with its checkpoints and phases.",
)

ACTION_FEEDBACK = Table(
    "action_feedback",
    ("publication_id",),
    (
        dense_id("publication_id", "row of `publications`"),
        dense_id("goal_id", "row of `action_goals`", null="unclear which of several goals"),
        Column(
            "method",
            "string",
            "how the goal was matched: execution (published within it); only goal (that the "
            "server had); thread (that later finished the goal)",
            null="unclear",
        ),
        Column("confidence", "string", "exact or inferred", null="unclear"),
        instant("publish_ns", "when it was published"),
        dense_id("take_id", "row of `takes`: the take by the goal's client", null="not taken"),
        instant("take_ns", "when that was", null="not taken"),
        dense_id("instance_id", "the execution of the client's callback", null=_NOT_SEEN),
        duration(
            "latency_ns",
            "publish_ns to the client's take",
            null="not taken, or taken on a host whose clock is not synchronised with the "
            "publisher's",
        ),
    ),
    "One row per feedback message that an action server published.",
)

ACTIONS = Table(
    "actions",
    ("action_id",),
    (
        dense_id("action_id", "dense number"),
        Column("action", "string", "fully qualified action"),
        Column("client_node", "string", "node that sends goals"),
        Column(
            "server_node", "string", "nodes that serve it, joined by a comma; (unknown) for none"
        ),
        Column("goals", "int64", "goals that were requested"),
        Column("accepted", "int64", "of these, known to be accepted"),
        Column("refused", "int64", "of these, known to be refused"),
        Column("complete", "int64", "goals whose result the client took"),
        Column("canceled", "int64", "goals that the client asked to cancel"),
        Column("inferred", "int64", "goals whose result was matched by order alone"),
        Column("feedback", "int64", "feedback messages matched to these goals"),
        Column("feedback_taken", "int64", "of these, taken by the client"),
        Column(
            "feedback_callbacks", "int64", "of these, those that started a callback there (rclpy)"
        ),
        *statistics("latency_", "from the request to the result, complete goals"),
        *statistics("first_feedback_", "from the server's answer to the first feedback"),
    ),
    "One row per action and node that sends it goals.",
)

ACTION_PHASE_STATS = Table(
    "action_phases",
    ("action_id", "phase"),
    (
        dense_id("action_id", "row of `actions`"),
        Column("phase", "string", "name of the phase"),
        Column("share", "float64", "of the summed latency of the complete goals"),
        *statistics("", "duration"),
    ),
    "One row per phase of an action's complete goals from one node.",
)

ACTION_TABLES: tuple[Table, ...] = (ACTION_GOALS, ACTION_FEEDBACK, ACTIONS, ACTION_PHASE_STATS)
