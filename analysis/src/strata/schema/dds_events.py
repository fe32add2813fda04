# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of `dds:*` tracepoints, which Strata's own hooks emit within the middleware.

Source: `tracing_ws/src/dds_tracepoints/src/events.h`, which has more detail; a test parses it
against this catalogue.

A *sample* is one written value; (`writer_guid`, `sequence_number`) identifies it in every process.

An *operation* (a write, take, send or receipt) has one event, emitted when it ends, with the times
of its steps. The engine puts an event of its own in the place of each step, at its time: those are
the events that hooks emitted before, and that traces of before have.
"""

from __future__ import annotations

from strata.schema.event import Event, Field, Kind, Phase, handle

SPAN = 1 << 31
"""From here on a span of an operation's step is this and microseconds; below, nanoseconds."""

_I, _R = Phase.INIT, Phase.RUNTIME


def _event(
    name: str, phase: Phase, fields: tuple[Field, ...], doc: str, step_of: str = ""
) -> Event:
    return Event(name, phase, fields, doc, provider="dds", step_of=step_of)


_WRITER = handle("writer", "DataWriter announced by create_writer")
_READER = handle("reader", "DataReader announced by create_reader")
_DATA = handle("data", "the value; from rmw, the `message` of rmw_publish")
_BUFFER = handle("buffer", "where the value was put; from rmw, the `message` of rmw_take")
_WAITSET = handle("waitset", "the wait set; in wake_up, its implementation")
_RESULT = Field("result", Kind.INT, "DDS return code; 0: done")
_PREFIX = Field("gid_prefix", Kind.BYTES, "first 12 bytes of the GUID")
_ENTITY = Field("gid_entity", Kind.BYTES, "last 4 bytes of the GUID")
_TOPIC = Field("topic_name", Kind.STRING, "DDS topic; ROS topics have the prefix rt")
_TYPE = Field("type_name", Kind.STRING, "DDS type")
_GUID = Field("writer_guid", Kind.BYTES, "GUID of the sample's writer, 16 bytes; zeros: not known")
_SEQUENCE = Field("sequence_number", Kind.INT, "number of the sample, counted by its writer")
_STAMP = Field(
    "source_timestamp", Kind.INT, "ns, CLOCK_REALTIME; the publisher's stamp; 0: not known"
)
_SIZE = Field("size", Kind.UINT, "bytes of the payload, all fragments together")
_IDENTITY = (_GUID, _SEQUENCE, _STAMP, _SIZE)
_FRAGMENTS = (
    Field("fragment", Kind.UINT, "number of the first fragment here, from 1; 0: a whole sample"),
    Field("fragment_count", Kind.UINT, "fragments here; 0: a whole sample"),
    Field("fragment_size", Kind.UINT, "bytes of a full fragment; 0: a whole sample"),
)
_RELATED = (
    Field("related_guid", Kind.BYTES, "the client, 16 bytes: GUID of its reader, or its id"),
    Field("related_sequence", Kind.INT, "number of the request; 0: that of the sample itself"),
)
_TRANSPORT = Field(
    "transport",
    Kind.INT,
    "transport: 1 UDPv4, 2 UDPv6, 4 TCPv4, 8 TCPv6, 16 SHM, 65536 data sharing",
)
_BYTES = Field("bytes", Kind.UINT, "length of the buffer")
_SAMPLE_IN_BUFFER = (*_IDENTITY, *_FRAGMENTS)
_DESTINATION = (
    Field(
        "address",
        Kind.BYTES,
        "4 bytes of IPv4 or 16 of IPv6; none for SHM; of earlier releases always 16, IPv4 last",
    ),
    Field("port", Kind.UINT, "for SHM that of the last reader"),
    Field("destinations", Kind.UINT, "readers' ports served; 1 for a socket"),
    Field("result", Kind.INT, "bytes sent, or -errno; for SHM 1 or 0"),
)
_TAKEN = Field("taken", Kind.INT, "samples taken; the fields are the first one's")
_BEGIN = Field("begin", Kind.INT, "when it began, ns of the trace's clock (CLOCK_MONOTONIC)")
_READER_GUID = Field("reader_guid", Kind.BYTES, "GUID of the reader, 16 bytes; zeros: not known")
_PORT = Field("port", Kind.UINT, "where it was received; 0: not known")
_MADE = Field("size", Kind.UINT, "bytes made, CDR header included; 0: failed")


