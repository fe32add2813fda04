# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry traces, decoded with the official protos, have the figures of the tables."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.trace.v1.trace_pb2 import Span, TracesData

from strata import Analysis, analyze
from strata.export import otlp_spans

Sample = Callable[[str], Path]
TRACES = ["fast_relaymp_st", "fast_blocked_st", "cell_relay"]


def _spans(data: TracesData) -> list[tuple[str, Span]]:
    return [
        (resource.resource.attributes[0].value.string_value, span)
        for resource in data.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def _exported(analysis: Analysis, target: Path, **choice: Any) -> TracesData:
    analysis.export("otlp", target, **choice)
    return TracesData.FromString(target.read_bytes())


def _attributes(span: Span) -> dict[str, Any]:
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
        hops = [span for span in spans if span.parent_span_id == root.span_id]
        own = segments.get_group(row.name)
        layers = []
        end_ns = root.start_time_unix_nano
        for hop in hops:
            assert hop.start_time_unix_nano == end_ns
            below = [span for span in spans if span.parent_span_id == hop.span_id]
            for layer in below:
                assert layer.start_time_unix_nano == end_ns
                end_ns = layer.end_time_unix_nano
                layers.append((layer.name, end_ns - layer.start_time_unix_nano))
            assert hop.end_time_unix_nano == end_ns
        assert end_ns == root.end_time_unix_nano
        assert layers == list(zip(own["layer"], own["duration_ns"], strict=True))
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
    monkeypatch.setattr(otlp_spans, "INSTANCES_AT_ONCE", 7)
    data = _exported(analysis, tmp_path / "parts.pb")
    assert {span.span_id for _, span in _spans(data)} == whole
    assert len(data.resource_spans) > 100


def test_json_is_the_same(sample: Sample, tmp_path: Path) -> None:
    analysis = analyze(sample("fast_blocked_st"))
    data = _exported(analysis, tmp_path / "out.pb")
    analysis.export("otlp-json", tmp_path / "out.jsonl")
    joined = TracesData()
    for line in (tmp_path / "out.jsonl").read_text().splitlines():
        document = json.loads(line)
        for resource in document["resourceSpans"]:
            for span in resource["scopeSpans"][0]["spans"]:
                for name in ("traceId", "spanId", "parentSpanId"):
                    if name in span:
                        raw = bytes.fromhex(span[name])
                        span[name] = base64.b64encode(raw).decode()
                assert type(span["startTimeUnixNano"]) is str
                assert type(span["kind"]) is int
        joined.MergeFrom(ParseDict(document, TracesData()))
    assert joined == data
