# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A viewer gets of a real relay daemon what the relay daemon itself keeps."""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lttng_world import World, wait_until
from relay_daemon import TIMER_US, Relay, free_ports, relay_daemon

from strata.errors import LiveError
from strata.live.followed import FollowedSession
from strata.live.viewer import Index, IndexStatus, News, Seek, Stream, Viewer
from strata.read import open_trace

pytestmark = pytest.mark.live
_OPEN = (IndexStatus.RETRY, IndexStatus.INACTIVE)


@pytest.fixture
def relay(world: World, tmp_path: Path) -> Iterator[Relay]:
    with relay_daemon(world, tmp_path / "relay") as running:
        yield running


def follow(viewer: Viewer, session: int, streams: list[Stream]) -> dict[int, bytes]:
    """Take all packets and metadata of a session until it ends; by stream, in their order."""
    content: dict[int, bytes] = {stream.id: b"" for stream in streams}
    closed: set[int] = set()
    deadline = time.monotonic() + 60
    while any(s.id not in closed for s in streams if not s.is_metadata):
        assert time.monotonic() < deadline
        for stream in list(streams):
            if stream.is_metadata:
                content[stream.id] += viewer.metadata(stream.id) or b""
            elif stream.id not in closed:
                news = take_next(viewer, stream.id, content, closed)
                if News.STREAMS in news:
                    more = viewer.new_streams(session) or []
                    streams += more
                    content |= {one.id: b"" for one in more}
        time.sleep(0.02)
    for stream in streams:
        if stream.is_metadata:
            content[stream.id] += viewer.metadata(stream.id) or b""
            assert viewer.metadata(stream.id) is None
    return content


def take_next(viewer: Viewer, stream: int, content: dict[int, bytes], closed: set[int]) -> News:
    index = viewer.next_index(stream)
    if index.status is IndexStatus.CLOSED:
        closed.add(stream)
    elif index.status is IndexStatus.OK:
        packet = packet_of(viewer, stream, index, content)
        assert len(packet) == index.size
        assert index.begin <= index.end
        content[stream] += packet
    else:
        assert index.status in _OPEN
    return index.news


def packet_of(viewer: Viewer, stream: int, index: Index, content: dict[int, bytes]) -> bytes:
    for _ in range(100):
        packet = viewer.packet(stream, index)
        if packet is not None:
            return packet
        time.sleep(0.02)
    raise AssertionError("the packet does not come")


def test_a_viewer_gets_every_byte_of_a_session(relay: Relay, tick: Path) -> None:
    relay.create("mine")
    program = relay.world.popen(tick, "2000", "500")
    with relay.viewer() as viewer:
        assert (2, 4) <= viewer.version <= (2, 15)
        session = wait_until(
            lambda: next((s for s in viewer.sessions() if s.streams), None), "the session"
        )
        assert (session.name.startswith("mine"), session.live_timer_us) == (True, TIMER_US)
        assert session.ctf_version == 1
        streams = viewer.attach(session.id)
        assert len({stream.trace for stream in streams}) == 1
        with relay.viewer() as second, pytest.raises(LiveError, match="another viewer follows"):
            second.attach(session.id)
        program.communicate(timeout=60)
        relay.world.lttng("destroy", "mine")
        content = follow(viewer, session.id, streams)

    kept = {
        file.name: file.read_bytes()
        for file in relay.output.rglob("*")
        if file.is_file() and not file.name.endswith(".idx")
    }
    by_channel = {s.channel: content[s.id] for s in streams}
    assert by_channel.keys() == kept.keys()
    for channel, found in by_channel.items():
        assert found == kept[channel], channel
    assert sum(map(len, kept.values())) > 20_000


def test_it_may_begin_now(relay: Relay, tick: Path) -> None:
    relay.create("mine")
    program = relay.world.popen(tick, "400", "2500")
    with relay.viewer() as viewer:
        wait_until(lambda: any(s.streams for s in viewer.sessions()), "the streams")
        time.sleep(0.5)
        (session,) = viewer.sessions()
        streams = viewer.attach(session.id, Seek.NOW)
        program.communicate(timeout=60)
        relay.world.lttng("destroy", "mine")
        content = follow(viewer, session.id, streams)
    sizes = {file.name: file.stat().st_size for file in relay.output.rglob("*") if file.is_file()}
    data = [stream for stream in streams if not stream.is_metadata]
    found = sum(len(content[stream.id]) for stream in data)
    assert 0 < found < sum(sizes[stream.channel] for stream in data)


def test_windows_of_a_followed_session_hold_every_event_once(
    relay: Relay, tick: Path, tmp_path: Path
) -> None:
    relay.create("mine")
    programs = [relay.world.popen(tick, "2000", "500") for _ in range(2)]
    found: Counter[tuple[int, int]] = Counter()
    windows = 0
    with relay.viewer() as viewer:
        wait_until(lambda: any(s.streams for s in viewer.sessions()), "the streams")
        (session,) = viewer.sessions()
        followed = FollowedSession(viewer, session.id, Seek.BEGINNING)
        since = 0
        ending = False
        deadline = time.monotonic() + 60
        while not followed.ended:
            assert time.monotonic() < deadline
            if not ending and all(program.poll() is not None for program in programs):
                relay.world.lttng("destroy", "mine")
                ending = True
            followed.poll()
            until = followed.horizon
            if until is not None and until > since:
                window = tmp_path / f"window-{windows}"
                if followed.write(window, since, until):
                    found += events_of(window, since, until)
                    windows += 1
                assert until >= since
                since = until + 1
                followed.forget(since)
            time.sleep(0.1)
    for program in programs:
        program.communicate()
    assert found == Counter({(program.pid, i): 1 for program in programs for i in range(2000)})
    assert windows >= 3
    assert followed.discarded == 0
    # What is behind is dropped.
    assert sum(len(one.packets) for one in followed.streams.values()) <= 2 * len(followed.streams)


def events_of(window: Path, since: int, until: int) -> Counter[tuple[int, int]]:
    trace = open_trace(window)
    (offset,) = set(trace.clock_offsets_ns.values())
    table = trace.tables(["ros2:tick"], begin_ns=since + offset, end_ns=until + 1 + offset)
    rows = table["ros2:tick"].to_pylist() if table else []
    return Counter((row["vpid"], row["number"]) for row in rows)


def test_what_cannot_be_followed_is_said(relay: Relay) -> None:
    (nobody,) = free_ports(1)
    with pytest.raises(LiveError, match=r"Cannot reach lttng-relayd at 127\.0\.0\.1:\d+: "):
        Viewer.connect("127.0.0.1", nobody)
    with relay.viewer() as viewer, pytest.raises(LiveError, match="the session has ended"):
        viewer.attach(12345)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"", "it closed the connection"),
        (b"\0" * 8 + b"\0\0\0\x03" + b"\0" * 8, "it speaks the protocol 3.0"),
        (b"\0" * 8 + b"\0\0\0\x02\0\0\0\x03" + b"\0" * 4, "it speaks the protocol 2.3"),
    ],
)
def test_another_answer_is_refused(answer: bytes, said: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def connect() -> None:
            with pytest.raises(LiveError, match=said):
                Viewer.connect("127.0.0.1", port)

        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(connect)
            peer, _ = server.accept()
            with peer:
                peer.recv(64)
                peer.sendall(answer)
            done.result(30)
