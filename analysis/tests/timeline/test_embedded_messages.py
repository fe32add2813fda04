# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that a page embeds: whatever is clicked leads to one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import pytest

from strata.analysis import Analysis
from strata.errors import TraceError
from strata.timeline import EmbeddedMessage, Embedding, embedded_messages

AnalysisOf = Callable[[str], Analysis]


def of(messages: tuple[EmbeddedMessage, ...], kind: str) -> list[EmbeddedMessage]:
    return [one for one in messages if any(reason.kind == kind for reason in one.reasons)]


@pytest.fixture
def relay(analysis_of: AnalysisOf) -> Analysis:
    return analysis_of("fast_relay1p_overload")


def test_the_slowest_and_a_sample_by_quantile(relay: Analysis) -> None:
    found = embedded_messages(relay, 0, slowest=5, sample=11)
    instances = relay.chain_instances.query("chain_id == 0")
    settled = instances[~instances["start_up"]].sort_values("latency_ns", kind="stable")
    slowest = of(found, "slowest")
    assert [one.latency_ns for one in slowest] == settled["latency_ns"].tolist()[:-6:-1]
    sample = of(found, "quantile")
    assert len(sample) == 11
    quantiles = [
        reason.quantile for one in sample for reason in one.reasons if reason.kind == "quantile"
    ]
    assert quantiles == pytest.approx(np.linspace(1, 0, 11))
    exact = settled["latency_ns"].quantile(quantiles, interpolation="lower")
    assert [one.latency_ns for one in sample] == exact.tolist()
    assert any(reason.text == "the median" for one in sample for reason in one.reasons)


def test_an_even_sample_has_the_median_too(relay: Analysis) -> None:
    texts = [
        reason.text
        for one in embedded_messages(relay, 0, slowest=0, sample=4)
        for reason in one.reasons
        if reason.kind == "quantile"
    ]
    assert len(texts) == 5
    assert "the median" in texts


def test_messages_are_by_rank_and_each_is_there_once(relay: Analysis) -> None:
    found = embedded_messages(relay, 0, slowest=10, sample=21, moments=8)
    ids = [one.chain_instance_id for one in found]
    assert len(set(ids)) == len(ids)
    assert [one.rank for one in found] == sorted(one.rank for one in found)
    latency = relay.chain_instances.set_index("chain_instance_id")["latency_ns"]
    assert [one.latency_ns for one in found] == latency[ids].tolist()
    count = (relay.chain_instances["chain_id"] == 0).sum()
    for one in found:
        assert one.quantile == pytest.approx(1 - (one.rank - 1) / (count - 1))
    assert found[0].rank == 1


def test_every_layer_has_the_message_in_which_it_takes_longest(relay: Analysis) -> None:
    found = embedded_messages(relay, 0, slowest=1, sample=3)
    segments = relay.chain_segments.query("chain_id == 0")
    starts = relay.chain_instances.set_index("chain_instance_id")["start_up"]
    segments = segments[~segments["chain_instance_id"].map(starts)]
    longest = segments.groupby(["hop", "layer"], observed=True)["duration_ns"].max()
    reasons = {
        (reason.hop, reason.layer): reason.duration_ns
        for one in found
        for reason in one.reasons
        if reason.kind == "layer"
    }
    assert reasons == longest[longest > 0].to_dict()
    for one in found:
        own = segments[segments["chain_instance_id"] == one.chain_instance_id]
        for reason in one.reasons:
            if reason.kind == "layer":
                same = (own["hop"] == reason.hop) & (own["layer"] == reason.layer)
                assert own.loc[same, "duration_ns"].tolist() == [reason.duration_ns]


@pytest.mark.parametrize("name", ["fast_relay1p_overload", "fast_blocked_st", "driver_polled"])
def test_every_cause_of_the_blame_has_a_message(analysis_of: AnalysisOf, name: str) -> None:
    analysis = analysis_of(name)
    embedding = Embedding(analysis)
    for chain_id in analysis.chains["chain_id"].tolist():
        found = embedding.of(chain_id, slowest=1, sample=1)
        blame = analysis.blame.query("chain_id == @chain_id").copy()
        share = blame[["share_p50", "share_p99"]].max(axis=1)
        blame = blame.loc[share.sort_values(ascending=False, kind="stable").index].head(20)
        blame = blame[blame[["share_p50", "share_p99"]].max(axis=1) > 0]
        causes = {
            (reason.layer, reason.where)
            for one in found
            for reason in one.reasons
            if reason.kind == "cause"
        }
        assert causes >= set(zip(blame["layer"], blame["where"], strict=True))


def test_the_cause_of_the_blocked_message_is_the_callback_that_blocks(
    analysis_of: AnalysisOf,
) -> None:
    analysis = analysis_of("fast_blocked_st")
    (chain_id,) = analysis.chains.loc[analysis.chains["name"] == "/fast", "chain_id"]
    found = embedded_messages(analysis, int(chain_id), slowest=1, sample=3)
    blocked = [
        (one, reason)
        for one in found
        for reason in one.reasons
        if reason.kind == "cause"
        and str(reason.where).startswith("behind")
        and "/slow" in str(reason.where)
    ]
    assert blocked
    one, reason = max(blocked, key=lambda item: item[1].duration_ns or 0)
    blockers = analysis.executor_blockers
    own = blockers[(blockers["message_id"] == one.message_id) & (blockers["work"] == "callback")]
    assert own["duration_ns"].max() == reason.duration_ns


def test_every_bar_that_holds_messages_has_one(relay: Analysis) -> None:
    latency = relay.chain_instances.query("chain_id == 0")["latency_ns"].to_numpy()
    counts, edges = np.histogram(latency, bins=40)
    found = embedded_messages(relay, 0, slowest=0, sample=0, edges_ns=edges.tolist())
    bars = {
        reason.bar: one.latency_ns
        for one in found
        for reason in one.reasons
        if reason.kind == "bar"
    }
    assert sorted(bars) == np.flatnonzero(counts).tolist()
    for bar, ns in bars.items():
        assert edges[bar] <= ns <= edges[bar + 1]


def test_every_stretch_of_time_has_its_slowest(relay: Analysis) -> None:
    own = relay.chain_instances.query("chain_id == 0")
    span_ns = own["begin_ns"].max() - own["begin_ns"].min() + 1
    stretch = (own["begin_ns"] - own["begin_ns"].min()) * 10 // span_ns
    expected = own.groupby(stretch)["latency_ns"].max().to_dict()
    found = embedded_messages(relay, 0, slowest=0, sample=0, moments=10)
    slowest = {
        reason.bar: one.latency_ns
        for one in found
        for reason in one.reasons
        if reason.kind == "moment"
    }
    assert slowest == expected


def test_the_choice_is_the_same_each_time(relay: Analysis) -> None:
    first, second = (
        embedded_messages(relay, 0, slowest=20, sample=21, moments=5) for _ in range(2)
    )
    assert [asdict(one) for one in first] == [asdict(one) for one in second]


def test_a_chain_that_is_not_there_is_refused(relay: Analysis) -> None:
    with pytest.raises(TraceError, match="Cannot choose messages of chain 99: the trace has"):
        embedded_messages(relay, 99, slowest=1, sample=1)
