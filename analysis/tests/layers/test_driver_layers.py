# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers before a publish, and chains that begin with sensor data, on small scenes."""

from __future__ import annotations

import pandas as pd
import pytest
from kernel_scene import kernel_tables
from message_results import MessageResults, message_results
from scene import BASE, Scene

from strata.model.of_tables import model_of_tables
from strata.pipeline.messages import Wanted
from strata.schema.layers import HOP_LAYERS
from strata.schema.links import MessageLink

DRIVER = """
    50  1.1 packet_received source=1 sequence=0 queue_ns=5
    100 1.1 packet_received source=1 sequence=1 queue_ns=40
    110 1.1 frame_boundary source=1 frame=0 packets=2 last_sequence=1
    130 1.1 cloud_ready source=1 frame=0
"""
SENT = """
    150 1.1 rcl_publish /points
    160 1.1 rmw_publish /points 160
    170 2.2 ready
    180 2.2 execute on_points
    190 2.2 rmw_take on_points 160
    200 2.2 callback_start on_points
    220 2.2 rcl_publish /objects
    221 2.2 rmw_publish /objects 221
    230 2.2 callback_end on_points
    240 3.3 rmw_take on_objects 221
    250 3.3 callback_start on_objects
    260 3.3 callback_end on_objects
"""


def scene() -> Scene:
    made = Scene()
    made.publisher("/points", node="/driver", pid=1)
    made.subscription("/points", node="/detector", pid=2, symbol="on_points")
    made.publisher("/objects", node="/detector", pid=2)
    made.subscription("/objects", node="/planner", pid=3, symbol="on_objects")
    made.source(1, pid=1, kind="udp", name="lidar", address="0.0.0.0:7502")
    made.source(2, pid=2, kind="appsink", name="camera", address="sink0")
    return made


def results(lines: str, *links: MessageLink) -> MessageResults:
    made = scene()
    made.play(lines)
    model = made.model()
    found = message_results(model, Wanted(links))
    check_sums(found)
    return found


def check_sums(found: MessageResults) -> None:
    """All sums are exact: of messages, and of the instances of chains."""
    messages = found.tables["messages"]
    layers = messages[[layer.column for layer in HOP_LAYERS]].astype("Int64").fillna(0)
    assert (layers.sum(axis=1) == messages["latency_ns"]).all()
    instances = found.tables["chain_instances"]
    segments = found.tables["chain_segments"]
    spent = segments.groupby("chain_instance_id")["duration_ns"].sum()
    assert (spent == instances.set_index("chain_instance_id")["latency_ns"]).all()


def layers_of(message: pd.Series) -> dict[str, int]:
    return {
        layer.name: int(message[layer.column])
        for layer in HOP_LAYERS
        if not pd.isna(message[layer.column])
    }


def test_a_latency_begins_when_the_last_data_arrived() -> None:
    message = results(DRIVER + SENT).tables["messages"].iloc[0]
    assert message["begin_ns"] == message["arrival_ns"] == BASE + 60
    assert message["read_ns"] == BASE + 100
    assert message["publish_ns"] == BASE + 150
    assert message["latency_ns"] == 170
    assert message["sweep_ns"] == 15
    assert message["conversion_ns"] == 20
    assert message["driver_source"] == "UDP port 7502"
    assert message["driver_method"] == "frame"
    found = layers_of(message)
    assert found["driver queue"] == 40
    assert found["driver"] == 50
    assert found["client publish"] == 10


def test_without_the_time_in_the_queue_a_latency_begins_with_the_read() -> None:
    lines = DRIVER.replace(" queue_ns=40", "")
    message = results(lines + SENT).tables["messages"].iloc[0]
    assert message["begin_ns"] == BASE + 100
    assert pd.isna(message["arrival_ns"])
    assert pd.isna(message["sweep_ns"])
    found = layers_of(message)
    assert "driver queue" not in found
    assert found["driver"] == 50


def test_a_chain_begins_with_the_sensor_and_says_so() -> None:
    found = results(DRIVER.replace("queue_ns=40", "queue_ns=5000") + SENT)
    (chain,) = found.tables["chains"].to_dict("records")
    assert chain["name"] == "/points -> /objects"
    segments = found.tables["chain_layers"].set_index(["hop", "layer"])["where"]
    assert segments[0, "driver queue"] == "UDP port 7502 (/driver)"
    assert segments[0, "driver"] == "/driver"
    assert (1, "driver") not in segments.index
    (bottleneck,) = found.bottlenecks
    assert bottleneck.layer == "driver queue"
    assert bottleneck.text.startswith(
        "Nothing stands out: the largest part is driver queue of UDP port 7502 (/driver), "
        "5.00 us of the typical 5.16 us (97%)"
    )


