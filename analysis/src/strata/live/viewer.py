# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A client of LTTng-live: what lttng-relayd gives to viewers of a session that is being recorded.

    with Viewer.connect("localhost") as viewer:
        (session,) = viewer.sessions()
        streams = viewer.attach(session.id)
        index = viewer.next_index(streams[0].id)
        packet = viewer.packet(streams[0].id, index)

The protocol is that of lttng-relayd's `lttng-viewer-abi.h`, 2.4 to 2.15: each command is answered
at once, in order, and all numbers are big-endian. Packets are those of CTF, as in a trace's files;
an index describes a packet before it is asked for. From 2.15 on, sessions may be of CTF 2.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from types import TracebackType

from strata.errors import LiveError

PORT = 5344
VERSION = (2, 15)
"""The newest protocol that is spoken here; older relay daemons have theirs, down to 2.4."""
_OLDEST_MINOR = 4
_CTF_2_SINCE = 15
_PATIENCE_S = 10.0
_MOST_BYTES = 1 << 30
_FAR = 1 << 62
"""Beyond every time, in cycles of a clock."""

_COMMAND = struct.Struct(">QII")
_CONNECT = struct.Struct(">QIII")
_COUNT = struct.Struct(">I")
_SESSION = struct.Struct(">QIII")
_SESSION_NAMES = struct.Struct("64s255s")
_SESSION_LENGTHS = struct.Struct(">III")
_ATTACH = struct.Struct(">QQI")
_ANSWER = struct.Struct(">II")
_STREAM = struct.Struct(">QQI4096s255s")
_ID = struct.Struct(">Q")
_INDEX = struct.Struct(">QQQQQQQII")
_GET_PACKET = struct.Struct(">QQI")
_PACKET = struct.Struct(">III")
_METADATA = struct.Struct(">QI")


class _Command(IntEnum):
    CONNECT = 1
    LIST_SESSIONS = 2
    ATTACH_SESSION = 3
    GET_NEXT_INDEX = 4
    GET_PACKET = 5
    GET_METADATA = 6
    GET_NEW_STREAMS = 7
    CREATE_SESSION = 8
    DETACH_SESSION = 9


class Seek(IntEnum):
    """Where a session is followed from."""

    BEGINNING = 1
    NOW = 2


class IndexStatus(IntEnum):
    """What a stream has next."""

    OK = 1
    RETRY = 2
    CLOSED = 3
    ERROR = 4
    INACTIVE = 5
    ENDED = 6


class News(IntFlag):
    """What there is besides, before a packet can be read."""

    METADATA = 1
    STREAMS = 2


@dataclass(frozen=True)
class LiveSession:
    """A session of a relay daemon; `live_timer_us` is 0 for one that is not live."""

    id: int
    live_timer_us: int
    clients: int
    streams: int
    host: str
    name: str
    ctf_version: int


@dataclass(frozen=True)
class Stream:
    """A stream of a session: its trace (streams of one have one metadata), and its place there."""

    id: int
    trace: int
    is_metadata: bool
    path: str
    channel: str


@dataclass(frozen=True)
class Index:
    """The next packet of a stream, or why there is none yet.

    Of an OK one: where it is, its size in bytes, its times in cycles of the trace's clock, and how
    many events the stream had discarded by then. Of an INACTIVE one `end` alone is known: no event
    of the stream is older.
    """

    status: IndexStatus
    news: News
    offset: int
    size: int
    begin: int
    end: int
    discarded: int


