# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Coroutine callbacks of rclpy: pieces of one execution, and what runs between them."""

from __future__ import annotations

import numpy as np
from kernel_scene import kernel_tables
from scene import BASE, Scene

from strata.layers.blockers import find_blockers
from strata.layers.links import link_messages
from strata.layers.scheduling import layer_times
from strata.layers.stretches import LAYERS
from strata.layers.transfers import Transfers, cut_layers
from strata.model.build import Model
from strata.model.event_uses import UNEXPLAINED
from strata.model.of_tables import model_of_tables
from strata.schema.layers import CALLBACK, HOLD, HOP_LAYERS
from strata.schema.quality import Findings
from strata.schema.rclpy_events import RCLPY_IDS

OF_RCLPY = RCLPY_IDS.start


def scene() -> Scene:
    """/in goes to /relay, whose coroutine publishes /out; /other to the same node."""
    made = Scene(handle=OF_RCLPY)
    made.publisher("/in", node="/source", pid=1)
    made.publisher("/other", node="/source", pid=1)
    made.publisher("/out", node="/relay", pid=2)
    made.subscription("/in", node="/relay", pid=2, symbol="on_in")
    made.subscription("/other", node="/relay", pid=2, symbol="on_other")
    made.subscription("/out", node="/sink", pid=3, symbol="on_out")
    return made


SUSPENDED = """
    100 1.1 rmw_publish /in 100
    110 2.2 rmw_take on_in 100
    120 2.2 callback_start on_in
    130 2.2 callback_suspend on_in 1
    131 2.2 callback_end on_in
    135 1.1 rmw_publish /other 135
    140 2.2 rmw_take on_other 135
    145 2.2 callback_start on_other
    155 2.2 callback_end on_other
    200 2.{thread} callback_resume on_in 1
    201 2.{thread} callback_start on_in
    206 2.{thread} rmw_publish /out 206
    216 2.{thread} callback_suspend on_in 1
    217 2.{thread} callback_end on_in
    300 2.2 callback_resume on_in 1
    301 2.2 callback_start on_in
    308 2.2 callback_end on_in
    310 3.3 rmw_take on_out 206
    311 3.3 callback_start on_out
    312 3.3 callback_end on_out
"""


def cut(made: Scene) -> tuple[Model, Transfers, Findings]:
    model = made.model()
    transfers, findings = cut_layers(model)
    return model, transfers, model.findings + findings


def test_pieces_are_one_execution_on_any_thread() -> None:
    for thread in (2, 7):
        made = scene()
        made.play(SUSPENDED.format(thread=thread))
        model, transfers, findings = cut(made)
        ran = model.executions
        order = np.argsort(ran.start_ns)
        assert ran.resumed[order].tolist() == [False, False, True, True, False]
        first, _, second, third, _ = order.tolist()
        assert ran.first[[first, second, third]].tolist() == [first] * 3
        assert (ran.finished_ns[first] - BASE, ran.suspended_ns[first]) == (308, 70 + 84)
        # The message's callback: 11 and 16 and 7 ran, between its start and end 154 suspended.
        (row,) = np.flatnonzero(transfers.publish_ns == 100 + BASE)
        durations = {name: int(column[row]) for name, column in transfers.durations.items()}
        assert (durations["callback_ns"], durations["suspended_ns"]) == (34, 154)
        assert transfers.latency_ns[row] == 208
        assert "unseen_takes" not in findings.counts
        assert not any(use.text == UNEXPLAINED for use in model.facts.event_uses())


def test_layers_add_up_with_suspensions() -> None:
    made = scene()
    made.play(SUSPENDED.format(thread=2))
    _, transfers, _ = cut(made)
    columns = np.stack(
        [
            transfers.durations[layer.column]
            for layer in HOP_LAYERS
            if layer.column in transfers.durations
        ]
    )
    assert (np.where(columns > 0, columns, 0).sum(axis=0) == transfers.latency_ns).all()


def test_a_publish_after_an_await_is_linked_to_the_message_of_its_execution() -> None:
    made = scene()
    made.play(SUSPENDED.format(thread=2))
    model, transfers, _ = cut(made)
    links = link_messages(model, transfers, ())
    published = transfers.publish_ns - BASE
    pairs = [
        (int(published[a]), int(published[b]))
        for a, b in zip(links.parent, links.child, strict=True)
    ]
    assert pairs == [(100, 206)]
    assert (links.hold_ns.tolist(), links.suspended_ns.tolist()) == ([16], [70])


