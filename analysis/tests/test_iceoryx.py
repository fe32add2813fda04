# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A recorded relay chain over Cyclone DDS and iceoryx, against the nodes' own stamps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from strata.analysis import Analysis
from strata.read import open_trace
from strata.schema.layers import HOP_LAYERS

NAME = "cyc_iceoryx"
HOPS = [("source", "relay_0"), ("relay_0", "relay_1"), ("relay_1", "relay_2"), ("relay_2", "sink")]


def stamps(directory: Path, node: str, event: str, until_ns: int) -> list[int]:
    """A node's own times of an event in the order of messages, by the trace's clock."""
    rows = pd.read_csv(directory / "truth" / f"{node}.csv")
    (offset,) = set(open_trace(directory).clock_offsets_ns.values())
    times = rows[rows["event"] == event].sort_values("seq")["t_mono_ns"] + offset
    return [int(ns) for ns in times if ns < until_ns]


def test_messages_without_sequence_numbers_have_the_layers_that_their_events_part(
    analysis_of: Callable[[str], Analysis], sample: Callable[[str], Path]
) -> None:
    analysis, directory = analysis_of(NAME), sample(NAME)
    tables = open_trace(directory).tables()
    until_ns = max(int(table["timestamp"][-1].as_py()) for table in tables.values())
    layers = [layer.column for layer in HOP_LAYERS if layer.column in analysis.messages]
    for number, (publisher, reader) in enumerate(HOPS):
        own = analysis.messages[analysis.messages["topic"] == f"/chain_{number}"]
        own = own.sort_values("begin_ns")
        began = stamps(directory, reader, "cb_start", until_ns)
        assert len(own) == len(began) > 50
        assert (own[layers].sum(axis=1) == own["latency_ns"]).all()
        # The nodes stamp just before they publish, and just after their callback began.
        published = stamps(directory, publisher, "publish", until_ns)[: len(own)]
        for column, ours in (("publish_ns", published), ("callback_start_ns", began)):
            assert (own[column] - ours).abs().median() < 20_000
        cut = ("serialize_dds_write_transport_ns", "dds_receive_ns", "wake_up_ns")
        assert own[[*cut]].notna().all(axis=None)
        assert (own["dds_receive_ns"] < own["latency_ns"]).all()
        assert own["middleware_ns"].isna().all()
        assert (own["transport"] == "iceoryx").all()
    hops = analysis.hops[analysis.hops["topic"].str.startswith("/chain_")]
    assert hops["lost"].tolist() == [0, 0, 0, 0]
    codes = dict(zip(analysis.quality["code"], analysis.quality["count"], strict=True))
    assert "messages_without_notification" not in codes
    assert "disordered_dds_checkpoints" not in codes


def test_no_number_is_told_where_there_is_none(analysis_of: Callable[[str], Analysis]) -> None:
    analysis = analysis_of(NAME)
    chain = analysis.messages[analysis.messages["topic"].str.startswith("/chain_")]
    takes = analysis.takes[analysis.takes["rmw_take_ns"].isin(chain["rmw_take_ns"])]
    assert len(takes) == len(chain)
    assert takes["writer_gid"].notna().all()
    assert takes["sequence_number"].isna().all()
