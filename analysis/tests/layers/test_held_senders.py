# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A thread that is held up inside its send call is the sender's time, not the way's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scene import Scene

from strata.layers.transfers import Transfers, cut_layers
from strata.schema.layers import HOP_LAYERS

US, MS = 1_000, 1_000_000
SHM, UDP, TCP = 16, 1, 4
CALL = 50 * US
"""What a send call may take; a byte more 1 ns."""


def sent(
    received: int, end: int, *, begin: int = 70 * US, transport: int = SHM, more: str = ""
) -> Transfers:
    """A message whose send call lasts from `begin` to `end`, in ns."""
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    scene.reader("R", pid=2)
    last = max(received, end) + 100
    scene.play(f"""
        0 1.1 rmw_publish /t 100
        10 1.1 write_begin
        20 1.1 serialize_begin
        30 1.1 serialize_end size=40
        40 1.1 writer_history_add sample=A5 stamp=100
        {begin} 1.1 send_begin sample=A5 stamp=100 transport={transport} bytes=100
        {end} 1.1 send_end transport={transport} port=7411 destinations=1 result=1
        {end + 10} 1.1 write_end
        {received} 2.9 receive sample=A5 stamp=100 transport={transport} port=7411
        {received + 10} 2.9 reader_history_add sample=A5 stamp=100
        {received + 20} 2.9 reader_notify sample=A5 reader=R
        1 2.2 wait
        {last} 2.2 ready
        {last + 10} 2.2 execute on_t
        {last + 20} 2.2 take_begin reader=R
        {last + 30} 2.2 take_end reader=R sample=A5 stamp=100 taken=1
        {last + 40} 2.2 rmw_take on_t 100
        {last + 50} 2.2 callback_start on_t
        {last + 60} 2.2 callback_end on_t
        {more}
    """)
    transfers, _ = cut_layers(scene.model())
    layers = [transfers.durations[layer.column] for layer in HOP_LAYERS]
    whole = sum(int(layer[0]) for layer in layers if layer[0] != -1)
    assert whole == transfers.latency_ns[0]
    assert min(int(layer[0]) for layer in layers) >= -1
    return transfers


def layer(transfers: Transfers, name: str) -> int:
    (column,) = (layer.column for layer in HOP_LAYERS if layer.name == name)
    return int(transfers.durations[column][0])


def test_a_starved_sender_is_not_the_transport() -> None:
    # What was seen: send_begin 0.07 ms, receive 274.3 ms, send_end 278.3 ms.
    found = sent(received=274_300 * US, end=278_300 * US)
    usual = CALL + 100
    assert layer(found, "transport") == usual
    assert layer(found, "dds write") == 274_300 * US - usual - 10
    assert found.passage.send_held_ns.tolist() == [(274_300 - 70) * US - usual]


def test_a_stopped_receiver_is_the_transport() -> None:
    found = sent(received=274_300 * US, end=90 * US)
    assert layer(found, "transport") == 274_300 * US - 70 * US
    assert found.passage.send_held_ns.tolist() == [0]


def test_both_have_their_part() -> None:
    # The call is held up for 20 ms, then the reader does not run for 30 ms.
    found = sent(received=50 * MS, end=20 * MS)
    assert layer(found, "transport") == 30 * MS + CALL + 100


def test_a_reader_that_is_faster_than_the_call_returns_changes_nothing() -> None:
    found = sent(received=100 * US, end=110 * US)
    assert layer(found, "transport") == 30 * US
    assert found.passage.send_held_ns.tolist() == [0]


def test_a_full_socket_buffer_is_the_way() -> None:
    # 20 ms until the buffer takes it, and 25 ms on a slow link after that: 60 KB of the sample
    # before had not arrived when the call began, which the kernel may account as the whole buffer.
    before = """
        1 1.1 send_begin sample=A4 stamp=90 transport=1 bytes=60000
        2 1.1 send_end transport=1 port=7411 destinations=1 result=1
        {came} 2.9 receive sample=A4 stamp=90 transport=1 port=7411
    """
    ends = {"received": 45 * MS, "end": 20 * MS, "transport": UDP}
    slow = sent(**ends, more=before.format(came=18 * MS))
    assert layer(slow, "transport") == 45 * MS - 70 * US
    # It had arrived, or was too little to fill a buffer: the sender's thread was held up.
    held = 20 * MS - 70 * US - CALL - 100
    for other in (before.format(came=60 * US), before.format(came=18 * MS).replace("60000", "600")):
        found = sent(**ends, more=other)
        assert layer(found, "transport") == 45 * MS - 70 * US - held


def test_tcp_waits_for_its_reader() -> None:
    found = sent(received=20 * MS, end=20 * MS, transport=TCP)
    assert layer(found, "transport") == 20 * MS - 70 * US


