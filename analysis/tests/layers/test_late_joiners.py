# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was written before its reader could be sent anything waited in the writer's history."""

from __future__ import annotations

import pytest
from scene import Scene

from strata.layers.transfers import Transfers, cut_layers
from strata.schema.layers import HOP_LAYERS

MS = 1_000_000
SHM, UDP = 16, 1


def made() -> Scene:
    """A writer A of process 1, and a reader R of process 2 that is there before anything."""
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    scene.reader("R", pid=2)
    return scene


def write(scene: Scene, number: int, at: int, *sends: tuple[int, int, int]) -> None:
    """Write sample `number` at `at` ms within 1 ms; sends are (at ns, thread, port)."""
    ns = at * MS
    scene.play(f"""
        {ns} 1.1 rmw_publish /t {number}
        {ns + 10} 1.1 write_begin
        {ns + 20} 1.1 serialize_begin
        {ns + 30} 1.1 serialize_end size=40
        {ns + 40} 1.1 writer_history_add sample=A{number} stamp={number}
        {ns + MS} 1.1 write_end
    """)
    for begin, thread, port in sends:
        scene.play(f"""
            {begin} 1.{thread} send_begin sample=A{number} stamp={number} transport={UDP}
            {begin + 100} 1.{thread} send_end transport={UDP} port={port} result=1
        """)


def read(scene: Scene, number: int, at_ns: int, port: int = 7411, transport: int = UDP) -> None:
    scene.play(f"""
        {at_ns} 2.9 receive sample=A{number} stamp={number} transport={transport} port={port}
        {at_ns + 10} 2.9 reader_history_add sample=A{number} stamp={number}
        {at_ns + 20} 2.9 reader_notify sample=A{number} reader=R
        {at_ns + 30} 2.2 execute on_t
        {at_ns + 40} 2.2 take_begin reader=R
        {at_ns + 50} 2.2 take_end reader=R sample=A{number} stamp={number} taken=1
        {at_ns + 60} 2.2 rmw_take on_t {number}
        {at_ns + 70} 2.2 callback_start on_t
        {at_ns + 80} 2.2 callback_end on_t
    """)


def cut(scene: Scene) -> Transfers:
    transfers, _ = cut_layers(scene.model())
    for row in range(len(transfers)):
        parts = [int(transfers.durations[layer.column][row]) for layer in HOP_LAYERS]
        assert sum(part for part in parts if part != -1) == transfers.latency_ns[row]
    return transfers


def history(transfers: Transfers) -> list[int]:
    return transfers.durations["history_ns"].tolist()


def test_a_reader_that_was_matched_after_the_write_is_a_late_joiner() -> None:
    scene = made()
    late = 593 * MS
    write(scene, 1, 0, (late, 8, 7411))
    read(scene, 1, late + 200)
    found = cut(scene)
    assert history(found) == [late]
    assert found.durations["transport_ns"].tolist() == [200]
    assert found.durations["dds_write_ns"].tolist() == [-1]
    assert found.passage.recovered_fragments.tolist() == [0]


def test_all_that_was_written_before_waited_and_what_comes_after_did_not() -> None:
    scene = made()
    late = 305 * MS
    for number in (1, 2, 3):
        write(scene, number, number * 100, (late + number * 1000, 8, 7411))
        read(scene, number, late + number * 10_000)
    write(scene, 4, 400, (400 * MS + 50, 1, 7411))
    read(scene, 4, 400 * MS + 1000)
    waits = [late + number * 1000 - number * 100 * MS for number in (1, 2, 3)]
    assert history(cut(scene)) == [*waits, -1]


def test_sends_to_a_reader_that_was_matched_before_are_not_its_own() -> None:
    scene = made()
    late = 50 * MS
    write(scene, 1, 0, (50, 1, 7413), (late, 8, 7411))
    read(scene, 1, late + 200)
    assert history(cut(scene)) == [late]


def test_a_lost_first_message_that_is_sent_again_is_no_late_joiner() -> None:
    scene = made()
    write(scene, 1, 0, (50, 1, 7411), (60 * MS, 8, 7411))
    read(scene, 1, 60 * MS + 200)
    found = cut(scene)
    assert history(found) == [-1]
    assert found.passage.recovered_fragments.tolist() == [1]


