# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes of `live/programs/action_goals.py` wrote down, and what holds of its goals."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from strata.analysis import Analysis
from strata.read import open_trace
from strata.schema.action_phases import ACTION_PHASES

PHASES = [phase.column for phase in ACTION_PHASES]
REFUSED, CANCELED = 4, 5


class Truth:
    """Times of what each side did, by event and number of the goal, on the clock of the trace."""

    def __init__(self, session: Path, number: str = "goal") -> None:
        (offset,) = set(open_trace(session).clock_offsets_ns.values())
        rows = []
        for path in sorted((session / "truth").glob("*.csv")):
            side = "server" if path.stem == "server" else "client"
            rows.append(pd.read_csv(path).assign(side=side))
        every = pd.concat(rows, ignore_index=True)
        every["ns"] = every["t_mono_ns"] + offset
        self._times = every.groupby(["side", "event", number])["ns"].apply(sorted).to_dict()

    def of(self, side: str, event: str, goal: int) -> list[int]:
        return [int(ns) for ns in self._times.get((side, event, goal), [])]

    def at(self, side: str, event: str, goal: int) -> int:
        (ns,) = self.of(side, event, goal)
        return ns


def numbered_goals(analysis: Analysis) -> pd.DataFrame:
    """The goals by the program's numbers: each client's in the order in which it sent them."""
    goals = analysis.action_goals
    place = goals.groupby("client_node")["begin_ns"].rank().astype(int) - 1
    return goals.assign(number=place + np.where(goals["client_node"] == "/many", 100, 0))


def check_goals(analysis: Analysis, session: Path) -> None:
    """Every goal agrees with what client and server wrote, phase by phase."""
    truth, goals = Truth(session), numbered_goals(analysis)
    assert sorted(goals["number"]) == [*range(6), 100, 101, 102]
    assert (goals["action"] == "/count").all()
    assert set(goals["server_node"]) == {"/server"}
    assert (goals[PHASES].sum(axis=1) == goals["latency_ns"]).all()
    assert not (goals[PHASES] < 0).any(axis=None)
    assert (goals["accepted"] == (goals["number"] != REFUSED)).all()
    assert (goals["complete"] == (goals["number"] != REFUSED)).all()
    canceled = goals[goals["cancel_call_id"].notna()]
    assert canceled["number"].tolist() == [CANCELED]
    for goal in goals.to_dict("records"):
        number = goal["number"]
        ways = [
            truth.at("client", "send", number),
            goal["begin_ns"],
            truth.at("server", "asked", number),
            goal["answered_ns"],
            goal["told_ns"],
            truth.at("client", "refused" if number == REFUSED else "accepted", number),
        ]
        assert all(before < after for before, after in pairwise(ways)), number
        if number != REFUSED:
            _check_execution(truth, goal)
            assert goal["feedback"] == len(truth.of("server", "feedback", number))


def _check_execution(truth: Truth, goal: dict[str, int]) -> None:
    number = goal["number"]
    ways = [
        goal["answered_ns"],
        goal["started_ns"],
        truth.at("server", "start", number),
        truth.at("server", "end", number),
        goal["ended_ns"],
        goal["replied_ns"],
        goal["result_taken_ns"],
        truth.at("client", "result", number),
    ]
    assert all(before < after for before, after in pairwise(ways)), number


def check_feedback(analysis: Analysis, session: Path) -> None:
    """Each message is of the goal that published it, and each callback of its goal was found."""
    truth, goals = Truth(session), numbered_goals(analysis)
    number = goals.set_index("goal_id")["number"]
    runs = analysis.callback_instances.set_index("instance_id")
    feedback = analysis.action_feedback.assign(
        number=analysis.action_feedback["goal_id"].map(number)
    )
    for goal, of in feedback.groupby("number"):
        of = of.sort_values("publish_ns")
        stamps = np.asarray(truth.of("server", "feedback", goal))
        delay = of["publish_ns"].to_numpy(np.int64) - stamps
        assert (delay > 0).all()
        assert np.median(delay) < 1_000_000
        heard = of[of["instance_id"].notna()]
        own = np.asarray(truth.of("client", "heard", goal))
        assert len(heard) == len(own)
        spans = runs.loc[heard["instance_id"].astype(int)].sort_values("start_ns")
        assert (spans["start_ns"].to_numpy(np.int64) < own).all()
        assert (own < spans["end_ns"].to_numpy(np.int64)).all()