@given(
    st.integers(0, 10 * MS),
    st.integers(1, 10 * MS),
    st.integers(0, 3 * MS),
    st.sampled_from([SHM, UDP]),
)
def test_longer_calls_never_leave_more_to_the_transport(
    took: int, arrives: int, longer: int, transport: int
) -> None:
    begin = 70 * US
    before = sent(begin + arrives, begin + took, transport=transport)
    after = sent(begin + arrives, begin + took + longer, transport=transport)
    assert layer(after, "transport") <= layer(before, "transport")
    # No step: a ns of the call is two of transport at most (those that lie behind it, too).
    assert layer(before, "transport") - layer(after, "transport") <= 2 * longer


def fragmented(
    *calls: tuple[float, float, float], more: str = "", transport: int = SHM
) -> Transfers:
    """A message in fragments: when each was sent, when its call returned, when it came, in ms."""
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    scene.reader("R", pid=2)
    scene.play("0 1.1 rmw_publish /t 100\n 10 1.1 write_begin")
    scene.play("40 1.1 writer_history_add sample=A5 stamp=100")
    for number, (begin, end, came) in enumerate(calls, 1):
        named = f"sample=A5 stamp=100 transport={transport} fragment={number} fragment_count=1"
        scene.play(f"""
            {round(begin * MS)} 1.1 send_begin {named} bytes=0
            {round(end * MS)} 1.1 send_end transport={transport} port=7411 destinations=1 result=1
            {round(came * MS)} 2.9 receive {named.replace("stamp=100 ", "")}
        """)
    ready = round(max(max(end, came) for _, end, came in calls) * MS) + 100
    scene.play(f"""
        {ready} 1.1 write_end
        {ready} 2.9 reader_notify sample=A5 reader=R
        {ready + 10} 2.2 execute on_t
        {ready + 20} 2.2 take_begin reader=R
        {ready + 30} 2.2 take_end reader=R sample=A5 stamp=100 taken=1
        {ready + 40} 2.2 rmw_take on_t 100
        {more}
    """)
    return cut_layers(scene.model())[0]


@pytest.mark.parametrize("fragments", [2, 3])
def test_every_call_of_a_fragmented_sample_counts(fragments: int) -> None:
    calls = [(number * 8.01, number * 8.01 + 8, number * 8.01 + 7) for number in range(fragments)]
    found = fragmented(*[(begin + 1, end + 1, came + 1) for begin, end, came in calls])
    # Of the last call up to the arrival, of those before all.
    held = (fragments - 1) * (8 * MS - CALL) + 7 * MS - CALL
    assert found.passage.send_held_ns.tolist() == [held]
    assert layer(found, "transport") == (fragments - 1) * 8_010 * US + 7 * MS - held


@pytest.mark.parametrize("transport", [SHM, UDP])
def test_a_sender_that_stops_between_two_fragments_is_not_the_transport(transport: int) -> None:
    # What was seen of a sender that was stopped for 40 ms; the reader had the first one meanwhile.
    calls = [(0.046, 0.065, 1.029), (42.588, 42.638, 42.635), (42.673, 42.718, 42.707)]
    found = fragmented(*calls, transport=transport)
    held = 42_588 * US - 65 * US - CALL
    assert found.passage.send_held_ns.tolist() == [held]
    assert layer(found, "transport") == 42_707 * US - 46 * US - held


def test_a_pause_of_the_reader_after_the_last_send_is_the_transport() -> None:
    found = fragmented((0.05, 0.06, 0.1), (0.07, 0.08, 30.0))
    assert found.passage.send_held_ns.tolist() == [0]
    assert layer(found, "transport") == 30_000 * US - 50 * US


def test_a_thread_that_sends_another_sample_meanwhile_is_not_held_up() -> None:
    other = f"""
        {2 * MS} 1.1 send_begin sample=A4 stamp=90 transport=16 bytes=0
        {20 * MS} 1.1 send_end transport=16 port=7411 destinations=1 result=1
    """
    found = fragmented((1, 1.01, 1.1), (21, 21.01, 21.1), more=other)
    assert found.passage.send_held_ns.tolist() == [0]


def test_tcp_may_wait_between_its_calls() -> None:
    found = fragmented((1, 1.01, 1.1), (21, 21.01, 21.1), transport=TCP)
    assert found.passage.send_held_ns.tolist() == [0]


def test_what_is_sent_again_is_awaited_by_the_protocol() -> None:
    again = f"""
        {30 * MS} 1.1 send_begin sample=A5 stamp=100 transport=16 fragment=2 fragment_count=1
        {30 * MS + 10} 1.1 send_end transport=16 port=7411 destinations=1 result=1
    """
    found = fragmented((1, 1.01, 1.1), (1.02, 1.03, 40), more=again)
    assert found.passage.send_held_ns.tolist() == [0]
