# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Intra-process messages: ring buffers, copies through the middleware, losses."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from intra_scene import IntraScene
from scene import BASE

from strata.layers.transfers import cut_layers
from strata.model.build import Model


def scene(capacity: int = 10, subscriptions: int = 1) -> IntraScene:
    made = IntraScene()
    made.publisher("/t", node="/source", pid=1)
    for number in range(subscriptions):
        made.ring("/t", node=f"/sink_{number}", pid=1, symbol=f"on_{number}", capacity=capacity)
    return made


def pairs(model: Model) -> list[tuple[int, int]]:
    """Each match as the times of publish and of take."""
    published = model.publications.handed_ns[model.matches.publication] - BASE
    taken = model.takes.taken_ns[model.matches.take] - BASE
    return sorted(zip(published.tolist(), taken.tolist(), strict=True))


def test_a_dequeue_takes_what_was_stored_in_its_slot() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rclcpp_intra_publish /t
        101 1.1 enqueue on_0 0 1
        200 1.1 rclcpp_intra_publish /t
        201 1.1 enqueue on_0 1 2
        300 1.2 dequeue on_0 0 1
        301 1.2 callback_start on_0 intra
        302 1.2 callback_end on_0
        303 1.2 dequeue on_0 1 0
        304 1.2 callback_start on_0 intra
        305 1.2 callback_end on_0
        """
    )
    model = made.model()
    assert pairs(model) == [(100, 300), (200, 303)]
    assert model.findings.counts == {}
    starts = model.executions.start_ns[model.takes.execution] - BASE
    assert starts.tolist() == [301, 304]
    transfers, _ = cut_layers(model)
    assert transfers.durations["client_publish_ns"].tolist() == [1, 1]
    # No executor events: from the enqueue to the dequeue is one merged layer.
    assert transfers.durations["wake_up_executor_wait_ns"].tolist() == [199, 102]
    assert transfers.durations["client_take_ns"].tolist() == [1, 1]
    assert transfers.durations["take_ns"].tolist() == [-1, -1]
    assert transfers.latency_ns.tolist() == [202, 105]


def test_every_subscription_gets_its_own() -> None:
    made = scene(subscriptions=2)
    made.play(
        """
        100 1.1 rclcpp_intra_publish /t
        101 1.1 enqueue on_0 0 1
        102 1.1 enqueue on_1 0 1
        200 1.2 dequeue on_1 0 0
        300 1.2 dequeue on_0 0 0
        """
    )
    model = made.model()
    assert pairs(model) == [(100, 200), (100, 300)]
    assert model.findings.counts == {"takes_without_callback": 2}
    assert model.takes.subscription.tolist() == [1, 0]


def test_an_overwritten_message_is_lost_and_counted() -> None:
    made = scene(capacity=1)
    made.play(
        """
        100 1.1 rclcpp_intra_publish /t
        101 1.1 enqueue on_0 0 1
        200 1.1 rclcpp_intra_publish /t
        201 1.1 enqueue on_0 0 2 overwritten
        300 1.2 dequeue on_0 0 0
        """
    )
    model = made.model()
    assert pairs(model) == [(200, 300)]
    assert model.findings.counts["ring_buffer_overwrites"] == 1
    assert model.findings.counts["untaken_publications"] == 1


def test_a_copy_through_the_middleware_is_a_duplicate() -> None:
    made = scene()
    made.subscription("/t", node="/far", pid=2, symbol="on_far")
    made.play(
        """
        100 1.1 rclcpp_intra_publish /t
        101 1.1 enqueue on_0 0 1
        102 1.1 rclcpp_publish
        103 1.1 rcl_publish /t
        104 1.1 rmw_publish /t 104
        200 1.2 rmw_take on_0 104
        210 1.2 dequeue on_0 0 0
        211 1.2 callback_start on_0 intra
        212 1.2 callback_end on_0
        220 2.1 rmw_take on_far 104
        221 2.1 callback_start on_far
        222 2.1 callback_end on_far
        """
    )
    model = made.model()
    assert len(model.publications) == 1
    assert pairs(model) == [(104, 210), (104, 220)]
    assert model.takes.duplicate.tolist() == [True, False, False]
    assert model.findings.counts == {"intra_process_duplicates": 1}
    transfers, _ = cut_layers(model)
    # Both begin with the same call.
    assert (transfers.publish_ns - BASE).tolist() == [100, 100]


IN_PROCESS = """
    100 1.1 rclcpp_intra_publish /t
    101 1.1 enqueue on_0 0 1
    200 1.2 dequeue on_0 0 0
    201 1.2 callback_start on_0 intra
    202 1.2 callback_end on_0