INNER = """
    205 2.2 buffer_pulled source=2 frame=0 queue_ns=1000
    210 2.2 copy_done source=2 frame=0
"""


@pytest.mark.parametrize(
    ("known", "not_known"),
    [
        ("on_points", "on_points"),
        ("190 2.2 rmw_take on_points 160", ""),
        ("callback_start on_points", "callback_start unknown"),
    ],
    ids=["whole", "without its take", "of a callback that is not known"],
)
def test_what_another_message_caused_began_with_that_message(known: str, not_known: str) -> None:
    # The detector pulls an image for each cloud that it gets.
    found = results((DRIVER + SENT + INNER).replace(known, not_known))
    second = found.tables["messages"].iloc[-1]
    assert second["frame_id"] == 1
    assert second["begin_ns"] == second["publish_ns"]
    assert not {"driver", "driver queue"} & layers_of(second).keys()
    assert len(found.tables["chain_instances"]) == 1


STORED = """
    150 1.1 rcl_publish /points
    160 1.1 rmw_publish /points 160
    190 2.2 rmw_take on_points 160
    200 2.2 callback_start on_points
    210 2.2 callback_end on_points
    250 2.4 buffer_pulled source=2 frame=0 queue_ns=100
    260 2.4 copy_done source=2 frame=0
    300 2.4 rcl_publish /objects
    310 2.4 rmw_publish /objects 310
    340 3.3 rmw_take on_objects 310
    350 3.3 callback_start on_objects
    360 3.3 callback_end on_objects
"""


def test_only_the_first_hop_of_a_chain_has_driver_layers() -> None:
    # The detector's camera thread publishes from the newest cloud that it has stored.
    fusion = MessageLink("/detector", ("/points",), ("/objects",), "periodic_async")
    found = results(DRIVER + STORED, fusion)
    of_objects = found.tables["messages"].iloc[1]
    assert layers_of(of_objects)["driver queue"] == 100
    (chain,) = found.tables["chains"].to_dict("records")
    assert chain["name"] == "/points -> /objects"
    hops = found.tables["chain_layers"].groupby("layer")["hop"].unique()
    assert hops["driver queue"].tolist() == [0]
    assert hops["driver"].tolist() == [0]
    (instance,) = found.tables["chain_instances"].to_dict("records")
    assert instance["latency_ns"] == 300


def test_a_frame_whose_data_were_not_seen_to_be_read_has_no_driver_layers() -> None:
    made = scene()
    made.play(DRIVER.replace("last_sequence=1", "last_sequence=9") + SENT)
    model = made.model()
    found = message_results(model, Wanted())
    messages = found.tables["messages"]
    assert messages["begin_ns"].tolist() == messages["publish_ns"].tolist()
    assert found.findings.counts["driver_frames_unread"] == 1


def test_a_clock_that_was_set_back_makes_no_negative_time_in_a_queue() -> None:
    message = results(DRIVER.replace("queue_ns=40", "queue_ns=-500") + SENT).tables["messages"]
    assert message["arrival_ns"].isna().all()


@pytest.mark.parametrize("event", ["rclcpp_intra_publish", "rcl_publish"])
def test_the_driver_ends_where_publish_is_called(event: str) -> None:
    lines = (DRIVER + SENT).replace("rcl_publish /points", f"{event} /points")
    message = results(lines).tables["messages"].iloc[0]
    assert message["driver_ns"] == message["publish_ns"] - message["read_ns"]


@pytest.mark.parametrize("thread", [1, 4])
def test_what_the_thread_did_in_the_driver_is_told_when_it_reads_and_publishes(thread: int) -> None:
    made = scene()
    reads = DRIVER.replace("1.1", f"1.{thread}").replace(f"130 1.{thread} cloud", "130 1.1 cloud")
    made.play(reads + SENT)
    tables = made.tables() | kernel_tables(
        """
        20  cpu0 0 S 1
        120 cpu0 1 R 9
        135 cpu0 9 R 1
        190 cpu0 1 S 0
        """
    )
    found = message_results(model_of_tables(tables), Wanted())
    rows = found.tables["layer_scheduling"]
    times = rows[rows["layer"] == "driver"][["running_ns", "preempted_ns", "blocked_ns"]]
    assert times.to_numpy().tolist() == ([[35, 15, 0]] if thread == 1 else [])
    blame = found.tables["blame"]
    preempted = blame.loc[blame["where"] == "preempted by t9 (9) in /driver", "typical_ns"]
    assert preempted.tolist() == ([15] if thread == 1 else [])
