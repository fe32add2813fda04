# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A live session as it is received: packets of all its streams, up to an instant known of all.

Packets of different streams come in no order. A packet tells that its stream has nothing older than
its end that is still to come; a stream without events says so now and then by itself (LTTng's live
timer). What all streams have told of is `horizon`: up to there everything was received.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from strata.errors import LiveError
from strata.live.viewer import Index, IndexStatus, News, Seek, Stream, Viewer

_AT_ONCE = 1000
"""Packets of one stream that are taken before the others have their turn again."""
_PATIENCE_S = 10.0
_PAUSE_S = 0.02


@dataclass(frozen=True)
class Packet:
    """A packet of a stream: its content, and its times in cycles of the trace's clock."""

    begin: int
    end: int
    content: bytes


@dataclass
class Received:
    """What was received of a stream of events.

    `until`: everything that ends before it was received; null before anything is known. `discarded`
    counts the events that the stream lost until now.
    """

    stream: Stream
    packets: deque[Packet] = field(default_factory=deque)
    until: int | None = None
    discarded: int = 0
    closed: bool = False


class FollowedSession:
    """Follows one session of a relay daemon. `poll` is to be called a few times a second."""

    def __init__(self, viewer: Viewer, session: int, seek: Seek = Seek.NOW) -> None:
        self._viewer, self._session = viewer, session
        self._metadata: dict[int, Stream] = {}
        self.metadata: dict[int, bytes] = {}
        self.streams: dict[int, Received] = {}
        self.ended = False
        self._add(viewer.attach(session, seek))

    @property
    def horizon(self) -> int | None:
        """Until when all streams were received, in cycles; null while that is not known of one."""
        known = [one.until for one in self.streams.values() if not one.closed]
        if not known:
            ends = [one.until for one in self.streams.values() if one.until is not None]
            return max(ends, default=None)
        if any(until is None for until in known):
            return None
        return min(until for until in known if until is not None)

    @property
    def discarded(self) -> int:
        """How many events were lost to full buffers until now, since the session's start."""
        return sum(one.discarded for one in self.streams.values())

    def poll(self) -> None:
        """Take what there is. Raises LiveError when the relay daemon is lost."""
        self._take_metadata()
        news = News(0)
        for received in list(self.streams.values()):
            for _ in range(_AT_ONCE):
                index = None if received.closed else self._viewer.next_index(received.stream.id)
                if index is None:
                    break
                news |= index.news
                if News.METADATA in index.news:
                    self._take_metadata()
                if not self._take(received, index):
                    break
        if News.STREAMS in news or not self.streams:
            more = self._viewer.new_streams(self._session)
            self._add(more or ())
            self.ended |= more is None and not self._has_open
        self.ended |= bool(self.streams) and not self._has_open and News.STREAMS not in news

    def forget(self, before: int) -> None:
        """Drop the packets that end before an instant, in cycles."""
        for received in self.streams.values():
            while received.packets and received.packets[0].end < before:
                received.packets.popleft()

    def write(self, directory: Path, since: int, until: int) -> bool:
        """Write the packets that have a part of a time as a CTF trace; false when there are none.

        Packets are whole: the trace may begin earlier, and end later. Raises OSError.
        """
        wrote = False
        for trace, metadata in self.metadata.items():
            place = directory / f"trace-{trace}"
            for received in self.streams.values():
                parts = [
                    packet.content
                    for packet in received.packets
                    if packet.end >= since and packet.begin <= until
                ]
                if received.stream.trace != trace or not parts:
                    continue
                place.mkdir(parents=True, exist_ok=True)
                # Not by a name that came over the network.
                (place / f"stream-{received.stream.id}").write_bytes(b"".join(parts))
                wrote = True
            if place.is_dir():
                (place / "metadata").write_bytes(metadata)
        return wrote

    @property
    def _has_open(self) -> bool:
        return any(not one.closed for one in self.streams.values())

    def _add(self, streams: Iterable[Stream]) -> None:
        for stream in streams:
            if stream.id in self.streams or stream.id in self._metadata:
                continue
            if stream.is_metadata:
                self._metadata[stream.id] = stream
                self.metadata.setdefault(stream.trace, b"")
            else:
                self.streams[stream.id] = Received(stream)

    def _take_metadata(self) -> None:
        for stream in list(self._metadata.values()):
            content = self._viewer.metadata(stream.id)
            if content is None:
                del self._metadata[stream.id]
            else:
                self.metadata[stream.trace] += content

    def _take(self, received: Received, index: Index) -> bool:
        """Take what an index tells of; false when the stream has nothing more for now."""
        if index.status is IndexStatus.OK:
            received.packets.append(Packet(index.begin, index.end, self._content(received, index)))
            received.until = index.end
            received.discarded = index.discarded
            return True
        if index.status is IndexStatus.ERROR:
            raise LiveError(
                f"Cannot follow the stream {received.stream.channel}: no index is sent."
            )
        if index.status is IndexStatus.INACTIVE:
            received.until = max(index.end, received.until or 0)
        received.closed = index.status in (IndexStatus.CLOSED, IndexStatus.ENDED)
        return False

    def _content(self, received: Received, index: Index) -> bytes:
        """Take a packet, for which metadata or streams that came meanwhile may be needed first."""
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            content = self._viewer.packet(received.stream.id, index)
            if content is not None:
                return content
            self._take_metadata()
            self._add(self._viewer.new_streams(self._session) or ())
            time.sleep(_PAUSE_S)
        raise LiveError(
            f"Cannot follow the stream {received.stream.channel}: a packet that was announced did "
            f"not come within {_PATIENCE_S:.0f} s."
        )
