# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A reader's process that did not run while a message lay in shared memory for it."""

from __future__ import annotations

from scene import Scene

from strata.layers.silent_readers import reader_silence
from strata.layers.transfers import cut_layers

US, MS = 1_000, 1_000_000
SHM, UDP = 16, 1


def silence(*arrivals: tuple[float, float], more: str = "", transport: int = SHM) -> list[int]:
    """For how long the reader was silent for each message: sent and received at these ms."""
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    scene.timer(node="/sink", pid=2, symbol="on_timer")
    scene.reader("R", pid=2)
    scene.play(f"{-1 * MS} 2.2 wait")
    for number, (sent, received) in enumerate(arrivals, 1):
        ns, came = round(sent * MS), round(received * MS)
        scene.play(f"""
            {ns} 1.1 rmw_publish /t {number}
            {ns + 1} 1.1 writer_history_add sample=A{number} stamp={number}
            {ns + 2} 1.1 send_begin sample=A{number} stamp={number} transport={transport}
            {ns + 3} 1.1 send_end transport={transport} port=7411 destinations=1 result=1
            {came} 2.9 receive sample=A{number} stamp={number} transport={transport}
            {came + 10} 2.9 reader_notify sample=A{number} reader=R
            {came + 20} 2.2 execute on_t
            {came + 30} 2.2 take_begin reader=R
            {came + 40} 2.2 take_end reader=R sample=A{number} stamp={number} taken=1
            {came + 50} 2.2 rmw_take on_t {number}
        """)
    scene.play(more)
    model = scene.model()
    return reader_silence(model, cut_layers(model)[0]).tolist()


def test_a_stopped_reader_is_silent_until_it_goes_on() -> None:
    # Stopped from 5 to 45 ms: it takes up one message after the other.
    found = silence((10, 45), (20, 45.3), (30, 45.6))
    assert found == [35 * MS - 2, 25 * MS - 2, 15 * MS - 2]


def test_a_reader_that_receives_is_not_silent() -> None:
    # The middleware's thread receives fragments of the same sample, nobody else does anything.
    fragments = "\n".join(
        f"{round(at * MS)} 2.9 receive sample=A1 stamp=1 transport=16 fragment={number}"
        for number, at in enumerate((10.5, 11.2, 11.9, 12.6), 2)
    )
    assert silence((10, 13), more=fragments) == [0]
    assert silence((10, 13)) == [3 * MS - 2]


def test_a_process_that_runs_a_callback_is_not_silent() -> None:
    ran = f"""
        {5 * MS} 2.3 callback_start on_timer
        {44 * MS} 2.3 callback_end on_timer
    """
    assert silence((10, 45), more=ran) == [1 * MS]
    # One without an end says nothing.
    thrown = ran.splitlines()[1]
    assert silence((10, 45), more=thrown) == [35 * MS - 2]


def test_events_of_another_process_are_not_its_own() -> None:
    assert silence((10, 45), more=f"{20 * MS} 3.3 wait") == [35 * MS - 2]
    assert silence((10, 45), more=f"{20 * MS} 2.3 wait") == [35 * MS - 2]
    # Stretches below 1 ms do not count.
    busy = "\n".join(f"{round(at * MS / 2)} 2.3 wait" for at in range(20, 90))
    assert silence((10, 45), more=busy) == [0]


def test_over_a_socket_nothing_is_claimed() -> None:
    assert silence((10, 45), transport=UDP) == [0]
