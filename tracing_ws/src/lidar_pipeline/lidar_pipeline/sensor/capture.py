# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Captures of UDP datagrams: plain pcap files, not pcapng, written and read.

Source of the format: draft-ietf-opsawg-pcap. Datagrams of 12608 bytes are more than an Ethernet
frame carries; they are written whole, as a loopback device has them. IP fragments of a
capture from a wire are put together again.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_MAGIC_US, _MAGIC_NS = 0xA1B2C3D4, 0xA1B23C4D
_FILE_HEADER = struct.Struct("<IHHiIII")
_ETHERNET_BYTES, _UDP_BYTES = 14, 8
_ETHERNET, _RAW_IP, _LINUX_COOKED = 1, 101, 113
_LINK_HEADERS = {_ETHERNET: _ETHERNET_BYTES, _RAW_IP: 0, _LINUX_COOKED: 16}
_IPV4 = b"\x08\x00"
_UDP = 17


class CaptureError(Exception):
    """A file that is no capture of UDP datagrams, or cannot be made one."""


@dataclass(frozen=True)
class Datagram:
    """A captured datagram: its time in ns since the epoch, destination port, and payload."""

    at_ns: int
    port: int
    payload: bytes


class CaptureWriter:
    """Writes datagrams with nanosecond times."""

    def __init__(self, path: Path) -> None:
        try:
            self._file: BinaryIO = path.open("xb")
        except OSError as error:
            raise CaptureError(f"Cannot record to {path}: {error.strerror}.") from error
        self._file.write(_FILE_HEADER.pack(_MAGIC_NS, 2, 4, 0, 0, 0xFFFF, _ETHERNET))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def write(self, at_ns: int, port: int, payload: bytes) -> None:
        """Append a datagram."""
        loopback = socket.inet_aton("127.0.0.1")
        udp = struct.pack(">HHHH", 7500, port, _UDP_BYTES + len(payload), 0)
        size = 20 + len(udp) + len(payload)
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, size, 0, 0, 64, _UDP, 0, loopback, loopback)
        ip = head[:10] + struct.pack(">H", _checksum(head)) + head[12:]
        frame = bytes(12) + _IPV4 + ip + udp
        seconds, rest = divmod(at_ns, 1_000_000_000)
        bytes_all = len(frame) + len(payload)
        self._file.write(struct.pack("<IIII", seconds, rest, bytes_all, bytes_all))
        self._file.write(frame)
        self._file.write(payload)


def _checksum(header: bytes) -> int:
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def read_capture(path: Path) -> Iterator[Datagram]:
    """Give the UDP datagrams of a capture in its order. Raises CaptureError."""
    with path.open("rb") as file:
        head = file.read(_FILE_HEADER.size)
        order, scale = _byte_order(path, head)
        link = struct.unpack(f"{order}I", head[20:24])[0] & 0xFFFF
        if link not in _LINK_HEADERS:
            raise CaptureError(f"Cannot read {path}: link type {link} is none that is known.")
        fragments: dict[bytes, dict[int, bytes]] = {}
        while record := file.read(16):
            seconds, rest, kept, whole = struct.unpack(f"{order}IIII", record)
            data = file.read(kept)
            if len(record) < 16 or len(data) < kept or kept < whole:
                raise CaptureError(
                    f"Cannot read {path}: a record ends early. Capture whole packets (-s 0)."
                )
            ip = data[_LINK_HEADERS[link] :]
            datagram = _datagram(ip, fragments)
            if datagram is not None:
                yield Datagram(seconds * 1_000_000_000 + rest * scale, *datagram)


def _byte_order(path: Path, head: bytes) -> tuple[str, int]:
    for order in "<>":
        if len(head) == _FILE_HEADER.size:
            (magic,) = struct.unpack(f"{order}I", head[:4])
            if magic in (_MAGIC_US, _MAGIC_NS):
                return order, 1 if magic == _MAGIC_NS else 1000
    raise CaptureError(
        f"Cannot read {path}: it is no pcap file. Convert a pcapng with editcap -F pcap."
    )


def _datagram(ip: bytes, fragments: dict[bytes, dict[int, bytes]]) -> tuple[int, bytes] | None:
    """Give port and payload of an IPv4 packet when it completes a UDP datagram."""
    if len(ip) < 20 or ip[0] >> 4 != 4 or ip[9] != _UDP:
        return None
    header = (ip[0] & 0xF) * 4
    size, identity, place = struct.unpack(">HHH", ip[2:8])
    body = ip[header:size]
    offset, more = (place & 0x1FFF) * 8, bool(place & 0x2000)
    if offset or more:
        key = ip[12:20] + identity.to_bytes(2, "big")
        parts = fragments.setdefault(key, {})
        parts[offset] = body
        if not more:
            parts[-1] = (offset + len(body)).to_bytes(4, "big")
        end = parts.get(-1)
        if end is None or sum(len(part) for at, part in parts.items() if at >= 0) < int.from_bytes(
            end, "big"
        ):
            return None
        del fragments[key]
        body = b"".join(part for at, part in sorted(parts.items()) if at >= 0)
    if len(body) < _UDP_BYTES:
        return None
    port, length = struct.unpack(">HH", body[2:6])
    return port, body[_UDP_BYTES:length]
