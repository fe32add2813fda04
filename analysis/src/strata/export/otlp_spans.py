# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chain instances as traces of OpenTelemetry: one trace each, a span per hop, and one per layer.

The span of the chain is the root, those of its hops are below it, and those of a hop's layers below
the hop. Layers follow each other from the begin of the chain to its end without a gap, in the order
of `chain_segments`: they add up to the latency. Times that were placed so, rather than measured one
after the other (wake-up and executor wait alternate), are placed in the same way by
strata.timeline.

Names of attributes: https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, TracesData

from strata import __version__
from strata.export.chosen import Chosen
from strata.export.otlp_paths import Hop, Paths, span_id
from strata.schema.checkpoints import Thread
from strata.schema.layers import BY_NAME, HOLD
from strata.schema.rows import NONE, Coded, Ints, Rows

SPANS_AT_ONCE = 400
"""So many spans are in one TracesData at most. Memory does not grow with the export, and a line of
JSON stays below the 1 MiB that the collector's file receivers read of one."""

_SCOPE = InstrumentationScope(name="strata", version=__version__)
_SENDER_LAYERS = {
    layer.name for layer in BY_NAME.values() if layer.thread is Thread.PUBLISHER and layer != HOLD
}


@dataclass(frozen=True)
class _Service:
    """A node in a process; what a backend shows as a service."""

    node: str
    host: str
    pid: int

    def resource(self) -> Resource:
        attributes = [_attribute("service.name", self.node), _attribute("host.name", self.host)]
        return Resource(attributes=[*attributes, _attribute("process.pid", self.pid)])


