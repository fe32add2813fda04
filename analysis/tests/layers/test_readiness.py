# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages from before a reader knew their writer are of the start-up."""

from __future__ import annotations

from dataclasses import replace

from scene import BASE
from test_late_joiners import MS, UDP, made, write

from strata.layers.readiness import find_readiness
from strata.layers.transfers import cut_layers
from strata.model.columns import NONE


def ready(
    told_ns: dict[int, int],
    late_ns: dict[int, int] | None = None,
    dropped_until_ns: int = NONE,
) -> list[bool]:
    """Publish and receive a message each 100 ms; `told_ns` is when the reader was told of each.

    `late_ns` is when those were sent that were not sent as they were written.
    """
    scene = made()
    for number, at_ns in told_ns.items():
        sent = (late_ns or {}).get(number, number * 100 * MS + 50)
        write(scene, number, number * 100, (sent, 1, 7411))
        scene.play(f"""
            {sent + 1000} 2.9 receive sample=A{number} stamp={number} transport={UDP} port=7411
            {at_ns} 2.9 reader_history_add sample=A{number} stamp={number}
            {at_ns + 10} 2.9 reader_notify sample=A{number} reader=R
            {at_ns + 20} 2.2 execute on_t
            {at_ns + 30} 2.2 take_begin reader=R
            {at_ns + 40} 2.2 take_end reader=R sample=A{number} stamp={number} taken=1
            {at_ns + 50} 2.2 rmw_take on_t {number}
            {at_ns + 60} 2.2 callback_start on_t
            {at_ns + 70} 2.2 callback_end on_t
        """)
    model = scene.model()
    model = replace(model, dropped_until_ns=dropped_until_ns)
    transfers, _ = cut_layers(model)
    found = find_readiness(model, transfers)
    return [
        bool(begin >= at) for begin, at in zip(transfers.publish_ns, found.ready_ns, strict=True)
    ]


def test_what_waited_for_the_reader_to_know_the_writer_is_start_up() -> None:
    # Of two messages it is told at once, 226 ms after the first had arrived.
    late = 326 * MS
    assert ready({1: late, 2: late + 1000, 4: 400 * MS + 2000}) == [False, False, True]


def test_a_message_that_waits_later_on_is_none() -> None:
    # It had to wait for a repair: the reader had been told of another one before.
    told = {1: 100 * MS + 2000, 2: 426 * MS, 3: 426 * MS + 1000, 5: 500 * MS + 2000}
    assert ready(told) == [True] * 4


def test_what_came_before_the_first_of_the_history_is_start_up() -> None:
    # The first is of the history. The second was sent as it was written, and waits for the first.
    late = 326 * MS
    told = {1: late + 1000, 2: late + 2000, 4: 400 * MS + 2000}
    assert ready(told, {1: late - 1000}) == [False, False, True]


def test_what_was_first_after_a_part_that_was_dropped_is_no_start_up() -> None:
    late = 326 * MS
    told = {1: late, 2: late + 1000, 4: 400 * MS + 2000}
    assert ready(told, dropped_until_ns=BASE + 99 * MS) == [True] * 3