def test_an_asynchronous_writer_is_none() -> None:
    # Its own thread sends, after the write returned; and each message so.
    scene = made()
    for number, at in ((1, 0), (2, 100), (3, 200)):
        begin = at * MS + MS + 300_000
        write(scene, number, at, (begin, 7, 7411))
        read(scene, number, begin + 200)
    found = cut(scene)
    assert history(found) == [-1, -1, -1]
    assert found.durations["dds_write_ns"].tolist() == [MS + 300_000 - 10] * 3


def test_what_an_asynchronous_writer_had_long_written_is() -> None:
    scene = made()
    late = 350 * MS
    for number, at in ((1, 100), (2, 200)):
        write(scene, number, at, (late + number, 7, 7411))
        read(scene, number, late + number * 1000)
    write(scene, 3, 400, (402 * MS, 7, 7411))
    read(scene, 3, 403 * MS)
    assert history(cut(scene)) == [250 * MS + 1, 150 * MS + 2, -1]


def test_later_messages_of_a_matched_reader_never_waited_in_history() -> None:
    scene = made()
    write(scene, 1, 0, (50, 1, 7411))
    read(scene, 1, 1000)
    # Its sends were refused, or not recorded, until a repair.
    write(scene, 2, 100, (190 * MS, 8, 7411))
    read(scene, 2, 190 * MS + 200)
    assert history(cut(scene)) == [-1, -1]


def test_a_pair_of_which_nothing_is_known_rounds_no_instant() -> None:
    # Nanoseconds since the epoch are not in a float: the one first sent was a late joiner, or not,
    # by how the float of its time was rounded.
    for late in range(593 * MS, 593 * MS + 300, 37):
        scene = made()
        scene.publisher("/u", node="/source", pid=1)
        scene.subscription("/u", node="/sink", pid=2, symbol="on_u")
        write(scene, 1, 0, (late, 8, 7411))
        read(scene, 1, late + 200)
        scene.play(f"{700 * MS} 1.1 rmw_publish /u 7\n{701 * MS} 2.2 rmw_take on_u 7")
        assert history(cut(scene)) == [late, -1]


def over_shm(*sends: tuple[int, int, int], came: int, made: int = -1) -> Transfers:
    """One message over SHM: when it was sent (ns), to which port, to how many readers at once.

    R, whose port is 7411, has it at `came`, and is made known at `made` ns.
    """
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    if made >= 0:
        scene.clock = made - 20
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    scene.reader("R", pid=2)
    write(scene, 1, 0)
    for begin, port, readers in sends:
        scene.play(f"""
            {begin} 1.8 send_begin sample=A1 stamp=1 transport={SHM}
            {begin + 100} 1.8 send_end transport={SHM} port={port} destinations={readers} result=1
        """)
    read(scene, 1, came, transport=SHM)
    return cut(scene)


def test_over_shm_a_reader_is_known_by_its_port() -> None:
    # Another reader had the message at once, a third one 5 ms before this one.
    found = over_shm((50, 7413, 1), (85 * MS, 7415, 1), (90 * MS, 7411, 1), came=90 * MS + 200)
    assert history(found) == [90 * MS]
    assert found.durations["transport_ns"].tolist() == [200]


def test_over_shm_a_send_to_several_may_have_been_to_any() -> None:
    found = over_shm((50, 7413, 2), (90 * MS, 7411, 1), came=90 * MS + 200)
    assert history(found) == [-1]


def test_over_shm_a_lost_message_that_is_sent_again_is_no_late_joiner() -> None:
    found = over_shm((50, 7411, 1), (60 * MS, 7411, 1), came=60 * MS + 200)
    assert history(found) == [-1]


@pytest.mark.parametrize("last", [80, 90])
def test_what_is_sent_to_another_late_joiner_is_not_sent_to_this_one(last: int) -> None:
    # Made at 50 ms; the other is sent it at 60 ms, and this one, or the other way round, later.
    to_other = (60 * MS, 7413, 1)
    found = over_shm(to_other, (last * MS, 7411, 1), came=last * MS + 200, made=50 * MS)
    assert history(found) == [last * MS]
    after = (last * MS + 120, 7413, 1)
    found = over_shm((last * MS, 7411, 1), after, came=last * MS + 200, made=50 * MS)
    assert history(found) == [last * MS]
    assert found.durations["transport_ns"].tolist() == [200]
