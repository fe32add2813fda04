# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a trace in the Common Trace Format, version 1.8: https://diamon.org/ctf/v1.8.3/.

Each event class has a data stream file of its own. Readers merge them by time.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np

from strata.export.trace_compass.clock import Clock

_MAGIC = 0xC1FC1FC1
_PACKET_BYTES = 1 << 20
_PACKET_HEADER = struct.Struct("<I16sIQ")
_PACKET_CONTEXT = struct.Struct("<QQQQQ")
_EVENT_HEADER = struct.Struct("<HQ")
_NAMESPACE = uuid.UUID("0d9e8f2c-6f0b-5c58-9d0e-3a6d3f9f6b51")
"""Of the ids of traces."""

_METADATA = """/* CTF 1.8 */

typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
typealias integer {{ size = 64; align = 8; signed = true; }} := int64_t;
typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;

trace {{
	major = 1;
	minor = 8;
	uuid = "{trace}";
	byte_order = le;
	packet.header := struct {{
		uint32_t magic;
		uint8_t uuid[16];
		uint32_t stream_id;
		uint64_t stream_instance_id;
	}};
}};

env {{
	hostname = "{host}";
	tracer_name = "strata";
}};

clock {{
	name = "monotonic";
{clock}	freq = 1000000000;
	offset = {offset};
	absolute = TRUE;
}};

typealias integer {{
	size = 64; align = 8; signed = false;
	map = clock.monotonic.value;
}} := uint64_clock_monotonic_t;

stream {{
	id = 0;
	packet.context := struct {{
		uint64_clock_monotonic_t timestamp_begin;
		uint64_clock_monotonic_t timestamp_end;
		uint64_t content_size;
		uint64_t packet_size;
		uint64_t packet_seq_num;
	}};
	event.header := struct {{
		uint16_t id;
		uint64_clock_monotonic_t timestamp;
	}};
}};
"""

_EVENT = """
event {{
	name = "{name}";
	id = {id};
	stream_id = 0;
	fields := struct {{
{fields}	}};
}};
"""


@dataclass(frozen=True)
class EventClass:
    """An event: its name, its fields of 64-bit signed integers, and after them those of text."""

    name: str
    numbers: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """All names in order."""
        return self.numbers + self.texts

    @cached_property
    def _packed(self) -> struct.Struct:
        return struct.Struct(f"<{len(self.numbers)}q")

    def payload(self, numbers: Sequence[int], texts: Sequence[str]) -> bytes:
        """Return the bytes of an event's fields."""
        # A text ends at its first zero byte, and names are the traced programs'.
        ends = (text.replace("\0", "").encode(errors="replace") + b"\0" for text in texts)
        return self._packed.pack(*numbers) + b"".join(ends)


Event = tuple[int, bytes]
"""An event's time in ns since the epoch, and its payload."""


class CtfWriter:
    """Writes a trace into an empty directory; `counts` has the events of each stream file."""

    def __init__(
        self, directory: Path, clock: Clock, classes: Mapping[str, EventClass], identity: str
    ) -> None:
        """Take the clock, the event class of each stream file by its name, and what the trace is
        of: its id is made from that, so that an export has the same one each time.
        """
        self._directory, self._clock, self._classes = directory, clock, classes
        self._ids = {name: number for number, name in enumerate(classes)}
        self._trace = uuid.uuid5(_NAMESPACE, identity)
        self.counts: dict[str, int] = {}

    def write_metadata(self) -> None:
        """Write the file `metadata`."""
        parts = [
            _METADATA.format(
                trace=self._trace,
                host=_quoted(self._clock.host),
                clock=f'\tuuid = "{self._clock.uuid}";\n' if self._clock.uuid else "",
                offset=self._clock.offset_ns,
            )
        ]
        for name, one in self._classes.items():
            fields = [f"\t\tint64_t {field};\n" for field in one.numbers]
            fields += [f"\t\tstring {field};\n" for field in one.texts]
            parts.append(_EVENT.format(name=one.name, id=self._ids[name], fields="".join(fields)))
        (self._directory / "metadata").write_text("".join(parts), encoding="utf-8")

    def write_stream(self, name: str, events: Iterable[Event], most_bytes: int) -> int:
        """Write one stream file from its events in any order, and return its size in bytes.

        Events of one time keep their order. It stops soon after `most_bytes`: the caller must
        compare. Raises OSError.
        """
        times, payloads, size = list[int](), list[bytes](), 0
        for time, payload in events:
            times.append(time)
            payloads.append(payload)
            size += len(payload)
            if size > most_bytes:
                return size
        order = np.argsort(np.array(times, np.int64), kind="stable").tolist()
        self.counts[name] = len(order)
        with (self._directory / name).open("wb") as file:
            ordered = ((times[at], payloads[at]) for at in order)
            for sequence, packet in enumerate(self._packets(name, ordered)):
                self._write_packet(file, name, sequence, packet)
            return file.tell()

    def _packets(self, name: str, events: Iterable[Event]) -> Iterator[tuple[int, int, bytes]]:
        """Yield the first and last clock value of each packet, and its events."""
        number, offset_ns = self._ids[name], self._clock.offset_ns
        begin = end = 0
        content = bytearray()
        for time, payload in events:
            end = time - offset_ns
            if not content:
                begin = end
            content += _EVENT_HEADER.pack(number, end) + payload
            if len(content) >= _PACKET_BYTES:
                yield begin, end, bytes(content)
                content.clear()
        if content:
            yield begin, end, bytes(content)

    def _write_packet(
        self, file: BinaryIO, name: str, sequence: int, packet: tuple[int, int, bytes]
    ) -> None:
        begin, end, content = packet
        bits = 8 * (_PACKET_HEADER.size + _PACKET_CONTEXT.size + len(content))
        file.write(_PACKET_HEADER.pack(_MAGIC, self._trace.bytes, 0, self._ids[name]))
        file.write(_PACKET_CONTEXT.pack(begin, end, bits, bits, sequence))
        file.write(content)


def _quoted(text: str) -> str:
    """Return a host's name for a TSDL string; no name needs what would have to be escaped."""
    return "".join(one if one.isprintable() and one not in '"\\' else "_" for one in text)
