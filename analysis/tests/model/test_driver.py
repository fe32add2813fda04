# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sources and frames, and what was lost, on scenes of a few events."""

from __future__ import annotations

import pytest
from driver_scene import CLOUD, played, scene, unexplained
from scene import BASE, Scene

from strata.layers.driver_frames import driver_frames_rows, driver_losses_rows
from strata.model.build import Model
from strata.stats.drivers import driver_sources_table


def losses_of(model: Model) -> list[tuple[int, str, int, int, int]]:
    frame = driver_losses_rows(model).frame().fillna(BASE - 1)
    frame["begin_ns"] -= BASE
    frame["end_ns"] -= BASE
    return [tuple(row) for row in frame.to_numpy().tolist()]


def test_sources_are_named_by_their_init_events() -> None:
    model = played(CLOUD)
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
    model = made.model()
    assert model.driver.sources.place.tolist()[4] == "appsink other"
    assert model.driver.frames.source.tolist() == [4]


def test_a_source_without_its_init_event_is_known_by_the_others() -> None:
    model = played("100 7.7 packet_received source=9\n101 8.8 buffer_pulled source=9")
    assert model.driver.sources.place.tolist()[4:] == [
        "UDP (unknown socket)",
        "appsink (unnamed)",
    ]
    table = driver_sources_table(model, driver_frames_rows(model)).frame()
    assert table["kind"].isna().tolist() == [False] * 4 + [True] * 2


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
    model = played(DROPS)
    assert model.findings.counts["driver_packets_dropped"] == 5
    assert model.findings.counts["driver_packets_missing"] == 2
    assert losses_of(model) == [
        (0, "socket buffer full", 5, 90, 290),
        (0, "never came", 2, 290, 490),
    ]
    frames = driver_frames_rows(model)
    assert frames["dropped"].tolist() == [5, 0]
    assert frames["missing"].tolist() == [4, 3]
    sources = driver_sources_table(model, frames).frame()
    assert sources.loc[0, ["dropped", "missing", "unpublished"]].tolist() == [5, 2, 0]
    assert sources.loc[0, ["nodes", "topics"]].tolist() == ["/driver", "/points"]
    assert sources.loc[0, ["reads", "frames", "published", "queue_p50_ns"]].tolist() == [
        5,
        2,
        2,
        10,
    ]


def test_what_a_queue_dropped_before_the_trace_does_not_count() -> None:
    model = played(
        """
        100 5.5 packet_received source=8 sequence=70 dropped=1000
        200 5.5 packet_received source=8 sequence=71 dropped=1002
        """
    )
    assert model.findings.counts["driver_packets_dropped"] == 2
    assert losses_of(model) == [(4, "socket buffer full", 2, 100, 200)]


def test_what_an_appsink_dropped_is_of_a_cause_of_its_own() -> None:
    model = played(
        """
        100 1.1 buffer_pulled source=3 frame=0 dropped=0
        101 1.1 copy_done source=3 frame=0
        102 1.1 rmw_publish /points 102
        200 1.1 buffer_pulled source=3 frame=1 dropped=4 queue_ns=50
        """
    )
    assert model.findings.counts["driver_buffers_dropped"] == 4
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
    model = played(lines)
    assert model.findings.counts["driver_frames_unpublished"] == 3
    assert losses_of(model) == [
        (1, "not published", 1, 101, 201),
        (1, "not published", 2, 301, 501),
    ]


def test_a_source_that_nobody_wanted_lost_nothing() -> None:
    lines = CLOUD
    for number in range(3):
        lines += f"""
        {100 + number} 1.2 packet_received source=2 sequence={number}
        {100 + number} 1.2 frame_boundary source=2 frame={number} packets=1 last_sequence={number}
        """
    model = played(lines)
    assert losses_of(model) == []
    found = {row["code"]: row for row in model.findings.rows() if row["code"].startswith("driver")}
    assert [(row["code"], row["count"], row["severity"]) for row in found.values()] == [
        ("driver_sources_unpublished", 1, "info")
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
    model = made.model()
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
    model = made.model()
    assert not unexplained(model)
    assert model.driver.frames.read_ns.tolist() == [-1]
