# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of `driver:*` tracepoints: what a sensor driver does before it publishes.

Drivers emit them themselves, or Strata's hooks do for unmodified ones (only `source_init`,
`packet_received` and `buffer_pulled`). Source: `tracing_ws/src/driver_tracepoints/src/events.h`,
which has more detail; a test parses it against this catalogue.

A *source* is one stream of sensor data in one process: a UDP socket on a port, or an appsink. A
*frame* is the data of one message (or of the messages of one sweep): a scan, an image, an IMU
sample. Data arrived at this host at the event's time - `queue_ns`.
"""

from __future__ import annotations

from strata.schema.event import Event, Field, Kind, Phase

_I, _R = Phase.INIT, Phase.RUNTIME


def _event(name: str, phase: Phase, fields: tuple[Field, ...], doc: str) -> Event:
    return Event(name, phase, fields, doc, provider="driver")


_SOURCE = Field("source", Kind.UINT, "the source announced by source_init")
_FRAME = Field("frame", Kind.UINT, "number of the frame, counted by the driver, from 0")
_READY = (_SOURCE, _FRAME, Field("bytes", Kind.UINT, "size of the message's data"))

DRIVER_EVENTS: tuple[Event, ...] = (
    _event(
        "source_init",
        _I,
        (
            Field("source", Kind.UINT, "id, unique in the process, never reused"),
            Field("kind", Kind.STRING, "udp or appsink"),
            Field("name", Kind.STRING, "what the driver calls it; empty if recorded by hooks"),
            Field("address", Kind.STRING, "0.0.0.0:7502, or the appsink's element name"),
        ),
        "A source exists; emitted before its other events.",
    ),
    _event(
        "packet_received",
        _R,
        (
            _SOURCE,
            Field("sequence", Kind.UINT, "number of the datagram, counted by the reader, from 0"),
            Field("bytes", Kind.UINT, "length read, as returned by the system call"),
            Field("queue_ns", Kind.INT, "ns that it spent in the socket's queue; -1: not known"),
            Field(
                "dropped",
                Kind.UINT,
                "datagrams that the socket has dropped since it was set up; 0 when not known",
            ),
        ),
        "The system call that read a datagram returned, on the thread that called it.",
    ),
    _event(
        "frame_boundary",
        _R,
        (
            _SOURCE,
            _FRAME,
            Field("packets", Kind.UINT, "packets in the frame"),
            Field("missing", Kind.UINT, "packets of the frame that never arrived"),
            Field("first_sequence", Kind.UINT, "`sequence` of its first packet"),
            Field(
                "last_sequence",
                Kind.UINT,
                "`sequence` of the packet that closed it, which may belong to the next frame",
            ),
        ),
        "The frame is complete; emitted on the thread that determined this.",
    ),
    _event(
        "buffer_pulled",
        _R,
        (
            _SOURCE,
            _FRAME,
            Field("bytes", Kind.UINT, "size of the buffer"),
            Field("pts_ns", Kind.INT, "ns; its presentation time stamp; -1: none"),
            Field("queue_ns", Kind.INT, "ns that it spent in the appsink; -1: not known"),
            Field(
                "dropped",
                Kind.UINT,
                "buffers that the appsink has dropped so far; 0 when not known",
            ),
        ),
        "A buffer was pulled from an appsink, on the thread that pulled it.",
    ),
    _event(
        "cloud_ready",
        _R,
        _READY,
        "The points are in the message, on the publishing thread just before it publishes the "
        "first message of the frame.",
    ),
    _event(
        "copy_done",
        _R,
        _READY,
        "The pixels are in the message, on the publishing thread just before it publishes.",
    ),
)