class Spans:
    """The spans of the chosen chain instances."""

    def __init__(self, chosen: Chosen) -> None:
        analysis = chosen.analysis
        self._paths = Paths(chosen)
        self._chains = analysis.rows("chains")
        messages = analysis.rows("messages")
        self._words = {
            name: messages.words(name)
            for name in ("topic", "publisher_node", "subscription_node", "transport")
        }
        self._size = messages["size"]
        self._processes = {
            "publisher_node": _processes(analysis.rows("publications"), messages["publication_id"]),
            "subscription_node": _processes(analysis.rows("takes"), messages["take_id"]),
        }
        self.traces, self.spans, self.backwards = len(self._paths.instances), 0, 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What the format cannot hold, once the spans were made."""
        if not self.backwards:
            return ()
        return (
            f"{self.backwards:,} spans end where they begin: between hosts whose clocks are not "
            "synchronised they would end earlier (attribute strata.duration_ns)",
        )

    def batches(self) -> Iterator[TracesData]:
        """Yield all spans, so many at a time; those of a service share a resource."""
        waiting: dict[_Service, list[Span]] = {}
        for row in range(self.traces):
            for service, span in self._of_instance(row):
                waiting.setdefault(service, []).append(span)
                self.spans += 1
                if self.spans % SPANS_AT_ONCE == 0:
                    yield _data(waiting)
                    waiting = {}
        if waiting:
            yield _data(waiting)

    def _of_instance(self, row: int) -> Iterator[tuple[_Service, Span]]:
        instance = self._paths.instances.record(row)
        trace_id, hops = self._paths.trace_ids[row], self._paths.hops(row)
        root = self._span(trace_id, (), int(instance["begin_ns"]), int(instance["latency_ns"]))
        root.name = str(self._chains.words("name").at(int(instance["chain_id"])))
        root.attributes.extend(
            [
                _attribute("strata.chain_id", int(instance["chain_id"])),
                _attribute("strata.chain_instance_id", int(instance["chain_instance_id"])),
                _attribute("strata.message_id", int(instance["message_id"])),
                _attribute("strata.start_up", bool(instance["start_up"])),
                _attribute("strata.unsynchronised", bool(instance["unsynchronised"])),
            ]
        )
        yield self._service("publisher_node", hops[0].message), root
        begin_ns = int(instance["begin_ns"])
        for hop in hops:
            span = self._hop_span(hop, trace_id, begin_ns)
            span.links.extend(self._links(hops, hop.number))
            yield self._service("subscription_node", hop.message), span
            yield from self._layer_spans(hop, trace_id, begin_ns)
            begin_ns += hop.duration_ns

    def _span(self, trace_id: bytes, place: tuple[int, ...], begin_ns: int, ns: int) -> Span:
        """Return a span at its place in the trace: (), (hop,) or (hop, layer)."""
        span = Span(
            trace_id=trace_id,
            span_id=span_id(trace_id, *place),
            parent_span_id=span_id(trace_id, *place[:-1]) if place else b"",
            kind=Span.SPAN_KIND_CONSUMER if len(place) == 1 else Span.SPAN_KIND_INTERNAL,
            start_time_unix_nano=begin_ns,
            end_time_unix_nano=begin_ns + max(ns, 0),
        )
        if ns < 0:
            span.attributes.append(_attribute("strata.duration_ns", ns))
            self.backwards += 1
        return span

    def _hop_span(self, hop: Hop, trace_id: bytes, begin_ns: int) -> Span:
        span = self._span(trace_id, (hop.number,), begin_ns, hop.duration_ns)
        span.name = self._text("topic", hop.message)
        span.attributes.extend(
            [
                _attribute("messaging.system", "ros2"),
                _attribute("messaging.destination.name", span.name),
                _attribute("messaging.operation.name", "process"),
                _attribute("messaging.operation.type", "process"),
                _attribute("strata.publisher_node", self._text("publisher_node", hop.message)),
                _attribute(
                    "strata.subscription_node", self._text("subscription_node", hop.message)
                ),
                _attribute("strata.message_id", hop.message),
                *self._known(hop.message),
            ]
        )
        return span

    def _known(self, message: int) -> list[KeyValue]:
        """What is known of some messages only: their size, and how they were carried."""
        found = []
        size = int(self._size[message])
        if size != NONE:
            found.append(_attribute("messaging.message.body.size", size))
        transport = self._words["transport"].at(message)
        if transport is not None:
            found.append(_attribute("strata.transport", transport))
        return found

    def _links(self, hops: list[Hop], number: int) -> Iterator[Span.Link]:
        for message, row, hop in self._paths.joining(hops, number):
            trace_id = self._paths.trace_ids[row]
            yield Span.Link(
                trace_id=trace_id,
                span_id=span_id(trace_id, hop),
                attributes=[
                    _attribute("messaging.destination.name", self._text("topic", message)),
                    _attribute("strata.message_id", message),
                ],
            )

    def _layer_spans(
        self, hop: Hop, trace_id: bytes, begin_ns: int
    ) -> Iterator[tuple[_Service, Span]]:
        sender = self._service("publisher_node", hop.message)
        reader = self._service("subscription_node", hop.message)
        for at, (layer, ns) in enumerate(hop.layers):
            span = self._span(trace_id, (hop.number, at), begin_ns, ns)
            span.name = layer
            span.attributes.append(_attribute("strata.layer", layer))
            yield (sender if layer in _SENDER_LAYERS else reader), span
            begin_ns += ns

    def _service(self, end: str, message: int) -> _Service:
        hosts, pids = self._processes[end]
        return _Service(self._text(end, message), str(hosts.at(message)), int(pids[message]))

    def _text(self, name: str, message: int) -> str:
        text = self._words[name].at(message)
        return "unknown" if text is None else text


def _processes(ends: Rows, of_message: Ints) -> tuple[Coded, Ints]:
    """Return host and process id of each message's publication or take (ids are rows)."""
    return ends.words("host").take(of_message), ends["vpid"][of_message]


def _data(spans: dict[_Service, list[Span]]) -> TracesData:
    return TracesData(
        resource_spans=[
            ResourceSpans(
                resource=service.resource(), scope_spans=[ScopeSpans(scope=_SCOPE, spans=own)]
            )
            for service, own in spans.items()
        ]
    )


def _attribute(key: str, value: str | int | bool) -> KeyValue:
    if isinstance(value, bool):
        return KeyValue(key=key, value=AnyValue(bool_value=value))
    if isinstance(value, int):
        return KeyValue(key=key, value=AnyValue(int_value=value))
    return KeyValue(key=key, value=AnyValue(string_value=value))
