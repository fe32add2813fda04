# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A UDP socket with a large buffer, that knows how many datagrams the kernel dropped."""

from __future__ import annotations

import contextlib
import select
import socket
import struct

import driver_tracepoints

_SO_RCVBUFFORCE = 33
_SO_MEMINFO = 55
_MEMINFO = struct.Struct("@9I")  # its last: SK_MEMINFO_DROPS
_TIME = struct.Struct("@qq")


class UdpSource:
    """A bound socket. It counts what it read; `dropped` is the kernel's count, for a full buffer.

    The kernel tells it with a datagram, as it was when that one was queued. What came after the
    last one that was read, and lies in the socket or was dropped, is what `unread` counts.

    `granted` is the size of the socket's buffer in the kernel's own accounting, which charges each
    datagram with its overhead: 12608 bytes with about 17 KB.
    """

    def __init__(self, name: str, port: int, buffer_bytes: int) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        driver_tracepoints.prepare(self._socket)
        try:
            self._socket.bind(("0.0.0.0", port))
        except OSError:
            self._socket.close()
            raise
        self.port: int = self._socket.getsockname()[1]
        self.granted = self._ask_for_buffer(buffer_bytes)
        self.received = self.dropped = 0
        self.sequence = -1
        self.source = driver_tracepoints.source_init("udp", name, f"0.0.0.0:{self.port}")

    def _ask_for_buffer(self, size: int) -> int:
        # The kernel doubles what it is asked for, and reports the double.
        if size:
            try:
                self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, size // 2)
            except PermissionError:
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size // 2)
        return self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)

    def wait_at_most(self, seconds: float) -> None:
        """Have `receive` return null when nothing came for so long."""
        micros = round(seconds * 1e6)
        self._socket.setblocking(True)
        self._socket.setsockopt(
            socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIME.pack(*divmod(micros, 1_000_000))
        )

    def fileno(self) -> int:
        """Give the descriptor, for select()."""
        return self._socket.fileno()

    def receive(self, into: memoryview) -> int | None:
        """Read one datagram; return its length, null when none came in time.

        `sequence` is its number from then on, counted from 0.
        """
        try:
            size, _, dropped, self.sequence = driver_tracepoints.receive(
                self._socket, into, self.source
            )
        except BlockingIOError:
            return None
        self.dropped = dropped or self.dropped
        self.received += 1
        return size

    def unread(self) -> int:
        """Count what came and is not read: empties the socket, which is read no more."""
        left, nothing = 0, bytearray(1)
        with contextlib.suppress(BlockingIOError):
            while True:
                self._socket.recv_into(nothing, 1, socket.MSG_DONTWAIT)
                left += 1
        told = self._socket.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size)
        return left + _MEMINFO.unpack(told)[-1] - self.dropped

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def first_readable(sources: list[UdpSource], seconds: float) -> UdpSource | None:
    """Give the first of the sources that has a datagram; null when none has in time."""
    ready, _, _ = select.select(sources, [], [], seconds)
    return next((source for source in sources if source in ready), None)