class Viewer:
    """A connection to a relay daemon. Methods raise LiveError when it does not answer as it should.

    `version` is the protocol that both speak.
    """

    def __init__(self, connection: socket.socket, place: str) -> None:
        self._connection, self._place = connection, place
        self.version = (0, 0)

    @classmethod
    def connect(cls, host: str, port: int = PORT) -> Viewer:
        """Connect to a relay daemon, and agree on a protocol."""
        place = f"{host}:{port}"
        try:
            connection = socket.create_connection((host, port), _PATIENCE_S)
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise LiveError(
                f"Cannot reach lttng-relayd at {place}: {why}. Start it there "
                "(lttng-relayd), or check host and port."
            ) from error
        viewer = cls(connection, place)
        try:
            viewer._agree()
        except BaseException:
            connection.close()
            raise
        return viewer

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection: the relay daemon forgets the viewer."""
        self._connection.close()

    def sessions(self) -> list[LiveSession]:
        """List all sessions that the relay daemon receives."""
        self._ask(_Command.LIST_SESSIONS)
        (count,) = self._receive(_COUNT)
        return [self._session() for _ in range(count)]

    def attach(self, session: int, seek: Seek = Seek.BEGINNING) -> list[Stream]:
        """Follow a session; return its streams. A session has one viewer at a time."""
        self._ask(_Command.CREATE_SESSION)
        (created,) = self._receive(_COUNT)
        if created != 1:
            raise self._refused("a viewer's session was not created")
        self._ask(_Command.ATTACH_SESSION, _ATTACH.pack(session, 0, seek))
        status, count = self._receive(_ANSWER)
        if status != 1:
            raise self._refused(_ATTACH_ERRORS.get(status, f"attaching failed ({status})"))
        return [self._stream() for _ in range(count)]

    def new_streams(self, session: int) -> list[Stream] | None:
        """Return the streams that have come since; null when the session has ended."""
        self._ask(_Command.GET_NEW_STREAMS, _ID.pack(session))
        status, count = self._receive(_ANSWER)
        if status == 4:
            return None
        if status == 3:
            raise self._refused("the new streams were not sent")
        return [self._stream() for _ in range(count)]

    def next_index(self, stream: int) -> Index:
        """Ask what a stream has next."""
        self._ask(_Command.GET_NEXT_INDEX, _ID.pack(stream))
        offset, packet, _, begin, end, discarded, _, status, news = self._receive(_INDEX)
        try:
            known = IndexStatus(status)
        except ValueError:
            raise self._refused(f"an index has the status {status}") from None
        size = packet // 8
        if known is IndexStatus.OK and not (size <= _MOST_BYTES and begin <= end < _FAR):
            raise self._refused(f"an index has {size:,} bytes, from {begin} to {end}")
        return Index(known, News(news & 3), offset, size, begin, min(end, _FAR), discarded)

    def packet(self, stream: int, index: Index) -> bytes | None:
        """Return a packet that an index told of; null when it is to be asked for again, later."""
        self._ask(_Command.GET_PACKET, _GET_PACKET.pack(stream, index.offset, index.size))
        status, length, news = self._receive(_PACKET)
        if status == 1:
            return self._bytes(length)
        # An error with news: metadata or streams are to be asked for first.
        if status == 2 or (status == 3 and News(news & 3)):
            return None
        raise self._refused(f"a packet of {index.size} bytes is not there ({status})")

    def metadata(self, stream: int) -> bytes | None:
        """Return what a stream of metadata has that was not asked for yet; empty for nothing.

        Null when nothing more will come: the relay daemon forgets a stream that has ended, once all
        of it was sent.
        """
        self._ask(_Command.GET_METADATA, _ID.pack(stream))
        length, status = self._receive(_METADATA)
        if status == 1:
            return self._bytes(length)
        return b"" if status == 2 else None

    # --- one command and its answer --------------------------------------------------------------

    def _agree(self) -> None:
        self._ask(_Command.CONNECT, _CONNECT.pack(0, *VERSION, 1))
        _, major, minor, _ = self._receive(_CONNECT)
        if major != VERSION[0] or minor < _OLDEST_MINOR:
            raise self._refused(f"it speaks the protocol {major}.{minor}; 2.4 or newer is needed")
        self.version = (major, min(minor, VERSION[1]))

    def _session(self) -> LiveSession:
        number, timer, clients, streams = self._receive(_SESSION)
        if self.version[1] >= _CTF_2_SINCE:
            host_size, name_size, form = self._receive(_SESSION_LENGTHS)
            host, name = self._bytes(host_size), self._bytes(name_size)
            return LiveSession(
                number, timer, clients, streams, _text(host), _text(name), 2 if form == 1 else 1
            )
        host, name = _SESSION_NAMES.unpack(self._bytes(_SESSION_NAMES.size))
        return LiveSession(number, timer, clients, streams, _text(host), _text(name), 1)

    def _stream(self) -> Stream:
        number, trace, is_metadata, path, channel = _STREAM.unpack(self._bytes(_STREAM.size))
        return Stream(number, trace, is_metadata != 0, _text(path), _text(channel))

    def _ask(self, command: _Command, content: bytes = b"") -> None:
        try:
            self._connection.sendall(_COMMAND.pack(len(content), command, 0) + content)
        except OSError as error:
            raise self._gone(error) from error

    def _receive(self, form: struct.Struct) -> tuple[int, ...]:
        return form.unpack(self._bytes(form.size))

    def _bytes(self, size: int) -> bytes:
        if size > _MOST_BYTES:
            raise self._refused(f"it announces {size:,} bytes at once")
        parts = []
        while size > 0:
            try:
                part = self._connection.recv(min(size, 1 << 20))
            except OSError as error:
                raise self._gone(error) from error
            if not part:
                raise self._gone(None)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _gone(self, error: OSError | None) -> LiveError:
        why = "it closed the connection" if error is None else error.strerror or str(error)
        return LiveError(
            f"Lost lttng-relayd at {self._place}: {why}. What was received until now is kept."
        )

    def _refused(self, why: str) -> LiveError:
        return LiveError(f"Cannot follow what lttng-relayd at {self._place} sends: {why}.")


_ATTACH_ERRORS = {
    2: "another viewer follows the session, and one can at a time. End it first",
    3: "the session has ended",
    4: "the session is not live: create it with `lttng create --live`",
    5: "it cannot go to that time",
    6: "it has no viewer's session",
}


def _text(content: bytes) -> str:
    return content.partition(b"\0")[0].decode(errors="replace")
