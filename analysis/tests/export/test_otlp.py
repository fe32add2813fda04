# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry traces, decoded with the official protos, have the figures of the tables."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData

from strata import Analysis, analyze
from strata.export import otlp_spans
from strata.read.links import read_links

Sample = Callable[[str], Path]
LINKS = Path(__file__).parents[1] / "traces" / "ref_multi_full-links.yaml"
SENT = {"driver", "client publish", "serialize", "dds write"}
TRACES = ["fast_relaymp_st", "fast_blocked_st", "cell_relay"]


def _spans(data: TracesData) -> list[tuple[str, Span]]:
    return [
        (_attributes(resource.resource)["service.name"], span)
        for resource in data.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def _in_order(spans: Iterable[Span]) -> list[Span]:
    return sorted(spans, key=lambda span: (span.start_time_unix_nano, span.end_time_unix_nano))


def _exported(analysis: Analysis, target: Path, **choice: Any) -> TracesData:
    analysis.export("otlp", target, **choice)
    return TracesData.FromString(target.read_bytes())


def _attributes(span: Span | Resource | Span.Link) -> dict[str, Any]:
    return {
        one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in span.attributes
    }


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_is_an_instance_and_its_layers_add_up(
    sample: Sample, tmp_path: Path, name: str
) -> None:
    analysis = analyze(sample(name))
    by_trace: dict[bytes, list[Span]] = {}
    for _, span in _spans(_exported(analysis, tmp_path / "out.pb")):
        assert (len(span.trace_id), len(span.span_id)) == (16, 8)
        by_trace.setdefault(span.trace_id, []).append(span)
    instances = analysis.chain_instances.set_index("chain_instance_id")
    segments = analysis.chain_segments.groupby("chain_instance_id")
    assert len(by_trace) == len(instances)
    for spans in by_trace.values():
        (root,) = (span for span in spans if not span.parent_span_id)
        row = instances.loc[_attributes(root)["strata.chain_instance_id"]]
        assert root.start_time_unix_nano == row["begin_ns"]
        assert root.end_time_unix_nano == row["end_ns"]
        hops = _in_order(span for span in spans if span.parent_span_id == root.span_id)
        own = segments.get_group(row.name)
        layers = []
        end_ns = root.start_time_unix_nano
        for number, hop in enumerate(hops):
            assert hop.start_time_unix_nano == end_ns
            for layer in _in_order(span for span in spans if span.parent_span_id == hop.span_id):
                assert layer.start_time_unix_nano == end_ns
                end_ns = layer.end_time_unix_nano
                layers.append((number, layer.name, end_ns - layer.start_time_unix_nano))
            assert hop.end_time_unix_nano == end_ns
        assert end_ns == root.end_time_unix_nano
        # Layers of no duration at one time are in no order.
        expected = zip(own["hop"], own["layer"], own["duration_ns"], strict=True)
        assert Counter(layers) == Counter(expected)
        assert len(spans) == 1 + len(hops) + len(layers)
        assert len({span.span_id for span in spans}) == len(spans)


def test_a_hop_says_what_is_known_of_its_message(sample: Sample, tmp_path: Path) -> None:
    analysis = analyze(sample("cell_relay"))
    for node, span in _spans(_exported(analysis, tmp_path / "out.pb", slowest=3)):
        found = _attributes(span)
        if "messaging.system" not in found:
            continue
        row = analysis.messages.loc[found["strata.message_id"]]
        assert span.name == found["messaging.destination.name"] == row["topic"]
        assert node == found["strata.subscription_node"] == row["subscription_node"]
        assert found["strata.publisher_node"] == row["publisher_node"]
        assert found["messaging.message.body.size"] == row["size"]
        assert found["strata.transport"] == row["transport"]


def test_parts_are_one_message(
    sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysis = analyze(sample("fast_blocked_st"))
    whole = {span.span_id for _, span in _spans(_exported(analysis, tmp_path / "whole.pb"))}
    monkeypatch.setattr(otlp_spans, "SPANS_AT_ONCE", 7)
    data = _exported(analysis, tmp_path / "parts.pb")
    assert {span.span_id for _, span in _spans(data)} == whole
    assert len(data.resource_spans) > 100


def test_services_are_nodes_in_their_processes(sample: Sample, tmp_path: Path) -> None:
    analysis = analyze(sample("cell_relay"))
    nodes = analysis.nodes.set_index("name")[["host", "vpid"]]
    sent: Counter[bool] = Counter()
    for resource in _exported(analysis, tmp_path / "out.pb", slowest=2).resource_spans:
        found = _attributes(resource.resource)
        host, pid = nodes.loc[found["service.name"]]
        assert (found["host.name"], found["process.pid"]) == (host, pid)
        spans = resource.scope_spans[0].spans
        by_id = {span.span_id: _attributes(span) for span in spans}
        for span in spans:
            if "strata.layer" in _attributes(span):
                # The span of the hop is the reader's: layers of the sender are beside it.
                sent[span.parent_span_id not in by_id] += span.name in SENT
                if span.name in SENT:
                    continue
                assert (
                    by_id[span.parent_span_id]["strata.subscription_node"]
                    == (found["service.name"])
                )
    assert sent[True] > 0
    assert sent[False] == 0


def test_ids_are_of_an_instance_whatever_was_chosen(sample: Sample, tmp_path: Path) -> None:
    def roots(analysis: Analysis, name: str, **choice: Any) -> dict[bytes, tuple[str, int, bytes]]:
        found = [span for _, span in _spans(_exported(analysis, tmp_path / name, **choice))]
        return {
            span.trace_id: (span.name, span.start_time_unix_nano, span.span_id)
            for span in found
            if not span.parent_span_id
        }

    directory = sample("fast_blocked_st")
    analysis = analyze(directory)
    everything = roots(analysis, "everything")
    assert len(everything) == len(analysis.chain_instances)
    # An analysis of one chain numbers its instances on its own.
    for topic in ("/fast", "/slow"):
        alone = roots(analyze(directory, chain=(topic,)), topic.strip("/"), slowest=3)
        assert len(alone) == 3
        assert alone.items() <= everything.items()


def test_messages_made_from_several_are_linked(sample: Sample, tmp_path: Path) -> None:
    links = read_links(LINKS)
    analysis = analyze(sample("ref_multi_full"), links=links)
    causes = set(zip(analysis.links["child_id"], analysis.links["parent_id"], strict=True))
    spans = [span for _, span in _spans(_exported(analysis, tmp_path / "out.pb", slowest=3))]
    hops = {
        (span.trace_id, span.span_id): _attributes(span)
        for span in spans
        if span.kind == Span.SPAN_KIND_CONSUMER
    }
    linked = [(span, link) for span in spans for link in span.links]
    assert linked
    for span, link in linked:
        child = hops[span.trace_id, span.span_id]
        parent = hops[link.trace_id, link.span_id]
        assert link.trace_id != span.trace_id
        assert _attributes(link)["strata.message_id"] == parent["strata.message_id"]
        assert (child["strata.message_id"], parent["strata.message_id"]) in causes


def test_time_that_is_negative_has_a_span_without_width(sample: Sample, tmp_path: Path) -> None:
    analysis = analyze(sample("cell_relay"))
    segments = analysis.chain_segments.copy()
    row = segments.index[(segments["layer"] == "transport")][0]
    segments.loc[row, "duration_ns"] = -1500
    written = analysis.replaced(chain_segments=segments).export("otlp", tmp_path / "out.pb")
    cut = [
        span
        for _, span in _spans(TracesData.FromString((tmp_path / "out.pb").read_bytes()))
        if "strata.duration_ns" in _attributes(span)
    ]
    (layer,) = (span for span in cut if span.name == "transport")
    assert layer.start_time_unix_nano == layer.end_time_unix_nano
    assert _attributes(layer)["strata.duration_ns"] == -1500
    assert written.notes[0].startswith(f"{len(cut)} spans end where they begin")


def test_a_line_is_shorter_than_receivers_read(sample: Sample, tmp_path: Path) -> None:
    links = read_links(LINKS)
    analysis = analyze(sample("ref_multi_full"), links=links)
    analysis.export("otlp-json", tmp_path / "out.jsonl", slowest=3)
    lengths = [len(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    assert len(lengths) > 10
    assert max(lengths) < 1 << 19


def test_json_is_the_same(sample: Sample, tmp_path: Path) -> None:
    analysis = analyze(sample("fast_blocked_st"))
    data = _exported(analysis, tmp_path / "out.pb")
    analysis.export("otlp-json", tmp_path / "out.jsonl")
    joined = TracesData()
    for line in (tmp_path / "out.jsonl").read_text().splitlines():
        document = json.loads(line)
        for resource in document["resourceSpans"]:
            for span in resource["scopeSpans"][0]["spans"]:
                for ids in (span, *span.get("links", ())):
                    for name in {"traceId", "spanId", "parentSpanId"} & set(ids):
                        raw = bytes.fromhex(ids[name])
                        ids[name] = base64.b64encode(raw).decode()
                assert type(span["startTimeUnixNano"]) is str
                assert type(span["kind"]) is int
        joined.MergeFrom(ParseDict(document, TracesData()))
    assert joined == data
