# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages and timelines that a page holds, against the tables that they are made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from made_analysis import Relay, make, with_chains

import strata
from strata.analysis import Analysis
from strata.read.links import read_links
from strata.show.html import render_page
from strata.show.html.analysis import timelines as page_timelines
from strata.show.html.analysis.messages import ChainDocument, chain_messages
from strata.show.html.analysis.timelines import SLOWEST, chosen_messages, embedded_timelines
from strata.timeline import Timelines

LINKS = Path(__file__).parents[1] / "traces" / "ref_multi_full-links.yaml"


@pytest.fixture(scope="module", params=["fast_blocked_st", "cell_relay", "ref_multi_full"])
def analysis(request: pytest.FixtureRequest, sample: Callable[[str], Path]) -> Analysis:
    links = read_links(LINKS) if request.param == "ref_multi_full" else ()
    return strata.analyze(sample(request.param), links=links)


@pytest.fixture(scope="module")
def chains(analysis: Analysis) -> list[ChainDocument]:
    counted = analysis.chains[analysis.chains["count"] > 0]
    return chain_messages(analysis, counted["chain_id"].tolist()[:8])


def instances_of(analysis: Analysis, chain: ChainDocument) -> pd.DataFrame:
    """Return the rows of `chain_instances` of a chain's messages on the page, in their order."""
    own = analysis.chain_instances
    own = own[(own["chain_id"] == chain["id"]) & own["message_id"].isin(chain["message"])]
    return own.sort_values("begin_ns", kind="stable")


def test_every_message_is_there_with_its_times(
    analysis: Analysis, chains: list[ChainDocument]
) -> None:
    for chain in chains:
        own = analysis.chain_instances
        own = own[own["chain_id"] == chain["id"]].sort_values("begin_ns", kind="stable")
        held = chain
        assert held["count"] == len(own)
        assert held["message"] == own["message_id"].tolist()
        assert held["latency"] == own["latency_ns"].tolist()
        assert held["begin"] == (own["begin_ns"] - analysis.trace.begin_ns).tolist()
        latency = own["latency_ns"].to_numpy(np.int64)
        assert held["max"] == latency.max()
        assert held["p50"] == pytest.approx(np.quantile(latency, 0.5), abs=1)


def test_the_durations_of_a_message_add_up_to_its_latency(chains: list[ChainDocument]) -> None:
    for chain in chains:
        held = chain
        assert len(held["durations"]) == len(held["columns"])
        sums = np.sum(held["durations"], axis=0)
        assert sums.tolist() == held["latency"]


def test_durations_are_those_of_the_segments(
    analysis: Analysis, chains: list[ChainDocument]
) -> None:
    for chain in chains:
        segments = analysis.chain_segments
        segments = segments[segments["chain_id"] == chain["id"]]
        sums = segments.groupby(["chain_instance_id", "hop", "layer"], observed=True)[
            "duration_ns"
        ].sum()
        ids = instances_of(analysis, chain)["chain_instance_id"]
        for (hop, layer, _), durations in zip(chain["columns"], chain["durations"], strict=True):
            expected = sums.xs((hop, layer), level=("hop", "layer")).reindex(ids, fill_value=0)
            assert durations == expected.tolist()
        columns = [(hop, layer) for hop, layer, _ in chain["columns"]]
        positions = segments.groupby(["hop", "layer"], observed=True)["position"].min()
        assert columns == sorted(columns, key=lambda key: (key[0], positions[key]))
        assert set(columns) == set(positions.index)


def test_the_largest_layer_is_the_one_that_took_the_most(
    analysis: Analysis, chains: list[ChainDocument]
) -> None:
    for chain in chains:
        segments = analysis.chain_segments
        segments = segments[segments["chain_id"] == chain["id"]]
        sums = segments.groupby(["chain_instance_id", "layer"], observed=True)["duration_ns"].sum()
        most = sums.groupby("chain_instance_id").max()
        ids = instances_of(analysis, chain)["chain_instance_id"]
        for instance, at in zip(ids, chain["largest"], strict=True):
            assert sums[instance, chain["layers"][at]] == most[instance]


