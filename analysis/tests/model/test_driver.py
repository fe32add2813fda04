# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sources, frames and their publications, on scenes of a few events."""

from __future__ import annotations

import numpy as np
import pytest
from scene import BASE, Scene

from strata.layers.driver_frames import driver_frames_frame, driver_losses_frame
from strata.model.build import Model
from strata.model.event_uses import UNEXPLAINED, event_uses
from strata.schema.quality import Ledger
from strata.stats.drivers import driver_sources_table

CLOUD = """
    100 1.1 packet_received source=1 sequence=0 queue_ns=10 bytes=800
    200 1.1 packet_received source=1 sequence=1 queue_ns=20 bytes=800
    300 1.1 packet_received source=1 sequence=2 queue_ns=30 bytes=800
    310 1.1 frame_boundary source=1 frame=0 packets=2 first_sequence=0 last_sequence=2
    350 1.1 cloud_ready source=1 frame=0 bytes=5000
    360 1.1 rcl_publish /points
    361 1.1 rmw_publish /points 361
    370 1.1 rcl_publish /scan
    371 1.1 rmw_publish /scan 371
"""


def scene() -> Scene:
    made = Scene()
    for topic in ("/points", "/scan", "/imu", "/rosout"):
        made.publisher(topic, node="/driver", pid=1)
    made.subscription("/trigger", node="/driver", pid=1, symbol="on_trigger")
    made.timer(node="/driver", pid=1, symbol="poll")
    made.source(1, pid=1, kind="udp", name="lidar", address="0.0.0.0:7502")
    made.source(2, pid=1, kind="udp", name="imu", address="[::]:7503")
    made.source(3, pid=1, kind="appsink", address="sink0")
    made.source(4, pid=1, kind="udp", address="0.0.0.0:7600")
    return made


def played(lines: str) -> tuple[Model, Ledger]:
    made = scene()
    made.play(lines)
    model, ledger = made.model()
    assert not unexplained(model)
    return model, ledger


def unexplained(model: Model) -> list[str]:
    return [use.event for use in event_uses(model) if use.text == UNEXPLAINED]


def frames_of(model: Model) -> list[tuple[str, int, str] | None]:
    """Place, number and topic of the frame of each publication; number -1 is an inferred one."""
    driver = model.driver
    topics = model.entities.publishers.topic[model.publications.publisher]
    return [
        None
        if frame < 0
        else (
            str(driver.sources.place[driver.frames.source[frame]]),
            int(driver.frames.number[frame]),
            str(topic),
        )
        for frame, topic in zip(driver.frame, topics, strict=True)
    ]


def losses_of(model: Model) -> list[tuple[int, str, int, int, int]]:
    frame = driver_losses_frame(model).fillna(BASE - 1)
    frame["begin_ns"] -= BASE
    frame["end_ns"] -= BASE
    return [tuple(row) for row in frame.to_numpy().tolist()]


def test_sources_are_named_by_their_init_events() -> None:
    model, _ = played(CLOUD)
    assert model.driver.sources.place.tolist() == [
        "UDP port 7502",
        "UDP port 7503",
        "appsink sink0",
        "UDP port 7600",
    ]


def test_one_number_in_two_processes_is_two_sources() -> None:
    made = scene()
    made.source(1, pid=2, kind="appsink", address="other")
    made.play("100 2.2 buffer_pulled source=1 frame=0")
    model, _ = made.model()
    assert model.driver.sources.place.tolist()[4] == "appsink other"
    assert model.driver.frames.source.tolist() == [4]


def test_a_source_without_its_init_event_is_known_by_the_others() -> None:
    model, _ = played("100 7.7 packet_received source=9\n101 8.8 buffer_pulled source=9")
    assert model.driver.sources.place.tolist()[4:] == [
        "UDP (unknown socket)",
        "appsink (unnamed)",
    ]
    table = driver_sources_table(model, driver_frames_frame(model))
    assert table["kind"].isna().tolist() == [False] * 4 + [True] * 2


def test_all_messages_of_a_frame_are_linked_to_it() -> None:
    model, ledger = played(CLOUD)
    assert frames_of(model) == [
        ("UDP port 7502", 0, "/points"),
        ("UDP port 7502", 0, "/scan"),
    ]
    frame = driver_frames_frame(model).iloc[0]
    assert frame["first_arrival_ns"] == BASE + 90
    assert frame["arrival_ns"] == BASE + 270
    assert frame["read_ns"] == BASE + 300
    assert frame["sweep_ns"] == 180
    assert frame["conversion_ns"] == 40
    assert frame["publications"] == 2
    assert not {code for code in ledger.counts if code.startswith("driver")}


