# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chain instances as traces of OpenTelemetry: one trace each, a span per hop, and one per layer.

The span of the chain is the root, those of its hops are below it, and those of a hop's layers below
the hop. Layers follow each other from the begin of the chain to its end without a gap, in the order
of `chain_segments`: they add up to the latency. Times that were placed so, rather than measured one
after the other (wake-up and executor wait alternate), are placed in the same way by
strata.timeline.

Identifiers follow from the trace's UUID and the instance, so that a second export has the same:
https://opentelemetry.io/docs/specs/otel/trace/api/#spancontext
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, TracesData

from strata import __version__
from strata.export.chosen import Chosen
from strata.schema.rows import NONE

INSTANCES_AT_ONCE = 256
"""So many traces are in one TracesData: memory does not grow with the export."""

_SCOPE = InstrumentationScope(name="strata", version=__version__)


@dataclass(frozen=True)
class _Hop:
    """One hop of an instance: its message (a row of `messages`), begin and end, and its layers."""

    message: int
    begin_ns: int
    layers: tuple[tuple[str, int], ...]

    @property
    def end_ns(self) -> int:
        return self.begin_ns + sum(ns for _, ns in self.layers)


class Spans:
    """The spans of the chosen chain instances."""

    def __init__(self, chosen: Chosen) -> None:
        analysis = chosen.analysis
        self._instances = chosen.rows("chain_instances")
        self._segments = chosen.rows("chain_segments")
        self._messages = analysis.rows("messages")
        self._chains = analysis.rows("chains")
        self._seed = f"{Path(analysis.trace.path).name} {analysis.trace.begin_ns}".encode()
        self._words = {
            name: self._messages.words(name)
            for name in ("topic", "publisher_node", "subscription_node", "transport")
        }
        self._layer = self._segments.words("layer")
        starts = np.searchsorted(
            self._segments["chain_instance_id"], self._instances["chain_instance_id"]
        )
        self._bounds = np.r_[starts, len(self._segments)]
        self.traces, self.spans = len(self._instances), 0

    def batches(self) -> Iterator[TracesData]:
        """Yield all spans, so many instances at a time; spans of a node share a resource."""
        for begin in range(0, self.traces, INSTANCES_AT_ONCE):
            of_node: dict[str, list[Span]] = {}
            for row in range(begin, min(begin + INSTANCES_AT_ONCE, self.traces)):
                for node, span in self._of_instance(row):
                    of_node.setdefault(node, []).append(span)
                    self.spans += 1
            yield TracesData(
                resource_spans=[
                    ResourceSpans(
                        resource=Resource(attributes=[_attribute("service.name", node)]),
                        scope_spans=[ScopeSpans(scope=_SCOPE, spans=spans)],
                    )
                    for node, spans in of_node.items()
                ]
            )

    def _of_instance(self, row: int) -> Iterator[tuple[str, Span]]:
        instance = self._instances.record(row)
        number = int(instance["chain_instance_id"])
        trace_id = self._id(b"trace", number, 16)
        hops = self._hops(row, int(instance["begin_ns"]))
        root = self._id(b"chain", number, 8)
        name = str(self._chains.words("name").at(int(instance["chain_id"])))
        yield (
            self._text("publisher_node", hops[0].message),
            Span(
                trace_id=trace_id,
                span_id=root,
                name=name,
                kind=Span.SPAN_KIND_INTERNAL,
                start_time_unix_nano=int(instance["begin_ns"]),
                end_time_unix_nano=int(instance["end_ns"]),
                attributes=[
                    _attribute("strata.chain_id", int(instance["chain_id"])),
                    _attribute("strata.chain_instance_id", number),
                    _attribute("strata.message_id", int(instance["message_id"])),
                    _attribute("strata.start_up", bool(instance["start_up"])),
                    _attribute("strata.unsynchronised", bool(instance["unsynchronised"])),
                ],
            ),
        )
        for at, hop in enumerate(hops):
            parent = self._id(b"hop %d" % at, number, 8)
            yield (
                self._text("subscription_node", hop.message),
                self._hop_span(hop, trace_id, parent, root),
            )
            yield from self._layer_spans(hop, (number, at), trace_id, parent)

    def _hops(self, row: int, begin_ns: int) -> list[_Hop]:
        own = slice(int(self._bounds[row]), int(self._bounds[row + 1]))
        hop_of, message_of = self._segments["hop"][own], self._segments["message_id"][own]
        duration = self._segments["duration_ns"][own]
        layer = self._layer.codes[own]
        hops = []
        for hop in np.unique(hop_of).tolist():
            rows = np.flatnonzero(hop_of == hop)
            found = _Hop(
                int(message_of[rows[0]]),
                begin_ns,
                tuple((self._layer.words[int(layer[at])], int(duration[at])) for at in rows),
            )
            begin_ns = found.end_ns
            hops.append(found)
        return hops

    def _hop_span(self, hop: _Hop, trace_id: bytes, span_id: bytes, parent: bytes) -> Span:
        topic = self._text("topic", hop.message)
        # The names of the semantic conventions for messaging:
        # https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
        attributes = [
            _attribute("messaging.system", "ros2"),
            _attribute("messaging.destination.name", topic),
            _attribute("messaging.operation.type", "process"),
            _attribute("strata.publisher_node", self._text("publisher_node", hop.message)),
            _attribute("strata.subscription_node", self._text("subscription_node", hop.message)),
            _attribute("strata.message_id", hop.message),
        ]
        attributes += self._known(hop.message)
        return Span(
            trace_id=trace_id,
            span_id=span_id,
            parent_span_id=parent,
            name=topic,
            kind=Span.SPAN_KIND_CONSUMER,
            start_time_unix_nano=hop.begin_ns,
            end_time_unix_nano=hop.end_ns,
            attributes=attributes,
        )

    def _known(self, message: int) -> list[KeyValue]:
        """What is known of some messages only: their size, and how they were carried."""
        found = []
        size = int(self._messages["size"][message])
        if size != NONE:
            found.append(_attribute("messaging.message.body.size", size))
        transport = self._words["transport"].at(message)
        if transport is not None:
            found.append(_attribute("strata.transport", transport))
        return found

    def _layer_spans(
        self, hop: _Hop, of: tuple[int, int], trace_id: bytes, parent: bytes
    ) -> Iterator[tuple[str, Span]]:
        number, at_hop = of
        begin_ns = hop.begin_ns
        node = self._text("subscription_node", hop.message)
        for at, (layer, duration_ns) in enumerate(hop.layers):
            yield (
                node,
                Span(
                    trace_id=trace_id,
                    span_id=self._id(b"layer %d %d" % (at_hop, at), number, 8),
                    parent_span_id=parent,
                    name=layer,
                    kind=Span.SPAN_KIND_INTERNAL,
                    start_time_unix_nano=begin_ns,
                    end_time_unix_nano=begin_ns + duration_ns,
                    attributes=[_attribute("strata.layer", layer)],
                ),
            )
            begin_ns += duration_ns

    def _text(self, name: str, message: int) -> str:
        text = self._words[name].at(message)
        return "unknown" if text is None else text

    def _id(self, kind: bytes, number: int, size: int) -> bytes:
        key = b"%s %s %d" % (self._seed, kind, number)
        return hashlib.blake2b(key, digest_size=size).digest()


def _attribute(key: str, value: str | int | bool) -> KeyValue:
    if isinstance(value, bool):
        return KeyValue(key=key, value=AnyValue(bool_value=value))
    if isinstance(value, int):
        return KeyValue(key=key, value=AnyValue(int_value=value))
    return KeyValue(key=key, value=AnyValue(string_value=value))