def test_histograms_count_all_messages_once(chains: list[ChainDocument]) -> None:
    for chain in chains:
        edges, counts = chain["histogram"]["edges"], chain["histogram"]["counts"]
        assert len(edges) == len(counts) + 1
        assert sorted(set(edges)) == edges
        latency = np.array(chain["latency"])
        inside = [int(((latency >= a) & (latency < b)).sum()) for a, b in pairwise(edges)]
        assert counts == inside
        assert sum(counts) == chain["count"]


def test_causes_are_those_of_the_blame_and_one_for_each_message(
    analysis: Analysis, chains: list[ChainDocument]
) -> None:
    for chain in chains:
        causes = chain["causes"]
        blame = analysis.blame[analysis.blame["chain_id"] == chain["id"]]
        shares = set(zip(blame["layer"], blame["share_p50"], blame["share_p99"], strict=True))
        for cause in causes:
            if cause["typical"] is not None:
                assert (cause["layer"], cause["typical"], cause["slowest"]) in shares
        assert all(0 <= at < len(causes) for at in chain["cause"])
        assert len(chain["cause"]) == len(chain["message"])


def test_the_blocked_messages_have_the_blocker_for_their_cause() -> None:
    (chain,) = chain_messages(make(Relay(messages=300, blocked_ns=50_000_000)), [0])
    named = [f"{cause['layer']} {cause['where']}" for cause in chain["causes"]]
    blocked = [at for at, cause in enumerate(chain["cause"]) if "blocker" in named[cause]]
    assert blocked == list(range(0, 300, 10))


def test_of_a_long_chain_the_extremes_are_there_and_what_is_asked_for() -> None:
    analysis = make(Relay(hops=1, messages=30_000))
    own = analysis.chain_instances
    (chain,) = chain_messages(analysis, [0], own["chain_instance_id"].tolist()[700:800])
    held = chain
    assert held["count"] == 30_000 > len(held["message"])
    assert sum(held["histogram"]["counts"]) == 30_000
    assert set(own["message_id"].iloc[700:800]) <= set(held["message"])
    assert min(held["latency"]) == own["latency_ns"].min()
    assert max(held["latency"]) == own["latency_ns"].max()


@pytest.mark.parametrize(("hops", "count"), [(2, 2), (14, 2), (14, 60)])
def test_messages_have_a_bound_on_their_bytes(hops: int, count: int) -> None:
    analysis = with_chains(make(Relay(hops=hops, messages=900 if count < 9 else 90)), count)
    found = chain_messages(analysis, list(range(count)))
    size = sum(len(json.dumps(chain, separators=(",", ":"))) for chain in found)
    assert size < 4_000_000
    assert all(len(chain["message"]) >= 40 for chain in found)


def test_a_page_of_many_long_chains_has_a_bound_on_its_bytes() -> None:
    analysis = with_chains(make(Relay(hops=14, messages=150)), 100)
    assert len(analysis.chain_instances) == 15_000
    assert len(render_page(analysis, title="made").encode()) <= 10_000_000


def decoded(document: dict[str, Any], key: str) -> pd.DataFrame:
    """The spans of a timeline as the page's scripts read them, after the first publish."""
    texts, given = document["strings"], document["of"][key]
    rows, end = [], 0
    for lane, duration, kind, label, layer, _, *more in given["own"]:
        rows.append((lane, end, end + duration, texts[kind], texts[label], texts[layer], more, 0))
        end += duration
    for lane, begin, duration, kind, label, *more in given["other"]:
        begin -= given["publish"]
        waited = more[1] if len(more) > 1 else 0
        rows.append((lane, begin, begin + duration, texts[kind], texts[label], None, more, waited))
    names = ["lane", "begin_ns", "end_ns", "kind", "label", "layer", "more", "waited_ns"]
    frame = pd.DataFrame(rows, columns=names)
    flags = [more[0] if more else 0 for more in frame["more"]]
    return frame.assign(
        own=frame["layer"].notna(),
        placed=[bool(one & 1) for one in flags],
        unsynchronised=[bool(one & 2) for one in flags],
        unfinished=[bool(one & 4) for one in flags],
    ).drop(columns="more")