def _span(name: str, doc: str) -> Field:
    return Field(name, Kind.UINT, f"{doc}: ns after `begin`; from 2^31 on, 2^31 + us; 0: not done")


OPERATIONS: tuple[Event, ...] = (
    _event(
        "written",
        _R,
        (
            _WRITER,
            _DATA,
            _GUID,
            _SEQUENCE,
            _STAMP,
            _MADE,
            _RESULT,
            _BEGIN,
            _span("serialize_begin", "the value is about to be turned into bytes"),
            _span("serialize_end", "it was turned into bytes"),
            _span("writer_history_add", "the sample is in the writer's history"),
        ),
        "A write returned. The sample is that of the writer's history; zeros without one.",
    ),
    _event(
        "taken",
        _R,
        (
            _READER,
            _BUFFER,
            _GUID,
            _SEQUENCE,
            _STAMP,
            _TAKEN,
            _RESULT,
            Field("size", Kind.UINT, "bytes deserialized"),
            _BEGIN,
            _span("deserialize_begin", "bytes are about to be turned into the value"),
            _span("deserialize_end", "they were turned into the value"),
        ),
        "A take (or read) returned.",
    ),
    _event(
        "sent",
        _R,
        (_TRANSPORT, _BYTES, *_SAMPLE_IN_BUFFER, *_DESTINATION, _BEGIN),
        "A buffer with application samples was handed to a transport, which returned; the fields "
        "are the first sample's.",
    ),
    _event(
        "received",
        _R,
        (
            _TRANSPORT,
            _PORT,
            _BYTES,
            *_IDENTITY,
            Field("notified", Kind.UINT, "1: a reader is about to be notified; 0: there is none"),
            _READER_GUID,
            _BEGIN,
            _span("reader_history_add", "a reader took the sample into its history"),
        ),
        "A buffer with one whole application sample arrived and was handled as far as the "
        "notification of a reader.",
    ),
    _event(
        "serialized",
        _R,
        (_DATA, _MADE, _BEGIN, _span("end", "it was turned into bytes")),
        "A value was turned into bytes outside of a write, or once more within it.",
    ),
    _event(
        "deserialized",
        _R,
        (
            _DATA,
            Field("size", Kind.UINT, "bytes read"),
            _BEGIN,
            _span("end", "they were turned into a value"),
        ),
        "Bytes were turned into a value outside of a take, or once more within it.",
    ),
    _event(
        "unfinished",
        _R,
        (
            Field("thread", Kind.INT, "its thread"),
            Field("operation", Kind.UINT, "1 write, 2 take, 3 send, 4 receive"),
            Field("may_end", Kind.UINT, "1: still going on; 0: ended by an exception"),
            handle("entity", "writer or reader"),
            _DATA,
            _GUID,
            _SEQUENCE,
            _STAMP,
            _SIZE,
            _TRANSPORT,
            _PORT,
            _BYTES,
            _BEGIN,
            _span("first_step", "the first step was done"),
            _span("second_step", "the second step was done"),
            _span("third_step", "the third step was done"),
        ),
        "An operation of another thread has been going on for 0.1 s, or did a further step since; "
        "or an exception ended it. Fields and steps are those of its own event, which may follow; "
        "of a send the steps are fragment, fragment_count and fragment_size.",
    ),
)
"""One event for each operation, when it ends."""

