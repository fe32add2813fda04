# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A real relay chain, recorded, analyzed, and held against what its nodes wrote down."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from chain_truth import CHAIN, NODES, check_sums, mean_of, the_bottleneck, truth
from recorder import Recorder
from starved import chain_waits, largest

from strata.analysis import Analysis
from strata.stats.groups import TAIL, TYPICAL

pytestmark = pytest.mark.live


def of_chain(analysis: Analysis) -> tuple[pd.Series, pd.DataFrame]:
    chain = analysis.chains.iloc[0]
    assert chain["name"] == CHAIN
    assert chain["nodes"] == NODES
    own = analysis.chain_instances["chain_id"] == chain["chain_id"]
    return chain, analysis.chain_instances[own]


@pytest.mark.parametrize("processes", ["each", "one"])
def test_every_message_is_matched_and_agrees_with_the_nodes_own_stamps(
    recorded: Recorder, processes: str
) -> None:
    session, analysis = recorded("--messages", "300", "--processes", processes)
    _, instances = of_chain(analysis)
    check_sums(analysis)
    logged = truth(session, "sink", "cb_start")
    assert len(logged) == len(instances) == 300
    chain_hops = analysis.hops[analysis.hops["topic"].str.startswith("/chain_")]
    assert chain_hops["count"].tolist() == [300] * 4
    assert not analysis.quality["severity"].isin(["loss", "warning"]).any()

    last = analysis.messages.loc[instances["message_id"]]
    traced = (last["callback_start_ns"].to_numpy() - instances["begin_ns"].to_numpy()).astype(int)
    own = (logged["t_mono_ns"] - logged["src_mono_ns"]).to_numpy(np.int64)
    # The source stamps before it calls publish(), the sink at the first line of its callback, which
    # callback_start comes before.
    assert abs(np.median(own - traced)) < 100_000
    assert np.median(own - traced) > 0
    # All layers of every message are there.
    assert analysis.messages.loc[instances["message_id"], "complete"].all()
    names = set(analysis.chain_layers.loc[analysis.chain_layers["chain_id"] == 0, "layer"])
    assert names == {
        "client publish",
        "middleware",
        "executor wait",
        "take",
        "client take",
        "hold",
        "callback",
    }


def test_callbacks_have_their_names_counts_and_durations(recorded: Recorder) -> None:
    session, analysis = recorded("--messages", "100", "--work", "relay_2=1")
    callbacks = analysis.callbacks.set_index(["node", "trigger"])
    for node, topic in [("relay_0", "/chain_0"), ("relay_1", "/chain_1"), ("relay_2", "/chain_2")]:
        row = callbacks.loc[(f"/{node}", topic)]
        assert row["symbol"] == "relay_chain.nodes.Relay.on_message"
        assert row["count"] == 100
        entered = truth(session, node, "cb_start")["t_mono_ns"]
        left = truth(session, node, "cb_end")["t_mono_ns"]
        # The traced interval surrounds the node's own, whose last stamp comes before its log rows.
        difference = row["duration_p50_ns"] - np.median(left - entered)
        assert 0 < difference < 200_000
    assert callbacks.loc[("/sink", "/chain_3"), "symbol"] == "relay_chain.nodes.Sink.on_message"
    timer = callbacks.loc[("/source", "10.0 ms")]
    assert timer["symbol"] == "relay_chain.nodes.Source.on_timer"
    assert 9.5e6 < timer["period_p50_ns"] < 10.5e6


def test_planted_work_is_named_with_its_node_and_duration(recorded: Recorder) -> None:
    session, analysis = recorded("--messages", "150", "--rate", "50", "--work", "relay_1=5")
    check_sums(analysis)
    where = "relay_chain.nodes.Relay.on_message [/chain_1] (/relay_1)"
    held_ns = largest(session, analysis, CHAIN, "hold", where)
    bottleneck = the_bottleneck(analysis, CHAIN)
    latency_ns = bottleneck.typical_ns / bottleneck.share_p50
    waited_ns = chain_waits(session, analysis, CHAIN, TYPICAL)
    assert held_ns > 0.5 * (latency_ns - waited_ns)
    entered = truth(session, "relay_1", "cb_start")["t_mono_ns"]
    sent = truth(session, "relay_1", "publish")["t_mono_ns"]
    # Of the nodes' own stamps: on a busy machine 5 ms of work take longer.
    planted = mean_of(analysis, CHAIN, TYPICAL, sent - entered)
    assert held_ns == pytest.approx(planted, rel=0.1)
    hop = analysis.chain_layers[
        (analysis.chain_layers["layer"] == "hold")
        & analysis.chain_layers["where"].str.contains("/relay_1", regex=False)
    ].iloc[0]
    assert abs(hop["p50_ns"] - np.median(sent - entered)) < 100_000


def test_a_blocking_subscription_is_named_as_what_the_executor_waited_for(
    recorded: Recorder,
) -> None:
    session, analysis = recorded("--messages", "400", "--rate", "100", "--block", "relay_1=60@4")
    check_sums(analysis)
    blocker = "behind relay_chain.node.ChainNode.on_slow [/slow] (/relay_1)"
    waited_ns = largest(session, analysis, CHAIN, "executor wait", blocker, TAIL)
    # What blocks takes longer itself where it waits for a CPU.
    slow = analysis.callbacks.set_index("symbol").loc["relay_chain.node.ChainNode.on_slow"]
    assert 30e6 < waited_ns < 66e6 + (slow["duration_max_ns"] - 60e6)
    if chain_waits(session, analysis, CHAIN, TAIL) < 0.05 * waited_ns:
        assert blocker in the_bottleneck(analysis, CHAIN).text


def test_a_multi_threaded_executor_is_analyzed(recorded: Recorder) -> None:
    _, analysis = recorded("--messages", "60", "--rate", "20", "--executor", "multi")
    chain, instances = of_chain(analysis)
    check_sums(analysis)
    assert chain["count"] == len(instances) == 60