"""


@pytest.mark.parametrize(
    ("publisher", "matched", "missing"),
    [("/t", [(300, 400)], {}), ("no", [], {"graph_publications": 1, "unmatched_takes": 1})],
)
def test_a_sample_of_the_middlewares_own_is_no_message(
    publisher: str, matched: list[tuple[int, int]], missing: dict[str, int]
) -> None:
    made = scene()
    made.reader("R", pid=1)
    made.play(IN_PROCESS)
    # The sample names the publication, the stamps do not: with no client event, and a publisher
    # that no init event made known, it is one of the middleware's own.
    made.play(
        f"""
        300 1.1 rmw_publish {publisher} 300
        301 1.1 write_begin
        302 1.1 writer_history_add sample=A5 stamp=300
        303 1.1 write_end
        350 1.9 reader_notify sample=A5 reader=R
        390 1.3 take_begin reader=R
        395 1.3 take_end reader=R sample=A5 stamp=301 taken=1
        400 1.3 rmw_take on_0 301
        """
    )
    model = made.model()
    assert pairs(model) == [(100, 200), *matched]
    of_matching = ("graph_publications", "unmatched_takes")
    counts = model.findings.counts
    assert {code: counts[code] for code in of_matching if code in counts} == missing


def test_a_call_without_a_publication_of_the_application_is_its_own_message() -> None:
    made = scene()
    made.play(IN_PROCESS.replace("/t", "unknown").replace("200", "210"))
    # rcl_publish names the publisher of the call; what the rmw publishes is another message.
    made.play("105 1.1 rcl_publish unknown\n106 1.1 rmw_publish unknown 106")
    for row in made.rows["ros2:rmw_publish"]:
        row["message"] = 77
    model = made.model()
    assert pairs(model) == [(100, 210)]
    assert model.findings.counts["graph_publications"] == 1


def test_a_message_of_another_publisher_is_no_part_of_the_call() -> None:
    made = scene()
    made.publisher("/u", node="/source", pid=1)
    made.play(
        """
        100 1.1 rclcpp_intra_publish /t
        101 1.1 enqueue on_0 0 1
        110 1.1 rclcpp_publish
        111 1.1 rcl_publish /u
        112 1.1 rmw_publish /u 112
        """
    )
    model = made.model()
    assert len(model.publications) == 2
    assert (model.publications.client_ns - BASE).tolist() == [100, 110]


def test_a_publishers_own_buffer_is_no_transfer() -> None:
    made = scene()
    made.own_buffer("kept", pid=1)
    made.play(
        """
        100 1.1 rclcpp_intra_publish /t
        101 1.1 enqueue on_0 0 1
        102 1.1 enqueue kept 0 1
        200 1.2 dequeue on_0 0 0
        """
    )
    model = made.model()
    assert pairs(model) == [(100, 200)]
    assert model.findings.counts["publisher_buffer_enqueues"] == 1


def test_a_trace_that_began_late_is_matched_without_names() -> None:
    made = IntraScene()
    made.play(
        """
        100 1.1 rclcpp_intra_publish unknown
        101 1.1 enqueue unknown 3 1
        200 1.2 dequeue unknown 3 0
        """
    )
    model = made.model()
    assert pairs(model) == [(100, 200)]
    assert model.takes.subscription.tolist() == [-1]


def test_a_stored_message_without_its_publish_is_counted() -> None:
    made = scene()
    made.play(
        """
        101 1.1 enqueue on_0 0 1
        200 1.2 dequeue on_0 0 0
        300 1.2 dequeue on_0 1 0
        """
    )
    model = made.model()
    assert pairs(model) == []
    assert model.findings.counts["enqueues_without_publication"] == 1
    assert model.findings.counts["unmatched_dequeues"] == 1
    assert model.matches.unmatched_take_count == 2


@dataclass
class Buffer:
    """A ring buffer as rclcpp has it, and what went through it."""

    capacity: int
    slots: list[tuple[int, int]] = field(default_factory=list)
    write: int = -1
    lines: list[tuple[int, str]] = field(default_factory=list)
    truth: list[tuple[int, int]] = field(default_factory=list)
    overwritten: int = 0

    def publish(self, now: int) -> None:
        self.write = (self.write + 1) % self.capacity
        full = len(self.slots) == self.capacity
        self.lines.append((now, f"{now} 1.1 rclcpp_intra_publish /t"))
        mark = "overwritten" if full else ""
        size = len(self.slots) + 1
        self.lines.append((now + 1, f"{now + 1} 1.1 enqueue on_0 {self.write} {size} {mark}"))
        if full:
            self.slots.pop(0)
            self.overwritten += 1
        self.slots.append((self.write, now))

    def take(self, now: int) -> None:
        if self.slots:
            slot, published = self.slots.pop(0)
            self.lines.append((now, f"{now} 1.2 dequeue on_0 {slot} {len(self.slots)}"))
            self.truth.append((published, now))


def played(steps: list[bool], capacity: int) -> Buffer:
    buffer = Buffer(capacity)
    for number, publishes in enumerate(steps):
        (buffer.publish if publishes else buffer.take)(100 * (number + 1))
    return buffer


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 4))
def test_whatever_the_order_every_message_is_matched_or_counted(
    steps: list[bool], capacity: int
) -> None:
    buffer = played(steps, capacity)
    made = scene(capacity)
    made.play("\n".join(line for _, line in buffer.lines))
    model = made.model()
    assert pairs(model) == buffer.truth
    assert model.findings.counts.get("ring_buffer_overwrites", 0) == buffer.overwritten
    assert "contradictory_ring_buffers" not in model.findings.counts
    assert model.matches.unmatched_take_count == 0
    left = len(buffer.slots)
    assert model.findings.counts.get("untaken_publications", 0) == buffer.overwritten + left


@given(st.data())
def test_lost_events_never_make_a_wrong_match_that_is_called_exact(data: st.DataObject) -> None:
    steps = data.draw(st.lists(st.booleans(), min_size=1, max_size=40))
    capacity = data.draw(st.integers(1, 3))
    buffer = played(steps, capacity)
    lost = data.draw(st.sets(st.integers(0, max(len(buffer.lines) - 1, 0))))
    made = scene(capacity)
    kept = [line for number, (_, line) in enumerate(buffer.lines) if number not in lost]
    made.play("\n".join(kept))
    times = np.asarray([buffer.lines[n][0] for n in lost if n < len(buffer.lines)], np.int64)
    model = made.model(losses=(times + BASE, times + BASE))
    sure = model.matches.confidence == 0
    published = model.publications.handed_ns[model.matches.publication][sure] - BASE
    taken = model.takes.taken_ns[model.matches.take][sure] - BASE
    assert set(zip(published.tolist(), taken.tolist(), strict=True)) <= set(buffer.truth)
    # Every take that was recorded is in one class.
    recorded = sum("dequeue" in line for line in kept)
    assert len(model.takes) == recorded
    assert len(model.matches.take) + model.matches.unmatched_take_count == recorded


def test_a_dequeue_starts_no_callback_of_another_subscription() -> None:
    made = IntraScene()
    for topic in ("/t", "/u"):
        made.publisher(topic, node="/source", pid=1)
        made.ring(topic, node="/sink", pid=1, symbol=f"on_{topic[1:]}")
    made.play(
        """
        100 1.1 rclcpp_intra_publish /t
        101 1.1 enqueue on_t 0 1
        110 1.2 dequeue on_t 0 0
        130 1.2 callback_start on_u intra     that of /t, and the dequeue of /u, were not recorded
        140 1.2 callback_end on_u
        """
    )
    model = made.model()
    assert model.takes.execution.tolist() == [-1]
    assert model.findings.counts["takes_without_callback"] == 1


LATE = """
    300 1.1 enqueue late 0 1
    301 1.1 enqueue late 1 2
    310 1.2 dequeue late 0 1
    311 1.2 callback_start late intra
    312 1.2 callback_end late
    320 1.1 rclcpp_intra_publish /t
    321 1.1 enqueue late 2 2
    330 1.2 dequeue late 1 1
    331 1.2 dequeue late 2 0
