# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Topics of an MCAP file, read with the reader of the format, have the figures of the tables."""

from __future__ import annotations

import math
import struct
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcap.reader import make_reader
from mcap.records import Schema
from mcap.summary import Summary

from strata import Analysis, analyze
from strata.schema.layers import HOP_LAYERS

Sample = Callable[[str], Path]
TRACES = ["fast_relaymp_st", "fast_blocked_st", "cell_relay"]
FORMATS = {"int64": "q", "float64": "d"}


def _decoded(schema: Schema, data: bytes) -> dict[str, Any]:
    assert schema.encoding == "ros2msg"
    assert data[:4] == bytes([0, 1, 0, 0])
    lines = [line for line in schema.data.decode().splitlines() if not line.startswith("#")]
    kinds, names = zip(*(line.split() for line in lines), strict=True)
    values = struct.unpack("<" + "".join(FORMATS[kind] for kind in kinds), data[4:])
    return dict(zip(names, values, strict=True))


def _exported(
    analysis: Analysis, target: Path, **choice: Any
) -> tuple[Summary, dict[str, list[dict[str, Any]]]]:
    analysis.export("mcap", target, **choice)
    topics: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with target.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        summary = reader.get_summary()
        last_ns = 0
        for schema, channel, message in reader.iter_messages():
            assert schema is not None
            assert message.log_time >= last_ns
            last_ns = message.log_time
            found = _decoded(schema, message.data)
            found |= {"end_ns": message.log_time, "begin_ns": message.publish_time}
            assert message.sequence == len(topics[channel.topic])
            topics[channel.topic].append(found)
    assert summary is not None
    return summary, topics


@pytest.mark.parametrize("name", TRACES)
def test_chains_have_the_figures_of_their_instances(
    sample: Sample, tmp_path: Path, name: str
) -> None:
    analysis = analyze(sample(name))
    summary, topics = _exported(analysis, tmp_path / "out.mcap")
    instances, segments = analysis.chain_instances, analysis.chain_segments
    for chain in analysis.chains["chain_id"]:
        own = instances[instances["chain_id"] == chain].sort_values("end_ns", kind="stable")
        messages = topics[f"/strata/chain_{chain}"]
        for column in ("message_id", "begin_ns", "end_ns", "latency_ns"):
            assert [one[column] for one in messages] == own[column].tolist()
        sums = (
            segments[segments["chain_id"] == chain]
            .groupby(["chain_instance_id", "layer"], observed=True)["duration_ns"]
            .sum()
        )
        for number, message in zip(own["chain_instance_id"], messages, strict=True):
            expected = {
                layer.replace(" + ", "_").replace("-", "_").replace(" ", "_") + "_ms": ns / 1e6
                for layer, ns in sums.loc[number].items()
            }
            found = {
                key: value
                for key, value in message.items()
                if key.endswith("_ms") and key != "latency_ms" and not math.isnan(value)
            }
            assert found == expected
    channels = {one.topic: one.metadata for one in summary.channels.values()}
    assert channels["/strata/chain_0"]["chain"] == analysis.chains["name"][0]
    assert summary.statistics is not None
    assert summary.statistics.message_count == sum(map(len, topics.values()))


@pytest.mark.parametrize("name", TRACES)
def test_hops_have_the_figures_of_their_messages(sample: Sample, tmp_path: Path, name: str) -> None:
    analysis = analyze(sample(name))
    _, topics = _exported(analysis, tmp_path / "out.mcap")
    messages = analysis.messages.set_index("message_id")
    columns = {layer.column.removesuffix("_ns") + "_ms": layer.column for layer in HOP_LAYERS}
    seen = set()
    for topic, found in topics.items():
        if not topic.startswith("/strata/hop_"):
            continue
        for one in found:
            row = messages.loc[one["message_id"]]
            seen.add(one["message_id"])
            assert topic == f"/strata/hop_{row['hop_id']}"
            assert one["latency_ns"] == one["end_ns"] - one["begin_ns"] == row["latency_ns"]
            layers = {columns[key]: value for key, value in one.items() if key in columns}
            known = row[[*columns.values()]].dropna()
            assert {k: v for k, v in layers.items() if not math.isnan(v)} == {
                column: ns / 1e6 for column, ns in known.items()
            }
    assert seen == set(messages.index)


def test_a_choice_of_nothing_has_no_topic(sample: Sample, tmp_path: Path) -> None:
    analysis = analyze(sample("fast_throws"))
    after = analysis.trace.end_ns + 1
    summary, topics = _exported(analysis, tmp_path / "out.mcap", begin_ns=after)
    assert (dict(topics), summary.channels) == ({}, {})


def test_what_was_lost_is_in_the_file(sample: Sample, tmp_path: Path) -> None:
    analysis = analyze(sample("fast_relay1p_mt_lossy"))
    analysis.export("mcap", tmp_path / "out.mcap", slowest=1)
    with (tmp_path / "out.mcap").open("rb") as file:
        metadata = {one.name: one.metadata for one in make_reader(file).iter_metadata()}
    quality = analysis.quality
    told = quality[quality["severity"] != "info"]
    assert "loss" in set(told["severity"])
    assert list(metadata["strata findings"].values()) == told["text"].tolist()
    assert metadata["strata"]["verdict"] == analysis.system.text