def test_a_frame_of_one_packet_needs_no_other_mark() -> None:
    model, _ = played(
        """
        100 1.1 packet_received source=2 sequence=0
        101 1.1 frame_boundary source=2 frame=0 packets=1
        110 1.1 rmw_publish /imu 110
        """
    )
    assert frames_of(model) == [("UDP port 7503", 0, "/imu")]


def test_a_frame_of_one_packet_that_has_a_mark_is_not_linked_by_its_boundary() -> None:
    # Converted on another thread: what this thread publishes meanwhile is not of the frame.
    model, _ = played(
        """
        100 1.1 packet_received source=2 sequence=0
        101 1.1 frame_boundary source=2 frame=0 packets=1
        110 1.1 rmw_publish /imu 110
        120 1.2 cloud_ready source=2 frame=0
        130 1.2 rmw_publish /points 130
        """
    )
    assert frames_of(model) == [None, ("UDP port 7503", 0, "/points")]


def test_frames_that_another_thread_completes_are_linked_by_their_mark() -> None:
    model, _ = played(
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
    model, _ = made.model()
    assert frames_of(model)[:2] == [None, None]


def test_a_frame_does_not_reach_into_the_next_callback() -> None:
    model, _ = played(
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


def test_topics_that_every_node_has_are_not_made_of_sensor_data() -> None:
    model, _ = played(CLOUD.replace("/scan", "/rosout"))
    assert frames_of(model) == [("UDP port 7502", 0, "/points"), None]


def test_no_link_reaches_over_lost_events() -> None:
    made = scene()
    made.play(CLOUD)
    model, ledger = made.model((np.array([BASE + 365]), np.array([BASE + 366])))
    assert frames_of(model) == [("UDP port 7502", 0, "/points"), None]
    assert ledger.counts["driver_links_with_losses"] == 1


HOOKED = """
    100 1.1 packet_received source=4 sequence=0 queue_ns=4
    110 1.1 packet_received source=4 sequence=1 queue_ns=5
    120 1.1 rmw_publish /points 120
    121 1.1 rmw_publish /scan 121
    130 1.1 rmw_publish /points 130
"""


def test_without_frames_a_message_is_of_what_its_thread_read_last() -> None:
    model, ledger = played(HOOKED)
    assert frames_of(model) == [
        ("UDP port 7600", -1, "/points"),
        ("UDP port 7600", -1, "/scan"),
        None,
    ]
    assert ledger.counts == {"driver_links_inferred": 2} | {
        code: count for code, count in ledger.counts.items() if not code.startswith("driver")
    }
    frames = driver_frames_frame(model)
    assert frames[["frame", "packets", "dropped"]].isna().all(axis=None)
    assert frames["arrival_ns"].tolist() == [BASE + 105]
    assert frames["publications"].tolist() == [2]


def test_without_frames_other_threads_and_callbacks_know_nothing() -> None:
    model, _ = played(
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
    model, ledger = played(
        """
        100 1.1 buffer_pulled source=3 frame=0 queue_ns=7 pts_ns=1
        110 1.1 rmw_publish /points 110
        200 1.1 buffer_pulled source=3 frame=1 queue_ns=8
        300 1.1 buffer_pulled source=3 frame=2 queue_ns=9
        310 1.1 rmw_publish /points 310
        """
    )
    assert frames_of(model) == [("appsink sink0", 0, "/points"), ("appsink sink0", 2, "/points")]
    assert ledger.counts["driver_links_inferred"] == 2
    assert ledger.counts["driver_frames_unpublished"] == 1
    assert losses_of(model) == [(2, "not published", 1, 200, 300)]


def test_a_thread_that_tells_of_frames_is_not_guessed_about() -> None:
    # The hooks see the socket of an instrumented driver a second time.
    model, _ = played(
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


DROPS = """
    100 1.1 packet_received source=1 sequence=0 queue_ns=10 dropped=0
    200 1.1 packet_received source=1 sequence=1 queue_ns=10 dropped=3
    300 1.1 packet_received source=1 sequence=2 queue_ns=10 dropped=5
    310 1.1 frame_boundary source=1 frame=0 packets=2 missing=4 first_sequence=0 last_sequence=2
    320 1.1 cloud_ready source=1 frame=0
    330 1.1 rmw_publish /points 330
    400 1.1 packet_received source=1 sequence=3 queue_ns=10 dropped=5
    500 1.1 packet_received source=1 sequence=4 queue_ns=10 dropped=5
    510 1.1 frame_boundary source=1 frame=1 packets=2 missing=3 first_sequence=2 last_sequence=4
    520 1.1 cloud_ready source=1 frame=1
    530 1.1 rmw_publish /points 530
"""


def test_every_lost_packet_counts_once_by_its_cause() -> None:
    # Five were dropped by the socket: four of frame 0, one of frame 1. Two of frame 1 never came.
    model, ledger = played(DROPS)
    assert ledger.counts["driver_packets_dropped"] == 5
    assert ledger.counts["driver_packets_missing"] == 2
    assert losses_of(model) == [
        (0, "socket buffer full", 5, 90, 290),
        (0, "never came", 2, 290, 490),
    ]
    frames = driver_frames_frame(model)
    assert frames["dropped"].tolist() == [5, 0]
    assert frames["missing"].tolist() == [4, 3]
    sources = driver_sources_table(model, frames)
    assert sources.loc[0, ["dropped", "missing", "unpublished"]].tolist() == [5, 2, 0]
    assert sources.loc[0, ["nodes", "topics"]].tolist() == ["/driver", "/points"]
    assert sources.loc[0, ["reads", "frames", "published", "queue_p50"]].tolist() == [5, 2, 2, 10]


def test_what_a_queue_dropped_before_the_trace_does_not_count() -> None:
    model, ledger = played(
        """
        100 5.5 packet_received source=8 sequence=70 dropped=1000
        200 5.5 packet_received source=8 sequence=71 dropped=1002
        """
    )
    assert ledger.counts["driver_packets_dropped"] == 2
    assert losses_of(model) == [(4, "socket buffer full", 2, 100, 200)]


def test_what_an_appsink_dropped_is_of_a_cause_of_its_own() -> None:
    model, ledger = played(
        """
        100 1.1 buffer_pulled source=3 frame=0 dropped=0
        101 1.1 copy_done source=3 frame=0
        102 1.1 rmw_publish /points 102
        200 1.1 buffer_pulled source=3 frame=1 dropped=4 queue_ns=50
        """
    )
    assert ledger.counts["driver_buffers_dropped"] == 4
    assert losses_of(model) == [(2, "appsink full", 4, 100, 200)]


def test_complete_frames_without_a_message_are_counted_but_for_the_last() -> None:
    lines = ""
    for number in range(5):
        at = 100 * (number + 1)
        packets = f"first_sequence={number} last_sequence={number}"
        lines += f"""
        {at} 1.1 packet_received source=2 sequence={number}
        {at + 1} 1.1 frame_boundary source=2 frame={number} packets=1 {packets}
        """
        if number == 1:
            lines += f"{at + 2} 1.1 rmw_publish /imu {at + 2}"
    model, ledger = played(lines)
    assert ledger.counts["driver_frames_unpublished"] == 3
    assert losses_of(model) == [
        (1, "not published", 1, 101, 201),
        (1, "not published", 2, 301, 501),
    ]


CONTRADICTIONS = {
    "a source that is made twice": ("50 1.1 source_init source=1", "source_init"),
    "a frame that ends twice": (
        "315 1.1 frame_boundary source=1 frame=0 packets=2 last_sequence=2",
        "frame_boundary",
    ),
    "a frame of packets that never came": (
        "400 1.1 frame_boundary source=1 frame=1 packets=2 first_sequence=8 last_sequence=9",
        "frame_boundary",
    ),
    "a frame that is ready and never was complete": (
        "400 1.1 cloud_ready source=1 frame=7",
        "cloud_ready",
    ),
    "packets between frames": (
        """
        400 1.1 packet_received source=1 sequence=3
        410 1.1 packet_received source=1 sequence=4
        420 1.1 frame_boundary source=1 frame=1 packets=1 first_sequence=4 last_sequence=4
        """,
        "packet_received",
    ),
}


@pytest.mark.parametrize(("more", "event"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_what_contradicts_the_rest_is_unexplained(more: str, event: str) -> None:
    made = scene()
    made.play(CLOUD.replace("/scan", "/points") + more)
    model, _ = made.model()
    assert unexplained(model) == [f"driver:{event}"]


def test_what_lacks_its_beginning_is_explained_by_a_late_trace() -> None:
    made = Scene()
    made.play(
        """
        100 1.1 packet_received source=1 sequence=50
        110 1.1 frame_boundary source=1 frame=8 packets=2 first_sequence=20 last_sequence=49
        120 1.1 cloud_ready source=1 frame=8
        130 1.1 rmw_publish unknown 130
        140 1.1 packet_received source=1 sequence=51
        """
    )
    model, _ = made.model()
    assert not unexplained(model)
    assert model.driver.frames.last.tolist() == [-1]