"""


def late(kept: str = "102 1.1 enqueue own 0 1") -> IntraScene:
    """A scene with a subscription that the publishing thread makes at 250."""
    made = scene()
    made.own_buffer("own", pid=1)
    made.play(f"100 1.1 rclcpp_intra_publish /t\n101 1.1 enqueue on_0 0 1\n{kept}")
    begun, made.clock = made.clock, 250
    made.ring("/t", node="/sink_0", pid=1, symbol="late")
    made.clock = begun
    made.play(LATE)
    return made


def test_a_late_subscription_gets_what_its_publisher_kept() -> None:
    model = late().model()
    assert model.findings.counts["replayed_messages"] == 2
    assert "enqueues_without_publication" not in model.findings.counts
    # It was not published then: the publish before belongs to an older buffer.
    assert pairs(model) == [(320, 331)]


def test_without_a_publishers_buffer_there_is_nothing_to_replay() -> None:
    model = late(kept="").model()
    assert model.findings.counts["enqueues_without_publication"] == 2


def test_what_is_stored_after_other_work_is_no_replay() -> None:
    made = late()
    made.play("290 1.1 wait")
    model = made.model()
    assert "replayed_messages" not in model.findings.counts
    assert model.findings.counts["enqueues_without_publication"] == 2


def test_where_events_were_lost_nothing_is_a_replay() -> None:
    window = np.asarray([BASE + 280], np.int64)
    model = late().model((window, window))
    assert "replayed_messages" not in model.findings.counts
    assert model.findings.counts["enqueues_without_publication"] == 2
