# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Goals of actions of real traces against what clients and servers wrote down themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from action_truth import (
    CANCELED,
    REFUSED,
    Truth,
    check_feedback,
    check_goals,
    numbered_goals,
)
from rich.console import Console

from strata.analysis import Analysis
from strata.layers.action_frames import action_rows
from strata.layers.service_calls import cut_calls
from strata.layers.service_frames import service_calls_rows
from strata.model.of_tables import model_of_tables
from strata.read import open_trace
from strata.schema.rows import Rows
from strata.schema.tables import SERVICE_CALLS
from strata.show.document.analysis import document
from strata.show.terminal.analysis import print_analysis

AnalysisOf = Callable[[str], Analysis]
Sample = Callable[[str], Path]


def test_every_goal_agrees_with_what_the_nodes_wrote(
    analysis_of: AnalysisOf, sample: Sample
) -> None:
    analysis = analysis_of("actions_jazzy")
    check_goals(analysis, sample("actions_jazzy"))
    check_feedback(analysis, sample("actions_jazzy"))
    assert analysis.action_feedback["goal_id"].notna().all()
    assert set(analysis.action_feedback["method"]) == {"execution"}
    # One goal after the other: nothing is inferred of them.
    alone = analysis.action_goals[analysis.action_goals["client_node"] == "/alone"]
    assert (alone["confidence"].dropna() == "exact").all()
    # Feedback of others' goals and statuses are taken and call nothing: no callback is unfinished.
    assert "unfinished_chains" not in set(analysis.quality["code"])


