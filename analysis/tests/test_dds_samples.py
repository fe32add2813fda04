# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded samples of the DDS layer: the model against plain loops over the raw events."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from operation_steps import with_steps

from strata.analysis import Analysis
from strata.read import open_trace
from strata.schema.layers import HOP_LAYERS

SAMPLES = {
    "dds_jazzy_udp_resends": (30, "UDPv4"),
    "dds_kilted_shm": (160, "SHM"),
    "operations_jazzy": (160, "SHM"),
}
FULL = (
    "client_publish_ns",
    "serialize_ns",
    "dds_write_ns",
    "transport_ns",
    "dds_receive_ns",
    "wake_up_ns",
    "executor_wait_ns",
    "take_ns",
    "client_take_ns",
    "callback_ns",
)

Row = dict[str, Any]
Name = tuple[bytes, int]


def name_of(row: Row) -> Name:
    return bytes(row["writer_guid"]), int(row["sequence_number"])


@dataclass
class Raw:
    """What a plain reading of the events tells, in order of time."""

    rows: dict[str, list[Row]]
    sends: dict[Name, list[Row]] = field(default_factory=lambda: defaultdict(list))
    receives: dict[tuple[int, Name], list[Row]] = field(default_factory=lambda: defaultdict(list))
    notified: dict[tuple[int, Name], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert not self.rows.get("dds:send_sample")
        for row in self.rows["dds:send_begin"]:
            self.sends[name_of(row)].append(row)
        for event in ("dds:receive", "dds:receive_sample"):
            for row in self.rows.get(event, []):
                self.receives[row["vpid"], name_of(row)].append(row)
        for row in self.rows["dds:reader_notify"]:
            self.notified.setdefault((row["vpid"], name_of(row)), row["timestamp"])

    def on_thread(self, event: str, thread: tuple[int, int]) -> list[Row]:
        return [row for row in self.rows[event] if (row["vpid"], row["vtid"]) == thread]

    def next_on(self, event: str, thread: tuple[int, int], at_ns: int) -> Row:
        rows = self.on_thread(event, thread)
        return rows[bisect_left([row["timestamp"] for row in rows], at_ns)]

    def last_on(self, event: str, thread: tuple[int, int], at_ns: int) -> Row:
        rows = self.on_thread(event, thread)
        return rows[bisect_left([row["timestamp"] for row in rows], at_ns) - 1]


@pytest.fixture(params=SAMPLES)
def case(
    request: pytest.FixtureRequest,
    sample: Callable[[str], Path],
    analysis_of: Callable[[str], Analysis],
) -> tuple[Analysis, Raw, int, str]:
    count, transport = SAMPLES[request.param]
    trace = open_trace(sample(request.param))
    origins = trace.decoder.traces.clock_origins(["dds:written", "dds:write_begin"])
    ((_, origin_ns),) = origins
    rows = {name: table.to_pylist() for name, table in trace.tables().items()}
    return analysis_of(request.param), Raw(with_steps(rows, origin_ns)), count, transport


def messages(analysis: Analysis) -> Iterator[tuple[Any, Any, Any]]:
    publications = analysis.publications.set_index("publication_id")
    takes = analysis.takes.set_index("take_id")
    for message in analysis.messages.itertuples():
        yield message, publications.loc[message.publication_id], takes.loc[message.take_id]


def test_every_message_has_every_layer_and_they_add_up(
    case: tuple[Analysis, Raw, int, str],
) -> None:
    analysis, _, count, transport = case
    assert len(analysis.messages) == count
    assert analysis.messages[list(FULL)].notna().all(axis=None)
    layers = analysis.messages[[layer.column for layer in HOP_LAYERS]]
    assert (layers.sum(axis=1) == analysis.messages["latency_ns"]).all()
    assert not (layers < 0).any(axis=None)
    assert set(analysis.messages["transport"]) == {transport}
    assert not analysis.quality["severity"].isin(["loss", "warning"]).any()


def test_guid_and_sequence_number_match_what_the_timestamp_does(
    case: tuple[Analysis, Raw, int, str],
) -> None:
    analysis, _, count, _ = case
    identity = ["writer_gid", "sequence_number"]
    written = analysis.publications.dropna(subset=identity)
    assert not written.duplicated(identity).any()
    read = analysis.takes.dropna(subset=identity)
    pairs = read.merge(written, on=identity)[["publication_id", "take_id"]]
    stamped = analysis.messages[["publication_id", "take_id"]]
    assert (analysis.messages["method"] == "topic+timestamp").all()
    assert len(pairs) == count
    pd.testing.assert_frame_equal(
        pairs.sort_values("take_id", ignore_index=True),
        stamped.sort_values("take_id", ignore_index=True),
    )


def test_checkpoints_are_those_of_a_plain_reading(case: tuple[Analysis, Raw, int, str]) -> None:
    analysis, raw, _, _ = case
    for message, publication, take in messages(analysis):
        writer, reader = (publication.vpid, publication.vtid), (take.vpid, take.vtid)
        name = (bytes.fromhex(publication.writer_gid), publication.sequence_number)
        begin = raw.next_on("dds:serialize_begin", writer, message.rmw_publish_ns)
        end = raw.next_on("dds:serialize_end", writer, begin["timestamp"])
        assert message.serialize_begin_ns == begin["timestamp"]
        assert message.serialize_end_ns == end["timestamp"]
        first_ns = message.sent_ns - message.send_held_ns
        assert first_ns == raw.sends[name][0]["timestamp"]
        assert message.notified_ns == raw.notified[take.vpid, name]
        ended = raw.last_on("dds:deserialize_end", reader, message.rmw_take_ns)
        begun = raw.last_on("dds:deserialize_begin", reader, message.rmw_take_ns)
        assert message.deserialize_ns == ended["timestamp"] - begun["timestamp"]


def test_fragments_and_resends_are_those_of_a_plain_reading(
    case: tuple[Analysis, Raw, int, str],
) -> None:
    analysis, raw, _, transport = case
    recovered_messages = 0
    for message, publication, take in messages(analysis):
        name = (bytes.fromhex(publication.writer_gid), publication.sequence_number)
        sent: dict[int, list[int]] = defaultdict(list)
        for row in raw.sends[name]:
            sent[row["fragment"]].append(row["timestamp"])
        came: dict[int, int] = {}
        for row in raw.receives[take.vpid, name]:
            for number in range(row["fragment"], row["fragment"] + max(row["fragment_count"], 1)):
                came.setdefault(number, row["timestamp"])
        assert set(came) == set(sent)
        # One process only receives: a fragment that came after its second send was recovered by it.
        again = {n for n, ns in came.items() if len(sent[n]) > 1 and ns > sent[n][1]}
        assert message.fragments == len(sent)
        assert message.recovered_fragments == len(again)
        in_time = [ns for number, ns in came.items() if number not in again]
        if in_time:
            assert message.received_ns == max(in_time)
        if again:
            recovered_messages += 1
            assert message.resend_ns == max(came.values()) - message.received_ns
        else:
            assert pd.isna(message.resend_ns)
    counted = analysis.quality.set_index("code")["count"].get("resent_messages", 0)
    assert counted == recovered_messages
    assert (recovered_messages > 0) == (transport == "UDPv4")


def test_the_blame_names_the_resends(analysis_of: Callable[[str], Analysis]) -> None:
    (bottleneck, *_) = analysis_of("dds_jazzy_udp_resends").bottlenecks
    assert bottleneck.layer == "dds receive"
    assert bottleneck.where.startswith("resends of /chain_")
    assert bottleneck.text.startswith("dds receive: resends of /chain_")