def test_the_document_is_the_timelines(analysis: Analysis, chains: list[ChainDocument]) -> None:
    chosen = chosen_messages(analysis, [chain["id"] for chain in chains[:2]])
    document = json.loads(json.dumps(embedded_timelines(analysis, chosen)))
    assert document["left_out"] == 0
    timelines = Timelines(analysis, most_other=50)
    latency = analysis.chain_instances.set_index("chain_instance_id")["latency_ns"]
    every = [one for own in chosen.values() for one in own]
    assert document["of"].keys() == {f"{one.chain_id}:{one.message_id}" for one in every}
    for one in every[:: max(len(every) // 60, 1)]:
        key = f"{one.chain_id}:{one.message_id}"
        held, timeline = document["of"][key], timelines.of_instance(one.chain_instance_id)
        spans, expected = decoded(document, key), timeline.frame()
        expected["begin_ns"] -= timeline.begin_ns
        expected["end_ns"] -= timeline.begin_ns
        for column in spans:
            theirs = expected[column].astype(object).where(expected[column].notna(), None)
            ours = spans[column].astype(object).where(spans[column].notna(), None)
            assert ours.tolist() == theirs.tolist(), column
        own = spans[spans["own"]]
        assert (own["end_ns"] - own["begin_ns"]).sum() == held["latency"]
        assert held["latency"] == latency[one.chain_instance_id]
        texts = document["strings"]
        assert [texts[lane[1]] for lane in held["lanes"]] == [lane.role for lane in timeline.lanes]
        assert [texts[at] for at in held["why"]] == [reason.text for reason in one.reasons]
        assert {str(texts.index(layer)) for layer in own["layer"]} <= document["slugs"].keys()


def test_what_has_a_timeline_is_among_the_messages_of_the_page(analysis: Analysis) -> None:
    counted = analysis.chains.loc[analysis.chains["count"] > 0, "chain_id"].tolist()[:8]
    chosen = chosen_messages(analysis, counted)
    always = [one.chain_instance_id for own in chosen.values() for one in own]
    for chain in chain_messages(analysis, counted, always):
        own = chosen[chain["id"]]
        assert {one.message_id for one in own} <= set(chain["message"])
        held = instances_of(analysis, chain)
        settled = held[~held["start_up"]]
        slowest = np.sort(settled["latency_ns"])[::-1][:SLOWEST]
        held = sorted((one.latency_ns for one in own), reverse=True)
        assert set(slowest.tolist()) <= set(held)


def test_timelines_have_a_bound_on_their_bytes(
    analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = analysis.chains.loc[analysis.chains["count"] > 0, "chain_id"].tolist()[:8]
    chosen = chosen_messages(analysis, counted)
    asked = sum(map(len, chosen.values()))
    whole = embedded_timelines(analysis, chosen)
    size = len(json.dumps(whole, separators=(",", ":")))
    assert size <= page_timelines.MOST_BYTES + 100_000
    assert len(whole["of"]) + whole["left_out"] == asked
    assert whole["left_out"] == 0 or size > 0.9 * page_timelines.MOST_BYTES
    monkeypatch.setattr(page_timelines, "MOST_BYTES", 20_000)
    short = embedded_timelines(analysis, chosen)
    assert 20_000 < len(json.dumps(short, separators=(",", ":"))) < 60_000
    assert len(short["of"]) + short["left_out"] == asked
    first = chosen[counted[0]][0]
    assert f"{first.chain_id}:{first.message_id}" in short["of"], "the slowest come first"
