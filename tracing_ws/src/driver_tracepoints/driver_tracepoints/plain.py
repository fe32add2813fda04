# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The same functions without the extension: nothing is emitted."""

from __future__ import annotations

import itertools
import socket
import struct
import time
import weakref
from typing import Any

# Linux numbers that Python's socket module does not name.
_SO_TIMESTAMPNS = 35
_SO_RXQ_OVFL = 40
_ROOM = socket.CMSG_SPACE(16) + socket.CMSG_SPACE(4) + 64

_sources = itertools.count(1)
_sequences: weakref.WeakKeyDictionary[socket.socket, itertools.count[int]] = (
    weakref.WeakKeyDictionary()
)


def source_init(_kind: str, _name: str, _address: str) -> int:
    """Return an id that no other source of the process has."""
    return next(_sources)


def packet_received(
    _source: int, _sequence: int, _bytes: int, _queue_ns: int, _dropped: int, /
) -> None:
    """Emit nothing."""


def frame_boundary(
    _source: int, _frame: int, _packets: int, _missing: int, _first: int, _last: int, /
) -> None:
    """Emit nothing."""


def buffer_pulled(
    _source: int, _frame: int, _bytes: int, _pts_ns: int, _queue_ns: int, _dropped: int, /
) -> None:
    """Emit nothing."""


def cloud_ready(_source: int, _frame: int, _bytes: int, /) -> None:
    """Emit nothing."""


def copy_done(_source: int, _frame: int, _bytes: int, /) -> None:
    """Emit nothing."""


def prepare(sock: socket.socket, /) -> None:
    """Have the kernel stamp what the socket receives, and count what it drops."""
    sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    sock.setsockopt(socket.SOL_SOCKET, _SO_RXQ_OVFL, 1)


def receive(
    sock: socket.socket, buffer: Any, _source: int, flags: int = 0, /
) -> tuple[int, int, int, int]:
    """Return (bytes, queue_ns, dropped, sequence) of a datagram read into `buffer`."""
    if sock not in _sequences:
        prepare(sock)
        _sequences[sock] = itertools.count()
    size, control, _, _ = sock.recvmsg_into([buffer], _ROOM, flags)
    queue_ns, dropped = -1, 0
    for level, kind, data in control:
        if level != socket.SOL_SOCKET:
            continue
        if kind == _SO_TIMESTAMPNS:
            seconds, nanoseconds = struct.unpack("qq", data[:16])
            lay = time.time_ns() - seconds * 1_000_000_000 - nanoseconds
            queue_ns = max(lay, -1)
        elif kind == _SO_RXQ_OVFL:
            (dropped,) = struct.unpack("I", data[:4])
    sequence = 0 if flags & socket.MSG_PEEK else next(_sequences[sock])
    return size, queue_ns, dropped, sequence