def test_actions_are_in_the_text_and_in_the_document(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("actions_jazzy")
    out = StringIO()
    print_analysis(analysis, Console(file=out, width=80), sections=("actions", "callbacks"))
    text = out.getvalue()
    section = text[text.index("actions ──") : text.index("callbacks, by total time")]
    assert "/alone -> /server" in section
    assert "5 complete, 1 refused, 1 canceled" in " ".join(section.split())
    assert "execution" in section
    assert max(map(len, text.splitlines())) <= 80

    actions = json.loads(json.dumps(document(analysis)))["actions"]
    alone, many = sorted(actions, key=lambda row: row["client_node"])
    assert (alone["goals"], alone["accepted"], alone["refused"], alone["complete"]) == (6, 5, 1, 5)
    assert (alone["canceled"], many["goals"], many["complete"]) == (1, 3, 3)
    assert sum(phase["share"] for phase in many["phases"]) == pytest.approx(1)
    assert many["latency_ns"]["count"] == 3
    assert many["first_feedback_ns"]["p50"] > 10_000_000


def test_without_actions_there_is_no_section(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("services_jazzy")
    assert analysis.actions.empty
    assert "actions" not in document(analysis)


def test_goals_at_once_are_not_mixed_where_nothing_tells_them_apart(sample: Sample) -> None:
    """Without the executions, feedback that was published while three goals were open has none."""
    tables = open_trace(sample("actions_jazzy")).tables()
    picked = tables["ros2:rclcpp_executor_execute"]
    address = picked["handle"].to_numpy() < 1 << 52
    model = model_of_tables({**tables, "ros2:rclcpp_executor_execute": picked.filter(address)})
    calls = service_calls_rows(model, cut_calls(model)[0])
    of_goals, of_feedback, findings = action_rows(model, calls)
    goals, feedback = of_goals.frame(), of_feedback.frame()
    assert goals["started_ns"].isna().all()
    complete = goals[goals["complete"]]
    assert (complete["start_execution_reply_ns"].notna()).all()
    assert findings.counts["feedback_of_unknown_goals"] == 9
    known = feedback[feedback["goal_id"].notna()]
    assert set(known["method"]) == {"only goal"}
    assert known["goal_id"].map(goals.set_index("goal_id")["client_node"]).eq("/alone").all()
    assert len(known) == len(feedback) - 9


def test_results_of_goals_at_once_say_that_the_order_tells_them(sample: Sample) -> None:
    """Three answers come before the first result is asked for, and no execution is known."""
    tables = open_trace(sample("actions_jazzy")).tables()
    picked = tables["ros2:rclcpp_executor_execute"]
    address = picked["handle"].to_numpy() < 1 << 52
    tables["ros2:rclcpp_executor_execute"] = picked.filter(address)
    model = model_of_tables(tables)
    calls = service_calls_rows(model, cut_calls(model)[0]).frame()
    of_many = calls["client_node"] == "/many"
    asked = of_many & calls["service"].str.endswith("get_result")
    answers = calls.loc[of_many & calls["service"].str.endswith("send_goal"), "take_response_ns"]
    late = np.int64(answers.max()) + 1 + np.arange(asked.sum())
    calls.loc[asked, "begin_ns"] = late
    of_goals, _, findings = action_rows(model, Rows.of_frame(SERVICE_CALLS, calls))
    goals = of_goals.frame()
    many = goals[goals["client_node"] == "/many"]
    assert set(many["method"]) == {"order"}
    assert findings.counts["goals_by_order"] == 3
    assert many["result_call_id"].is_unique


def test_results_that_were_asked_for_in_another_order_are_of_their_goals(
    analysis_of: AnalysisOf, sample: Sample
) -> None:
    """Four goals at once end in the order 3, 0, 1, 2; their results were asked for as 3, 2, 1, 0.

    Of the later rounds the result of the goal that ends first is never asked for.
    """
    analysis, truth = analysis_of("actions_cyclone"), Truth(sample("actions_cyclone"))
    goals = analysis.action_goals.sort_values("begin_ns")
    goals = goals.assign(number=[10 * rounds + goal for rounds in range(3) for goal in range(4)])
    silent = goals["number"].isin([13, 23])
    assert goals.loc[silent, "result_call_id"].isna().all()
    assert (goals["complete"] == ~silent).all()
    for goal in goals[~silent].to_dict("records"):
        number = goal["number"]
        ways = [
            truth.at("client", "accepted", number),
            truth.at("client", "ask", number),
            truth.at("server", "end", number),
            goal["ended_ns"],
            goal["replied_ns"],
            goal["result_taken_ns"],
            truth.at("client", "result", number),
        ]
        assert all(before < after for before, after in pairwise(ways)), number
        assert ways[-1] - goal["replied_ns"] < 5_000_000  # goals end 10 ms apart
    by = goals.set_index("number")["method"]
    assert set(by[[0, 1, 2, 3]]) == {"only goal"}
    assert set(by[[10, 11, 12, 20, 21, 22]]) == {"last end"}
    counts = analysis.quality.set_index("code")["count"]
    assert counts["goals_by_order"] == 6


def test_an_action_of_its_own_has_no_other_callbacks(analysis_of: AnalysisOf) -> None:
    """Callbacks of actions have a kind of their own, and every event a use."""
    analysis = analysis_of("actions_jazzy")
    kinds = analysis.callbacks.set_index("symbol")["kind"]
    assert set(kinds[["__main__.Server.on_execute", "__main__.Client.on_feedback"]]) == {"action"}
    assert "unexplained" not in set(analysis.event_uses["use"])
    served = analysis.service_calls.set_index("call_id").loc[
        numbered_goals(analysis)["goal_call_id"], "instance_id"
    ]
    assert served.notna().sum() >= 6


def test_calls_and_goals_of_rclcpp_agree_with_what_the_nodes_wrote(
    analysis_of: AnalysisOf, sample: Sample
) -> None:
    """rclcpp leaves the execution to the program, here a thread for each goal."""
    analysis, truth = analysis_of("calls_rclcpp"), Truth(sample("calls_rclcpp"), "number")
    calls = analysis.service_calls
    assert set(calls["method"]) == {"dds identity"}
    added = calls[calls["service"] == "/add"].sort_values("sequence_number")
    assert len(added) == 30
    assert added["complete"].all()
    for number, call in enumerate(added.to_dict("records")):
        ways = [
            truth.at("client", "send", number),
            *(call[f"{name}_ns"] for name in ("send_request", "take_request", "callback_start")),
            truth.at("server", "start", number),
            truth.at("server", "end", number),
            *(call[f"{name}_ns"] for name in ("callback_end", "send_response", "take_response")),
            truth.at("client", "response", number),
        ]
        assert all(before < after for before, after in pairwise(ways)), number

    goals = analysis.action_goals.assign(number=[*range(6), 100, 101, 102])
    assert (goals["accepted"] == (goals["number"] != REFUSED)).all()
    assert goals.loc[goals["cancel_call_id"].notna(), "number"].tolist() == [CANCELED]
    for goal in goals[goals["number"] != REFUSED].to_dict("records"):
        number = goal["number"]
        ways = [
            truth.at("client", "goal", number),
            goal["begin_ns"],
            truth.at("server", "asked", number),
            goal["answered_ns"],
            truth.at("server", "begin", number),
            truth.at("server", "done", number),
            goal["replied_ns"],
            goal["result_taken_ns"],
            truth.at("client", "result", number),
        ]
        assert all(before < after for before, after in pairwise(ways)), number
        assert goal["start_execution_reply_ns"] == goal["replied_ns"] - goal["answered_ns"]

    # Three goals at once: the thread that finishes a goal published its feedback, inferred.
    feedback = analysis.action_feedback.merge(goals[["goal_id", "number"]], on="goal_id")
    assert len(feedback) == len(analysis.action_feedback)
    for number, of in feedback.groupby("number"):
        stamps = np.asarray(truth.of("server", "feedback", number))
        delay = np.sort(of["publish_ns"].to_numpy(np.int64)) - stamps
        assert (delay > 0).all()
        assert (delay < 5_000_000).all()  # steps are 10 ms apart
    at_once = feedback[feedback["number"] >= 100]
    assert (at_once["confidence"] == "inferred").sum() >= 6
    assert (feedback.loc[feedback["number"] < 100, "confidence"] == "exact").all()