def test_the_scheduler_says_nothing_of_what_was_run_in_pieces() -> None:
    made = scene()
    made.play(SUSPENDED.format(thread=7))
    kernel = kernel_tables("50 cpu0 9 S 2\n400 cpu0 2 S 9")
    model = model_of_tables(made.tables() | kernel)
    transfers, _ = cut_layers(model)
    times, _ = layer_times(model, transfers, link_messages(model, transfers, ()))
    (row,) = np.flatnonzero(transfers.publish_ns == 100 + BASE)
    (out,) = np.flatnonzero(transfers.publish_ns == 206 + BASE)
    names = [LAYERS[number].name for number in times.layer]
    told = set(zip(times.message.tolist(), names, strict=True))
    assert (row, CALLBACK.name) not in told
    assert (out, HOLD.name) not in told
    assert (row, "client take") in told


def test_two_executions_of_one_callback_are_told_apart() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rmw_publish /in 100
        101 1.1 rmw_publish /in 101
        110 2.2 rmw_take on_in 100
        120 2.2 callback_start on_in
        130 2.2 callback_suspend on_in 1
        131 2.2 callback_end on_in
        140 2.2 rmw_take on_in 101
        150 2.2 callback_start on_in
        160 2.2 callback_suspend on_in 2
        161 2.2 callback_end on_in
        200 2.2 callback_resume on_in 2
        201 2.2 callback_start on_in
        205 2.2 callback_end on_in
        210 2.2 callback_resume on_in 1
        211 2.2 callback_start on_in
        218 2.2 callback_end on_in
        """
    )
    _, transfers, _ = cut(made)
    assert (transfers.callback_end_ns - BASE).tolist() == [218, 205]
    assert transfers.durations["suspended_ns"].tolist() == [80, 40]
    assert transfers.durations["callback_ns"].tolist() == [18, 15]


def test_what_is_never_resumed_has_no_end() -> None:
    made = scene()
    made.play("\n".join(SUSPENDED.format(thread=2).strip().splitlines()[:9]))
    _, transfers, findings = cut(made)
    assert transfers.callback_end_ns.tolist() == [-1, 155 + BASE]
    assert findings.counts["callbacks_left_suspended"] == 1


def test_over_lost_events_an_execution_has_no_end() -> None:
    made = scene()
    made.play(SUSPENDED.format(thread=2))
    lost = np.asarray([180], np.int64) + BASE
    model = made.model((lost, lost))
    transfers, _ = cut_layers(model)
    (row,) = np.flatnonzero(transfers.publish_ns == 100 + BASE)
    assert transfers.callback_end_ns[row] == -1


def test_without_the_events_of_suspensions_no_message_is_called_lost() -> None:
    # Recorded with ros2:* alone: the second piece starts without a take.
    made = scene()
    lines = SUSPENDED.format(thread=2).strip().splitlines()
    made.play("\n".join(line for line in lines if "suspend" not in line and "resume" not in line))
    _, _, findings = cut(made)
    assert "unseen_takes" not in findings.counts


WAITING = """
    100 1.1 rmw_publish /in 100
    105 2.2 ready
    106 2.2 execute on_in
    110 2.2 rmw_take on_in 100
    120 2.2 callback_start on_in
    130 2.2 callback_suspend on_in 1
    131 2.2 callback_end on_in
    132 2.2 wait
    150 1.1 rmw_publish /other 150
"""
"""A callback is suspended, and a message comes for another one of its node."""


def test_a_message_waits_behind_a_suspended_callback_of_its_group() -> None:
    # The group is free when the coroutine ends, at 328.
    made = scene()
    made.play(
        WAITING
        + """
        318 2.2 ready
        320 2.2 callback_resume on_in 1
        321 2.2 callback_start on_in
        328 2.2 callback_end on_in
        329 2.2 wait
        400 2.2 ready
        401 2.2 execute on_other
        410 2.2 rmw_take on_other 150
        415 2.2 callback_start on_other
        425 2.2 callback_end on_other
        """
    )
    model, transfers, _ = cut(made)
    blockers = find_blockers(model, transfers)
    (row,) = np.flatnonzero(transfers.publish_ns == 150 + BASE)
    own = blockers.message == row
    symbols = model.entities.callbacks.symbol[blockers.callback[own]].tolist()
    assert (symbols, blockers.duration_ns[own].tolist()) == (["on_in"], [328 - 150])
    assert transfers.durations["middleware_ns"][row] == 400 - 329
    assert transfers.durations["executor_wait_ns"][row] == 329 - 150 + 401 - 400


def test_a_callback_that_began_meanwhile_is_not_of_its_group() -> None:
    made = scene()
    made.play(
        WAITING
        + """
        160 2.2 ready
        161 2.2 execute on_other
        170 2.2 rmw_take on_other 150
        175 2.2 callback_start on_other
        185 2.2 callback_end on_other
        190 2.2 callback_resume on_in 1
        191 2.2 callback_start on_in
        199 2.2 callback_end on_in
        """
    )
    _, transfers, _ = cut(made)
    (row,) = np.flatnonzero(transfers.publish_ns == 150 + BASE)
    assert transfers.durations["executor_wait_ns"][row] == 161 - 160
    assert transfers.durations["middleware_ns"][row] == 160 - 150
