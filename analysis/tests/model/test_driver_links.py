# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which frame each publication was made of, on scenes of a few events."""

from __future__ import annotations

import numpy as np
import pytest
from driver_scene import CLOUD, frames_of, played, scene
from scene import BASE

from strata.layers.driver_frames import driver_frames_rows


def test_all_messages_of_a_frame_are_linked_to_it() -> None:
    model = played(CLOUD)
    assert frames_of(model) == [
        ("UDP port 7502", 0, "/points"),
        ("UDP port 7502", 0, "/scan"),
    ]
    frame = driver_frames_rows(model).frame().iloc[0]
    assert frame["first_arrival_ns"] == BASE + 90
    assert frame["arrival_ns"] == BASE + 270
    assert frame["read_ns"] == BASE + 300
    assert frame["sweep_ns"] == 180
    assert frame["conversion_ns"] == 40
    assert frame["publications"] == 2
    assert not {code for code in model.findings.counts if code.startswith("driver")}


def test_a_frame_of_one_packet_needs_no_other_mark() -> None:
    model = played(
        """
        100 1.1 packet_received source=2 sequence=0
        101 1.1 frame_boundary source=2 frame=0 packets=1
        110 1.1 rmw_publish /imu 110
        """
    )
    assert frames_of(model) == [("UDP port 7503", 0, "/imu")]


def test_a_frame_of_one_packet_that_has_a_mark_is_not_linked_by_its_boundary() -> None:
    # Converted on another thread: what this thread publishes meanwhile is not of the frame.
    model = played(
        """
        100 1.1 packet_received source=2 sequence=0
        101 1.1 frame_boundary source=2 frame=0 packets=1
        110 1.1 rmw_publish /imu 110
        120 1.2 cloud_ready source=2 frame=0
        130 1.2 rmw_publish /points 130
        """
    )
    assert frames_of(model) == [None, ("UDP port 7503", 0, "/points")]


def test_a_frame_that_was_given_up_is_no_mark_for_what_comes_after() -> None:
    # Of the first scan one packet came; the driver marks its frames, and this one it did not.
    model = played(
        """
        100 1.1 packet_received source=1 sequence=0
        101 1.1 frame_boundary source=1 frame=0 packets=1 missing=15
        105 1.1 rmw_publish /scan 105
        110 1.1 packet_received source=1 sequence=1
        111 1.1 frame_boundary source=1 frame=1 packets=1 first_sequence=1 last_sequence=1
        112 1.1 cloud_ready source=1 frame=1
        113 1.1 rmw_publish /points 113
        """
    )
    assert frames_of(model) == [None, ("UDP port 7502", 1, "/points")]


def test_frames_that_another_thread_completes_are_linked_by_their_mark() -> None:
    model = played(
        """
        100 1.1 packet_received source=1 sequence=0
        101 1.1 frame_boundary source=1 frame=0 packets=2
        105 1.2 cloud_ready source=1 frame=0
        106 1.1 packet_received source=1 sequence=1
        107 1.1 frame_boundary source=1 frame=1 packets=2 first_sequence=1 last_sequence=1
        110 1.2 rmw_publish /points 110
        115 1.2 cloud_ready source=1 frame=1
        120 1.2 rmw_publish /points 120
        """
    )
    assert frames_of(model) == [
        ("UDP port 7502", 0, "/points"),
        ("UDP port 7502", 1, "/points"),
    ]


BETWEEN = {
    "a callback": "355 1.1 callback_start poll\n356 1.1 callback_end poll",
    "a callback that has not ended": "355 1.1 callback_start poll",
    "a take": "355 1.1 rmw_take on_trigger 5",
    "the next packet": "355 1.1 packet_received source=1 sequence=3",
    "another buffer": "355 1.1 buffer_pulled source=3 frame=0",
    "another frame": "355 1.1 frame_boundary source=2 frame=0 packets=2",
}


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_other_work_ends_a_frame(between: str) -> None:
    made = scene()
    made.play(CLOUD + between)
    model = made.model()
    assert frames_of(model)[:2] == [None, None]


