# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which events make one publication, also where some were lost."""

from __future__ import annotations

import numpy as np
import pytest
from scene import BASE, Scene


def client_ns(lines: str, *lost: int) -> list[int]:
    """When publications began; events were lost at the instants `lost`."""
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.publisher("/u", node="/source", pid=1)
    made.play(lines)
    at = np.asarray(lost, np.int64) + BASE
    model = made.model((at, at))
    found = model.publications.client_ns
    return np.where(found == -1, -1, found - BASE).tolist()


def test_a_publication_begins_with_the_first_client_event() -> None:
    assert client_ns("90 1.1 rclcpp_publish\n95 1.1 rcl_publish /t\n100 1.1 rmw_publish /t 1") == [
        90
    ]
    assert client_ns("95 1.1 rcl_publish /t\n100 1.1 rmw_publish /t 1") == [95]
    assert client_ns("100 1.1 rmw_publish /t 1") == [-1]


@pytest.mark.parametrize("between", ["callback_start x", "callback_end x", "wait", "ready"])
def test_what_is_left_of_a_lost_publication_is_not_the_begin_of_the_next(between: str) -> None:
    # The first rmw_publish was lost; the second publication has no client event of its own.
    lines = f"90 1.1 rclcpp_publish\n95 1.1 rcl_publish /t\n97 1.1 {between}\n"
    assert client_ns(lines + "500 1.1 rmw_publish /u 2") == [-1]


def test_nothing_of_before_lost_events_is_its_begin() -> None:
    lines = "90 1.1 rclcpp_publish\n95 1.1 rcl_publish /t\n500 1.1 rmw_publish /t 2"
    assert client_ns(lines) == [90]
    assert client_ns(lines, 92) == [95]
    assert client_ns(lines, 200) == [-1]


def test_of_another_message_in_the_same_callback_it_is_not_the_begin_either() -> None:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.publisher("/u", node="/source", pid=1)
    made.play("90 1.1 rclcpp_publish\n95 1.1 rcl_publish /t\n495 1.1 rcl_publish /u")
    made.play("500 1.1 rmw_publish /u 2")
    rows = made.rows
    for event, messages in (
        ("rclcpp_publish", [1]),
        ("rcl_publish", [1, 2]),
        ("rmw_publish", [2]),
    ):
        for row, message in zip(rows[f"ros2:{event}"], messages, strict=True):
            row["message"] = message
    model = made.model()
    assert (model.publications.client_ns - BASE).tolist() == [495]


def test_in_rclpy_it_begins_where_publish_was_entered() -> None:
    call = "10 1.1 rclpy_publish /t\n95 1.1 rcl_publish /t\n100 1.1 rmw_publish /t 1"
    assert client_ns(call) == [10]
    # Serialized messages have no rcl_publish.
    assert client_ns("10 1.1 rclpy_publish /t\n100 1.1 rmw_publish /t 1") == [10]
    assert client_ns(call, 50) == [95]


def test_a_publish_of_rclpy_that_raised_is_the_begin_of_no_other() -> None:
    # The log of what was raised is published by rcl itself.
    assert client_ns(
        "10 1.1 rclpy_publish /t\n95 1.1 rcl_publish /u\n100 1.1 rmw_publish /u 1"
    ) == [95]
    again = "10 1.1 rclpy_publish /t\n20 1.1 rclpy_publish /t\n100 1.1 rmw_publish /t 1"
    assert client_ns(again) == [20]
    # Of the second publish() the own event was lost: what the first left is not its begin.
    assert client_ns(again + "\n200 1.1 rmw_publish /t 2") == [20, -1]
    later = "10 1.1 rclpy_publish /t\n20 1.1 {}\n100 1.1 rmw_publish /t 1"
    for between in ("callback_start x", "callback_end x", "wait", "ready"):
        assert client_ns(later.format(between)) == [-1]


def test_another_publisher_publishes_while_rclpy_converts_a_message() -> None:
    nested = """
        10 1.1 rclpy_publish /t
        20 1.1 rclpy_publish /u
        30 1.1 rcl_publish /u
        31 1.1 rmw_publish /u 1
        40 1.1 rcl_publish /t
        41 1.1 rmw_publish /t 2
        50 1.1 rclpy_publish /u
        51 1.1 rmw_publish /u 3
    """
    assert client_ns(nested) == [20, 10, 50]
    # Another thread publishes by the same publisher meanwhile.
    other = "10 1.1 rclpy_publish /t\n20 1.2 rclpy_publish /t\n30 1.2 rmw_publish /t 1\n"
    assert client_ns(other + "40 1.1 rmw_publish /t 2") == [20, 10]


def test_every_event_of_rclpys_publish_is_accounted_for() -> None:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.play(
        """
        10 1.1 rclpy_publish /t
        20 1.1 rcl_publish /t
        30 1.1 rmw_publish /t 1
        40 1.1 rclpy_publish /t
        50 1.1 rclpy_publish /t
        60 1.1 rmw_publish /t 2
        70 1.1 rclpy_publish unknown
        80 1.1 rmw_publish /t 3
        90 1.1 rclpy_publish /t
        95 1.1 rmw_publish /t 4
        """
    )
    model = made.model()
    found = {
        use.text: use.count for use in model.facts.event_uses() if "rclcpp_publish" in use.event
    }
    assert found == {
        "begin of a publication": 3,
        "rclpy's publish() raised, nothing was sent": 1,
        # Of a process without rcl_init, which may be older than the trace, it cannot be told.
        "publish() after the context was shut down: refused": 1,
    }


def test_without_init_and_client_events_a_taken_stamp_tells_a_publication() -> None:
    made = Scene()
    made.play(
        """
        100 1.1 rmw_publish unknown 100
        110 1.1 rmw_publish unknown 110
        200 2.2 rmw_take unknown 100
        """
    )
    model = made.model()
    assert len(model.publications) == len(model.matches.take) == 1
    assert model.findings.counts["graph_publications"] == 1
