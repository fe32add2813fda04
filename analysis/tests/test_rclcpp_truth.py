# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Analyses of real rclcpp traces against what the nodes themselves wrote down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from strata.analysis import Analysis
from strata.read import open_trace

CHAIN = "/chain_0 -> /chain_1 -> /chain_2 -> /chain_3"

AnalysisOf = Callable[[str], Analysis]
Sample = Callable[[str], Path]


def truth(directory: Path, node: str, event: str) -> pd.DataFrame:
    """A node's own stamps of an event by sequence number, as instants of the trace's clock."""
    rows = pd.read_csv(directory / "truth" / f"{node}.csv")
    (offset,) = set(open_trace(directory).clock_offsets_ns.values())
    rows = rows[rows["event"] == event].set_index("seq").sort_index()
    return rows[["t_mono_ns", "src_mono_ns"]] + offset


@pytest.mark.parametrize(
    ("name", "published", "matched"),
    [
        ("fast_relay1p_st", 8030, 8085),
        ("fast_relaymp_st", 8030, 8025),
        ("fast_relay1p_events", 8030, 8085),
        ("fast_relay1p_mt_lossy", 4029, 4068),
        ("fast_blocked_st", 617, 611),
    ],
)
def test_every_take_is_matched(
    analysis_of: AnalysisOf, name: str, published: int, matched: int
) -> None:
    counts = analysis_of(name).counts
    assert (counts.published, counts.matched) == (published, matched)
    assert counts.taken == counts.matched + counts.unmatched_take
    assert counts.ambiguous == 0
    assert len(analysis_of(name).messages) == matched


@pytest.mark.parametrize("name", ["fast_relay1p_st", "fast_relaymp_st"])
def test_the_chain_is_found_with_its_hops_nodes_and_callbacks(
    analysis_of: AnalysisOf, name: str
) -> None:
    analysis = analysis_of(name)
    chain = analysis.chains.iloc[0]
    assert chain["name"] == CHAIN
    assert chain["nodes"] == "/source -> /relay_0 -> /relay_1 -> /relay_2 -> /sink"
    assert chain["count"] == 2000
    hops = analysis.hops[analysis.hops["topic"].str.startswith("/chain_")]
    assert hops["count"].tolist() == [2000] * 4
    assert hops["subscription_node"].tolist() == ["/relay_0", "/relay_1", "/relay_2", "/sink"]
    callbacks = analysis.callbacks[analysis.callbacks["trigger"].isin(hops["topic"])]
    assert callbacks["count"].tolist() == [2000] * 4
    assert callbacks["symbol"].str.contains("Relay<").all()
    timer = analysis.callbacks[analysis.callbacks["trigger"] == "10.0 ms"].iloc[0]
    assert timer["node"] == "/source"
    assert timer["count"] == 2001
    assert 9.99e6 < timer["period_p50_ns"] < 10.01e6


@pytest.mark.parametrize("name", ["fast_relay1p_st", "fast_relaymp_st", "fast_relay1p_events"])
def test_chain_latency_agrees_with_the_nodes_own_stamps(
    analysis_of: AnalysisOf, sample: Sample, name: str
) -> None:
    analysis = analysis_of(name)
    instances = analysis.chain_instances[analysis.chain_instances["chain_id"] == 0]
    last = analysis.messages.loc[instances["message_id"]]
    started = last["callback_start_ns"].to_numpy(np.int64)
    begun = instances["begin_ns"].to_numpy(np.int64)

    stamps = truth(sample(name), "sink", "cb_start")
    assert len(stamps) == len(instances)
    # The source stamps just before its publish, the sink at the first line of its callback.
    entered = stamps["t_mono_ns"].to_numpy(np.int64) - started
    sent = begun - stamps["src_mono_ns"].to_numpy(np.int64)
    assert 0 < np.median(entered) < 2_000
    assert 0 < np.median(sent) < 10_000
    own = (stamps["t_mono_ns"] - stamps["src_mono_ns"]).to_numpy(np.int64)
    assert abs(np.median(own - (started - begun))) < 10_000


@pytest.mark.parametrize("name", ["fast_relay1p_st", "fast_relaymp_st"])
def test_hold_agrees_with_the_relays_own_stamps(
    analysis_of: AnalysisOf, sample: Sample, name: str
) -> None:
    messages = analysis_of(name).messages
    for index in range(3):
        entered = truth(sample(name), f"relay_{index}", "cb_start")["t_mono_ns"]
        sent = truth(sample(name), f"relay_{index}", "pub_before")["t_mono_ns"]
        own = (sent - entered).to_numpy(np.int64)
        held = messages[messages["topic"] == f"/chain_{index + 1}"]["hold_ns"]
        assert held.notna().all()
        assert 0 < np.median(held.to_numpy(np.int64) - own) < 5_000


def test_a_blocking_callback_is_named_by_its_topic(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_blocked_st")
    fast = analysis.chains[analysis.chains["name"] == "/fast"].iloc[0]
    blame = analysis.blame[analysis.blame["chain_id"] == fast["chain_id"]]
    worst = blame.loc[blame["share_p99"].idxmax()]
    assert worst["layer"] == "executor wait"
    assert worst["where"].startswith("behind main::")
    assert worst["where"].endswith("[/slow] (/subs)")
    assert worst["share_p99"] > 0.9
    assert 28e6 < worst["tail_ns"] < 31e6
    (bottleneck,) = (b for b in analysis.bottlenecks if b.chain == "/fast")
    assert "executor wait behind main::{lambda#1}" in bottleneck.text


def test_callbacks_that_throw_have_no_end(analysis_of: AnalysisOf, sample: Sample) -> None:
    analysis = analysis_of("fast_throws")
    rows = pd.read_csv(sample("fast_throws") / "truth/throws.csv")
    thrown = sum(rows[rows["event"] == "cb_start"]["seq"] % 10 == 9)
    counts = dict(zip(analysis.quality["code"], analysis.quality["count"], strict=True))
    assert counts["callbacks_without_end"] == thrown == 40
    callback = analysis.callbacks[analysis.callbacks["trigger"] == "/fast"].iloc[0]
    assert callback["count"] - callback["duration_count"] == thrown


def test_a_trace_that_began_late_is_analyzed_without_names(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_relay1p_st_latestart")
    counts = dict(zip(analysis.quality["code"], analysis.quality["count"], strict=True))
    assert counts["no_init_events"] == 1
    assert counts["inferred_matches"] == analysis.counts.matched == 2468
    assert set(analysis.messages["method"]) == {"timestamp"}
    chain = analysis.chains.iloc[0]
    assert chain["hop_count"] == 4
    assert chain["count"] == 617
    assert analysis.nodes.empty


def test_discarded_events_are_told(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_relay1p_mt_lossy")
    assert analysis.trace.discarded_events == 25631
    worst = analysis.quality.iloc[0]
    assert (worst["code"], worst["severity"], worst["count"]) == ("discarded_events", "loss", 25631)
