# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which goal each request of a result is for, where a client has several under way."""

from __future__ import annotations

import numpy as np

from strata.layers.action_results import RESULT_METHODS, results_of_clients
from strata.model.columns import NONE

Goal = tuple[int, int]
Request = tuple[int, int]


def joined(
    goals: list[Goal], requests: list[Request], clients: tuple[int, int] = (0, 0)
) -> list[tuple[int, str | None]]:
    """Request and method of each goal; goals are (told, ended), requests (asked, sent)."""
    told, asked = np.asarray(goals, np.int64).T, np.asarray(requests, np.int64).T
    result, method = results_of_clients(
        (np.full(len(goals), clients[0]), told[0], told[1]),
        (np.full(len(requests), clients[1]), asked[0], asked[1]),
    )
    return [
        (int(row), None if by == NONE else RESULT_METHODS[by])
        for row, by in zip(result, method, strict=True)
    ]


def test_the_only_goal_that_has_ended_is_the_requests_whatever_their_order() -> None:
    goals = [(10, 130), (11, 150), (12, 170)]
    asked_in_reverse = [(20, 171), (21, 151), (22, 131)]
    assert joined(goals, asked_in_reverse) == [
        (2, "only goal"),
        (1, "only goal"),
        (0, "only goal"),
    ]


def test_what_follows_from_a_choice_is_not_exact() -> None:
    """The request left for the last goal is only left because the first got the other one."""
    goals, requests = [(10, NONE), (11, NONE)], [(20, 30), (21, 31)]
    assert joined(goals, requests) == [(0, "order"), (1, "order")]


def test_once_all_goals_of_a_choice_have_results_the_next_one_is_exact() -> None:
    goals, requests = [(10, NONE), (11, NONE), (40, NONE)], [(20, 30), (21, 31), (50, 60)]
    assert joined(goals, requests)[2] == (2, "only goal")


def test_a_goal_whose_result_is_never_asked_for_does_not_take_the_others() -> None:
    goals = [(10, 50), (11, 130), (60, 230)]
    requests = [(100, 131), (200, 231)]
    assert joined(goals, requests) == [(NONE, None), (0, "last end"), (1, "last end")]


def test_without_an_end_meanwhile_the_first_answered_is_taken() -> None:
    """Both ended before the result was asked for, which was sent at once."""
    assert joined([(10, 50), (11, 40)], [(100, 101)]) == [(0, "order"), (NONE, None)]


def test_no_goal_is_given_that_cannot_be() -> None:
    not_told, told_later = (NONE, NONE), (30, NONE)
    assert joined([not_told, told_later], [(20, 25)]) == [(NONE, None), (NONE, None)]
    assert joined([(10, NONE)], [(20, 25)], clients=(0, 1)) == [(NONE, None)]
    assert joined([(10, 90)], [(20, 25)]) == [(NONE, None)]


def test_a_result_that_was_not_sent_can_be_of_any_goal() -> None:
    goals, requests = [(10, 130), (11, 150)], [(20, NONE), (21, 131)]
    assert joined(goals, requests) == [(1, "only goal"), (0, "only goal")]
