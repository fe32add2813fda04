# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A writer of Perfetto trace packets: one after the other, so that memory does not grow.

All events are one packet sequence: names are interned once and referred to by number. All times are
ns since the epoch, of the clock that the first packet declares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

SEQUENCE = 1
"""The id of the packet sequence of all events."""

THREADS = 2
"""The id of the sequence that describes threads: readers take the events of a sequence in which a
thread is described for that thread's."""

_CLEARED = protos.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
_NEEDED = protos.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
_REALTIME = protos.BUILTIN_CLOCK_REALTIME
_BOOTTIME = protos.BUILTIN_CLOCK_BOOTTIME
_EVENT = protos.TrackEvent

Value = int | str | bool
"""What an annotation holds."""


class Output(Protocol):
    """What packets are written to."""

    def write(self, data: bytes) -> int:
        """Append bytes and return how many."""
        ...


@dataclass(frozen=True)
class Details:
    """What a slice has beside its name and times.

    A flow leaves from a slice that has its id in `flows`, and ends at the one that has it in
    `ended_flows`. Slices with one `correlation` have one colour.
    """

    notes: Mapping[str, Value] = field(default_factory=dict)
    flows: Sequence[int] = ()
    ended_flows: Sequence[int] = ()
    correlation: int | None = None


NO_DETAILS = Details()


class _Names:
    """Numbers of interned texts, from 1."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}

    def number(self, text: str) -> tuple[int, bool]:
        """Return the number of a text, and whether it is new."""
        found = self._number.get(text)
        if found is not None:
            return found, False
        number = self._number[text] = len(self._number) + 1
        return number, True


class PacketWriter:
    """Writes packets to a file; `slices`, `flows` and `values` count what was written."""

    def __init__(self, file: Output, begin_ns: int) -> None:
        """Declare the clock and begin the sequence; `begin_ns` is when the trace begins."""
        self._file = file
        self._names, self._categories, self._notes = _Names(), _Names(), _Names()
        self._texts = _Names()
        self._last_uuid = 0
        self.slices = self.flows = self.values = 0
        self._declare_clock(begin_ns)
        packet = self._packet()
        packet.sequence_flags = _CLEARED | _NEEDED
        packet.trace_packet_defaults.timestamp_clock_id = _REALTIME
        self._write(packet)

    def _declare_clock(self, begin_ns: int) -> None:
        # By itself: readers take nothing else from the packet of a clock.
        packet = protos.TracePacket(trusted_packet_sequence_id=SEQUENCE)
        packet.clock_snapshot.primary_trace_clock = _REALTIME
        # Perfetto 58 and later counts an error in a trace that does not relate the time since boot,
        # which no event here uses: that of several hosts is not one time.
        for clock_id in (_REALTIME, _BOOTTIME):
            clock = packet.clock_snapshot.clocks.add()
            clock.clock_id, clock.timestamp = clock_id, begin_ns
        self._write(packet)

    @staticmethod
    def _packet() -> protos.TracePacket:
        packet = protos.TracePacket()
        packet.trusted_packet_sequence_id = SEQUENCE
        packet.sequence_flags = _NEEDED
        return packet

    def _write(self, packet: protos.TracePacket) -> None:
        data = packet.SerializeToString(deterministic=True)
        # A trace is a message whose only field, number 1, is repeated: its packets.
        self._file.write(b"\x0a" + _varint(len(data)) + data)

    def track(self, descriptor: protos.TrackDescriptor) -> int:
        """Write the descriptor of a track and return the uuid that it was given."""
        self._last_uuid += 1
        descriptor.uuid = self._last_uuid
        packet = self._packet()
        if descriptor.HasField("thread"):
            packet.trusted_packet_sequence_id = THREADS
            packet.ClearField("sequence_flags")
        packet.track_descriptor.CopyFrom(descriptor)
        self._write(packet)
        return self._last_uuid

    def begin(
        self, track: int, ns: int, name: str, category: str, details: Details = NO_DETAILS
    ) -> None:
        """Begin a slice on a track; it lies in the one that was begun there and has not ended."""
        self.slices += 1
        self.flows += len(details.flows)
        packet = self._packet()
        packet.timestamp = ns
        event = packet.track_event
        event.type, event.track_uuid = _EVENT.TYPE_SLICE_BEGIN, track
        event.name_iid = self._interned(packet, self._names, "event_names", name)
        event.category_iids.append(
            self._interned(packet, self._categories, "event_categories", category)
        )
        for note, value in details.notes.items():
            entry = event.debug_annotations.add()
            entry.name_iid = self._interned(packet, self._notes, "debug_annotation_names", note)
            if isinstance(value, bool):
                entry.bool_value = value
            elif isinstance(value, int):
                entry.int_value = value
            else:
                entry.string_value_iid = self._text(packet, value)
        event.flow_ids.extend(details.flows)
        event.terminating_flow_ids.extend(details.ended_flows)
        if details.correlation is not None:
            event.correlation_id = details.correlation
        self._write(packet)

    @staticmethod
    def _interned(packet: protos.TracePacket, names: _Names, of: str, text: str) -> int:
        number, is_new = names.number(text)
        if is_new:
            entry = getattr(packet.interned_data, of).add()
            entry.iid, entry.name = number, text
        return number

    def _text(self, packet: protos.TracePacket, text: str) -> int:
        number, is_new = self._texts.number(text)
        if is_new:
            entry = packet.interned_data.debug_annotation_string_values.add()
            entry.iid, entry.str = number, text.encode(errors="replace")
        return number

    def end(self, track: int, ns: int) -> None:
        """End the slice that was begun last on a track and has not ended."""
        packet = self._packet()
        packet.timestamp = ns
        packet.track_event.type = _EVENT.TYPE_SLICE_END
        packet.track_event.track_uuid = track
        self._write(packet)

    def value(self, track: int, ns: int, value: float) -> None:
        """Write a value of a counter, which holds until the next one."""
        self.values += 1
        packet = self._packet()
        packet.timestamp = ns
        event = packet.track_event
        event.type, event.track_uuid = _EVENT.TYPE_COUNTER, track
        if isinstance(value, int):
            event.counter_value = value
        else:
            event.double_counter_value = value
        self._write(packet)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
