# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Walk the packets of LTTng stream files: what is there, what was discarded, what was cut.

LTTng 2.x lays every packet out as

    header:  magic u32, uuid 16 B, stream_id u32, stream_instance_id u64
    context: timestamp_begin, timestamp_end, content_size, packet_size, packet_seq_num u64,
             events_discarded (unsigned long), cpu_id u32

with sizes in bits and timestamps in clock cycles. `events_discarded` is a running count of its
stream, as of the end of the packet. The walk is done only when the metadata declares this layout.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path

from strata.read.discover import CtfTrace

_MAGIC = 0xC1FC1FC1
_PACKET_64 = struct.Struct("<I16sIQQQQQQQI")
_PACKET_32 = struct.Struct("<I16sIQQQQQQII")
_HEADER_LAYOUT = re.compile(
    r"packet\.header\s*:=\s*struct\s*{\s*uint32_t\s+magic;\s*uint8_t\s+uuid\[16\];\s*"
    r"uint32_t\s+stream_id;\s*uint64_t\s+stream_instance_id;\s*}"
)
_CONTEXT_LAYOUT = re.compile(
    r"struct\s+packet_context\s*{\s*\w+\s+timestamp_begin;\s*\w+\s+timestamp_end;\s*"
    r"uint64_t\s+content_size;\s*uint64_t\s+packet_size;\s*uint64_t\s+packet_seq_num;\s*"
    r"unsigned\s+long\s+events_discarded;\s*uint32_t\s+cpu_id;\s*}"
)


@dataclass(frozen=True)
class Packet:
    """One whole packet: its place in the file (bytes) and its context."""

    offset: int
    size: int
    stream: tuple[int, int]
    begin_ns: int
    end_ns: int
    sequence: int
    discarded: int


@dataclass(frozen=True)
class StreamFile:
    """The packets of one stream file; `whole_bytes` is where the last whole one ends."""

    path: Path
    packets: tuple[Packet, ...]
    whole_bytes: int
    file_bytes: int

    @property
    def truncated_bytes(self) -> int:
        """Bytes at the end that belong to no whole packet."""
        return self.file_bytes - self.whole_bytes


@dataclass(frozen=True)
class Loss:
    """Something that the trace lost: `count` by `code` of strata.schema.quality, when and where.

    `begin_ns` and `end_ns` (since the epoch) bound the time of the loss; null when not known.
    """

    code: str
    count: int
    where: str
    begin_ns: int | None
    end_ns: int | None


def has_lttng_packets(trace: CtfTrace) -> bool:
    """Tell whether the trace's metadata declares the packet layout of LTTng."""
    text = trace.metadata
    return bool(
        _HEADER_LAYOUT.search(text)
        and _CONTEXT_LAYOUT.search(text)
        and re.search(r"\bbyte_order\s*=\s*le\b", text)
    )


def walk(trace: CtfTrace) -> list[StreamFile]:
    """Return the stream files of an LTTng trace with their whole packets."""
    narrow = re.search(r"size\s*=\s*32[^}]*}\s*:=\s*unsigned\s+long;", trace.metadata)
    layout = _PACKET_32 if narrow else _PACKET_64
    return [_walk_file(path, layout, trace) for path in trace.stream_files()]


def _walk_file(path: Path, layout: struct.Struct, trace: CtfTrace) -> StreamFile:
    size = path.stat().st_size
    offset_ns = trace.clock_offset_ns
    packets = []
    at = 0
    with path.open("rb") as file:
        while at + layout.size <= size:
            file.seek(at)
            fields = layout.unpack(file.read(layout.size))
            magic, _, stream_id, instance, begin, end, content, bits, sequence, lost, _ = fields
            length = bits // 8
            if magic != _MAGIC or length < layout.size or content > bits or at + length > size:
                break
            packets.append(
                Packet(
                    at,
                    length,
                    (stream_id, instance),
                    begin + offset_ns,
                    end + offset_ns,
                    sequence,
                    lost,
                )
            )
            at += length
    return StreamFile(path, tuple(packets), at, size)


def losses(traces: list[tuple[CtfTrace, list[StreamFile]]]) -> list[Loss]:
    """Count what the packets say was lost, each stream once over its files and rotation chunks."""
    streams: dict[tuple[str, tuple[int, int]], list[Packet]] = {}
    names: dict[tuple[str, tuple[int, int]], str] = {}
    found: list[Loss] = []
    for trace, files in traces:
        for file in files:
            found.extend(_file_losses(file))
            for packet in file.packets:
                # Without a UUID two traces would share their stream numbers.
                key = (trace.uuid or str(trace.directory), packet.stream)
                streams.setdefault(key, []).append(packet)
                names.setdefault(key, str(file.path))
    for key, packets in streams.items():
        packets.sort(key=lambda packet: packet.sequence)
        found.extend(_stream_losses(packets, names[key]))
    return found


def _file_losses(file: StreamFile) -> list[Loss]:
    where = str(file.path)
    if file.file_bytes == 0:
        return [Loss("empty_streams", 1, where, None, None)]
    if not file.truncated_bytes:
        return []
    last = file.packets[-1].end_ns if file.packets else None
    return [
        Loss("truncated_streams", 1, where, last, None),
        Loss("truncated_bytes", file.truncated_bytes, where, last, None),
    ]


def _stream_losses(packets: list[Packet], where: str) -> list[Loss]:
    found = []
    before = Packet(0, 0, (0, 0), packets[0].begin_ns, packets[0].begin_ns, -1, 0)
    for packet in packets:
        # A count may also restart (session stopped and started): only growth is a loss.
        grown = packet.discarded - before.discarded
        if grown > 0:
            found.append(Loss("discarded_events", grown, where, before.end_ns, packet.end_ns))
        missing = packet.sequence - before.sequence - 1
        if missing > 0:
            found.append(Loss("lost_packets", missing, where, before.end_ns, packet.begin_ns))
        before = packet
    return found