def test_a_frame_does_not_reach_into_the_next_callback() -> None:
    model = played(
        """
        90  1.1 callback_start poll
        100 1.1 buffer_pulled source=3 frame=0
        101 1.1 copy_done source=3 frame=0
        102 1.1 rmw_publish /points 102
        103 1.1 callback_end poll
        110 1.1 callback_start poll
        112 1.1 rmw_publish /points 112
        113 1.1 callback_end poll
        """
    )
    assert frames_of(model) == [("appsink sink0", 0, "/points"), None]


def test_what_is_taken_within_the_callback_ends_a_frame() -> None:
    model = played(
        """
        90  1.1 callback_start poll
        100 1.1 buffer_pulled source=3 frame=0
        101 1.1 copy_done source=3 frame=0
        102 1.1 rmw_publish /points 102
        103 1.1 rmw_take on_trigger 5
        104 1.1 rmw_publish /scan 104
        105 1.1 callback_end poll
        """
    )
    assert frames_of(model) == [("appsink sink0", 0, "/points"), None]


SHARED = {
    "frames out of order": (
        """
        100 1.1 packet_received source=1 sequence=0
        101 1.1 frame_boundary source=1 frame=1 packets=2
        110 1.1 packet_received source=1 sequence=1
        111 1.1 frame_boundary source=1 frame=0 packets=2 first_sequence=1 last_sequence=1
        115 1.2 cloud_ready source=1 frame=0
        116 1.2 rmw_publish /points 116
        117 1.2 cloud_ready source=1 frame=1
        118 1.2 rmw_publish /points 118
        """,
        [("UDP port 7502", 0, "/points"), ("UDP port 7502", 1, "/points")],
    ),
    "a timer between read and publish": (
        """
        100 1.1 callback_start poll
        101 1.1 packet_received source=1 sequence=0
        102 1.1 frame_boundary source=1 frame=0 packets=2
        103 1.1 callback_end poll
        110 1.1 callback_start poll
        111 1.1 rmw_publish /scan 111
        112 1.1 callback_end poll
        120 1.1 callback_start poll
        121 1.1 cloud_ready source=1 frame=0
        122 1.1 rmw_publish /points 122
        123 1.1 callback_end poll
        """,
        [None, ("UDP port 7502", 0, "/points")],
    ),
    "a relay on the driver's thread": (
        """
        100 1.1 callback_start poll
        101 1.1 packet_received source=2 sequence=0
        102 1.1 frame_boundary source=2 frame=0 packets=1
        104 1.1 rmw_publish /imu 104
        105 1.1 callback_end poll
        110 1.1 rmw_take on_trigger 5
        111 1.1 callback_start on_trigger
        112 1.1 rmw_publish /scan 112
        113 1.1 callback_end on_trigger
        114 1.1 rmw_publish /imu 114
        """,
        [("UDP port 7503", 0, "/imu"), None, None],
    ),
    "three drivers in one callback": (
        """
        90  1.1 callback_start poll
        100 1.1 packet_received source=1 sequence=0
        101 1.1 packet_received source=2 sequence=0
        102 1.1 frame_boundary source=2 frame=0 packets=1
        103 1.1 rmw_publish /imu 103
        104 1.1 frame_boundary source=1 frame=0 packets=2
        105 1.1 cloud_ready source=1 frame=0
        106 1.1 rmw_publish /points 106
        107 1.1 buffer_pulled source=3 frame=0
        108 1.1 copy_done source=3 frame=0
        109 1.1 rmw_publish /scan 109
        110 1.1 callback_end poll
        """,
        [
            ("UDP port 7503", 0, "/imu"),
            ("UDP port 7502", 0, "/points"),
            ("appsink sink0", 0, "/scan"),
        ],
    ),
    "an executor of two threads": (
        """
        90  1.1 callback_start poll
        100 1.1 packet_received source=1 sequence=0
        101 1.1 frame_boundary source=1 frame=0 packets=2
        102 1.2 callback_start on_trigger
        104 1.1 cloud_ready source=1 frame=0
        105 1.2 rmw_publish /scan 105
        106 1.1 rmw_publish /points 106
        107 1.2 callback_end on_trigger
        108 1.1 callback_end poll
        """,
        [None, ("UDP port 7502", 0, "/points")],
    ),
}