_EVENTS: tuple[Event, ...] = (
    _event(
        "create_writer", _I, (_WRITER, _TOPIC, _PREFIX, _ENTITY, _TYPE), "A DataWriter was created."
    ),
    _event(
        "create_reader", _I, (_READER, _TOPIC, _PREFIX, _ENTITY, _TYPE), "A DataReader was created."
    ),
    _event("write_begin", _R, (_WRITER, _DATA), "A write was entered.", step_of="written"),
    _event(
        "write_related",
        _R,
        (_WRITER, *_RELATED),
        "The request that the following write_begin belongs to (services).",
    ),
    _event(
        "write_end",
        _R,
        (_WRITER, _RESULT),
        "The write returned; missing when it threw.",
        step_of="written",
    ),
    _event(
        "serialize_begin",
        _R,
        (_DATA,),
        "The value is about to be turned into bytes.",
        step_of="written",
    ),
    _event(
        "serialize_end", _R, (_DATA, _MADE), "The value was turned into bytes.", step_of="written"
    ),
    _event(
        "writer_history_add",
        _R,
        _IDENTITY,
        "The sample got its number and is in the writer's history.",
    ),
    _event(
        "send_begin",
        _R,
        (_TRANSPORT, _BYTES, *_SAMPLE_IN_BUFFER),
        "A buffer with application samples is handed to a transport; the fields are the first "
        "sample's.",
        step_of="sent",
    ),
    _event(
        "send_sample",
        _R,
        _SAMPLE_IN_BUFFER,
        "A further sample in the buffer of the preceding send_begin.",
    ),
    _event("send_end", _R, (_TRANSPORT, *_DESTINATION), "The transport returned.", step_of="sent"),
    _event(
        "receive",
        _R,
        (
            _TRANSPORT,
            _PORT,
            _BYTES,
            *_SAMPLE_IN_BUFFER,
        ),
        "A buffer with application samples arrived; the fields are the first sample's.",
    ),
    _event(
        "receive_sample",
        _R,
        _SAMPLE_IN_BUFFER,
        "A further sample in the buffer of the preceding receive.",
    ),
    _event(
        "reader_history_add",
        _R,
        _IDENTITY,
        "A reader took the sample into its history; a fragmented one with its first fragment.",
    ),
    _event(
        "reader_notify",
        _R,
        (_READER_GUID, _GUID, _SEQUENCE),
        "The sample is complete; the reader is about to be notified.",
    ),
    _event("wait_begin", _R, (_WAITSET,), "A thread begins to wait on a wait set."),
    _event("wait_end", _R, (_WAITSET, _RESULT), "The wait returned."),
    _event("wake_up", _R, (_WAITSET,), "A wait set is signalled."),
    _event("take_begin", _R, (_READER,), "A take (or read) was entered.", step_of="taken"),
    _event(
        "take_end",
        _R,
        (
            _READER,
            _BUFFER,
            _GUID,
            _SEQUENCE,
            _STAMP,
            _TAKEN,
            _RESULT,
        ),
        "The take returned; missing when it threw.",
        step_of="taken",
    ),
    _event(
        "take_related",
        _R,
        (_READER, *_RELATED),
        "The request that the preceding take_end belongs to (services).",
    ),
    _event(
        "deserialize_begin",
        _R,
        (_DATA,),
        "Bytes are about to be turned into a value.",
        step_of="taken",
    ),
    _event(
        "deserialize_end",
        _R,
        (_DATA, Field("size", Kind.UINT, "bytes read")),
        "Bytes were turned into a value.",
        step_of="taken",
    ),
    _event(
        "write_pre",
        _R,
        (_WRITER, _DATA),
        "Like write_begin, under the name that Trace Compass knows (Humble, Iron).",
    ),
    _event(
        "write",
        _R,
        (_WRITER, _DATA, Field("timestamp", Kind.INT, _STAMP.doc, column="source_timestamp")),
        "Like writer_history_add, under the name that Trace Compass knows (Humble, Iron).",
    ),
    _event(
        "read",
        _R,
        (_READER, _BUFFER),
        "Like take_end of a sample, under the name that Trace Compass knows (Humble, Iron).",
    ),
)

DDS_EVENTS: tuple[Event, ...] = (*_EVENTS, *OPERATIONS)
