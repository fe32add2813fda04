# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of actions: goals, their phases and feedback, for each node that sends goals."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.schema import tables
from strata.schema.action_phases import ACTION_PHASES
from strata.stats.summary import prefixed, summarize, summarize_part

UNKNOWN = "(unknown)"


def action_tables(goals: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables `actions` and `action_phases` from `action_goals`."""
    actions: list[dict[str, object]] = []
    phases: list[dict[str, object]] = []
    for action_id, of in goals.groupby("action_id"):
        complete = of[of["complete"]]
        latency = complete["latency_ns"].to_numpy(np.int64)
        heard = of[of["first_feedback_ns"].notna() & of["answered_ns"].notna()]
        first = (heard["first_feedback_ns"] - heard["answered_ns"]).to_numpy(np.int64)
        nodes = sorted(set(of["server_node"].dropna().astype(str)))
        actions.append(
            {
                "action_id": action_id,
                "action": of["action"].iloc[0],
                "client_node": of["client_node"].iloc[0],
                "server_node": ", ".join(nodes) or UNKNOWN,
                "goals": len(of),
                "accepted": int((of["accepted"] == True).sum()),  # noqa: E712 (nullable)
                "refused": int((of["accepted"] == False).sum()),  # noqa: E712 (nullable)
                "complete": len(complete),
                "canceled": int(of["cancel_call_id"].notna().sum()),
                "inferred": int((of["confidence"] == "inferred").sum()),
                **{
                    name: int(of[name].sum())
                    for name in ("feedback", "feedback_taken", "feedback_callbacks")
                },
                **prefixed("latency_", summarize(latency)),
                # Feedback may be published before the answer, where threads race.
                **prefixed("first_feedback_", summarize(np.maximum(first, 0))),
            }
        )
        phases += _phases(action_id, complete, int(latency.sum()))
    return (
        tables.ACTIONS.frame(pd.DataFrame(actions, columns=tables.ACTIONS.names)),
        tables.ACTION_PHASE_STATS.frame(
            pd.DataFrame(phases, columns=tables.ACTION_PHASE_STATS.names)
        ),
    )


def _phases(action_id: object, goals: pd.DataFrame, total: int) -> list[dict[str, object]]:
    out: list[dict[str, object]] = []
    for phase in ACTION_PHASES:
        durations = goals[phase.column].dropna().to_numpy(np.int64)
        if len(durations):
            row = {"action_id": action_id, "phase": phase.name}
            out.append({**row, **summarize_part(durations, total)})
    return out
