# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of actions: goals, their phases and feedback, for each node that sends goals."""

from __future__ import annotations

from typing import Any

import numpy as np

from strata.schema import tables
from strata.schema.action_phases import ACTION_PHASES
from strata.schema.rows import Rows
from strata.stats.partition import partition
from strata.stats.services import names_in
from strata.stats.summary import part_columns, prefixed, summarize

UNKNOWN = "(unknown)"


def action_tables(goals: Rows) -> tuple[Rows, Rows]:
    """Return the tables `actions` and `action_phases` from `action_goals`."""
    actions: list[dict[str, Any]] = []
    phases: list[dict[str, Any]] = []
    for action_id, own in partition(goals["action_id"]):
        of = goals.take(own)
        complete = of.take(of["complete"])
        heard = of.there("first_feedback_ns") & of.there("answered_ns")
        first = (of["first_feedback_ns"] - of["answered_ns"])[heard]
        actions.append(
            {
                "action_id": action_id,
                "action": of.words("action").at(0),
                "client_node": of.words("client_node").at(0),
                "server_node": names_in(goals, "server_node", own) or UNKNOWN,
                "goals": len(of),
                "accepted": int((of["accepted"] == 1).sum()),
                "refused": int((of["accepted"] == 0).sum()),
                "complete": len(complete),
                "canceled": int(of.there("cancel_call_id").sum()),
                "inferred": int(of.words("confidence").are("inferred").sum()),
                **{
                    name: int(of[name].sum())
                    for name in ("feedback", "feedback_taken", "feedback_callbacks")
                },
                **prefixed("latency_", summarize(complete["latency_ns"])),
                # Feedback may be published before the answer, where threads race.
                **prefixed("first_feedback_", summarize(np.maximum(first, 0))),
            }
        )
        phases += _phases(action_id, complete)
    return (
        Rows.of_records(tables.ACTIONS, actions),
        Rows.of_records(tables.ACTION_PHASE_STATS, phases),
    )


def _phases(action_id: int, goals: Rows) -> list[dict[str, Any]]:
    total = int(goals["latency_ns"].sum())
    out: list[dict[str, Any]] = []
    for phase in ACTION_PHASES:
        durations = goals[phase.column][goals.there(phase.column)]
        if len(durations):
            row = {"action_id": action_id, "phase": phase.name}
            out.append({**row, **part_columns(durations, total)})
    return out