@pytest.mark.parametrize(("lines", "expected"), SHARED.values(), ids=SHARED)
def test_who_shares_a_process_shares_no_frames(
    lines: str, expected: list[tuple[str, int, str] | None]
) -> None:
    model = played(lines)
    assert frames_of(model) == expected


def test_topics_that_every_node_has_are_not_made_of_sensor_data() -> None:
    model = played(CLOUD.replace("/scan", "/rosout"))
    assert frames_of(model) == [("UDP port 7502", 0, "/points"), None]


def test_no_link_reaches_over_lost_events() -> None:
    made = scene()
    made.play(CLOUD)
    model = made.model((np.array([BASE + 365]), np.array([BASE + 366])))
    assert frames_of(model) == [("UDP port 7502", 0, "/points"), None]
    assert model.findings.counts["driver_links_with_losses"] == 1


HOOKED = """
    100 1.1 packet_received source=4 sequence=0 queue_ns=4
    110 1.1 packet_received source=4 sequence=1 queue_ns=5
    120 1.1 rmw_publish /points 120
    121 1.1 rmw_publish /scan 121
    130 1.1 rmw_publish /points 130
"""


def test_without_frames_a_message_is_of_what_its_thread_read_last() -> None:
    model = played(HOOKED)
    assert frames_of(model) == [
        ("UDP port 7600", -1, "/points"),
        ("UDP port 7600", -1, "/scan"),
        None,
    ]
    assert model.findings.counts == {"driver_links_inferred": 2} | {
        code: count
        for code, count in model.findings.counts.items()
        if not code.startswith("driver")
    }
    frames = driver_frames_rows(model).frame()
    assert frames[["frame", "packets", "dropped"]].isna().all(axis=None)
    assert frames["arrival_ns"].tolist() == [BASE + 105]
    assert frames["publications"].tolist() == [2]


def test_without_frames_other_threads_and_callbacks_know_nothing() -> None:
    model = played(
        """
        90  1.1 callback_start poll
        100 1.1 packet_received source=4 sequence=0
        105 1.1 callback_end poll
        110 1.1 callback_start poll
        111 1.1 rmw_publish /points 111
        112 1.1 callback_end poll
        120 1.2 rmw_publish /points 120
        130 1.1 rmw_publish /scan 130
        """
    )
    assert frames_of(model) == [None, None, None]


def test_buffers_of_hooks_are_frames_that_messages_are_inferred_to_be_of() -> None:
    model = played(
        """
        100 1.1 buffer_pulled source=3 frame=0 queue_ns=7 pts_ns=1
        110 1.1 rmw_publish /points 110
        200 1.1 buffer_pulled source=3 frame=1 queue_ns=8
        300 1.1 buffer_pulled source=3 frame=2 queue_ns=9
        310 1.1 rmw_publish /points 310
        """
    )
    assert frames_of(model) == [("appsink sink0", 0, "/points"), ("appsink sink0", 2, "/points")]
    assert model.findings.counts["driver_links_inferred"] == 2
    assert model.findings.counts["driver_frames_unpublished"] == 1


def test_a_thread_that_tells_of_frames_is_not_guessed_about() -> None:
    # The hooks see the socket of an instrumented driver a second time.
    model = played(
        """
        99  1.1 packet_received source=4 sequence=0
        100 1.1 packet_received source=1 sequence=0
        101 1.1 frame_boundary source=1 frame=0 packets=2
        102 1.1 rmw_publish /imu 102
        105 1.1 cloud_ready source=1 frame=0
        110 1.1 rmw_publish /points 110
        """
    )
    assert frames_of(model) == [None, ("UDP port 7502", 0, "/points")]
