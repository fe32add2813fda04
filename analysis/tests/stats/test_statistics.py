# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import statistics
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scene import Scene

from strata.analysis import Analysis
from strata.layers.chains import find_chains, find_ways
from strata.layers.endpoint_names import endpoint_names
from strata.layers.frames import links_rows, messages_rows
from strata.layers.links import link_messages
from strata.layers.readiness import find_readiness
from strata.layers.transfers import cut_layers
from strata.schema.columns import STATISTICS
from strata.schema.layers import BY_NAME
from strata.schema.rows import Coded, Rows
from strata.schema.tables import (
    EXECUTOR_BLOCKERS,
    HOPS,
    MODES,
)
from strata.stats.blame import blame_table
from strata.stats.bottleneck import find_bottlenecks
from strata.stats.causes import Evidence
from strata.stats.chain_facts import chain_facts
from strata.stats.chains import chain_tables
from strata.stats.layer_places import LayerPlaces
from strata.stats.layer_totals import layer_totals
from strata.stats.summary import summarize


def test_no_values_have_a_count_only() -> None:
    summary = summarize(np.empty(0, np.int64))
    assert list(summary) == list(STATISTICS)
    assert summary["count"] == 0
    assert all(value is None for name, value in summary.items() if name != "count")


def test_one_value_has_no_deviation_of_a_sample() -> None:
    summary = summarize(np.asarray([7]))
    assert (summary["min"], summary["p99"], summary["max"], summary["mad"]) == (7, 7, 7, 0)
    assert summary["std"] is None


def test_quantiles_are_interpolated_linearly_and_mad_is_unscaled() -> None:
    summary = summarize(np.asarray([10, 20, 30, 40]))
    assert summary["p50"] == 25
    assert summary["p90"] == pytest.approx(37)
    assert summary["mad"] == 10


@given(st.lists(st.integers(0, 10**12), min_size=2))
def test_statistics_are_those_of_the_standard_library(values: list[int]) -> None:
    summary = summarize(np.asarray(values, np.int64))
    assert summary["mean"] == pytest.approx(statistics.fmean(values))
    assert summary["std"] == pytest.approx(statistics.stdev(values), abs=1e-3)
    assert summary["p50"] == pytest.approx(statistics.median(values))
    assert (summary["min"], summary["max"]) == (min(values), max(values))


@pytest.mark.parametrize("name", ["fast_relay1p_st", "fast_blocked_st", "fast_relay1p_events"])
def test_shares_of_each_band_and_of_each_chain_add_up_to_one(
    analysis_of: Callable[[str], Analysis], name: str
) -> None:
    analysis = analysis_of(name)
    for chain_id, blame in analysis.blame.groupby("chain_id"):
        assert blame["share_p50"].sum() == pytest.approx(1)
        assert blame["share_p99"].sum() == pytest.approx(1)
        layers = analysis.chain_layers[analysis.chain_layers["chain_id"] == chain_id]
        assert layers["share"].sum() == pytest.approx(1)
    assert not (analysis.blame[["typical_ns", "tail_ns"]] < 0).any(axis=None)


def test_means_of_layer_totals_add_up_to_the_mean_latency(
    analysis_of: Callable[[str], Analysis],
) -> None:
    analysis = analysis_of("fast_relay1p_st")
    chain = analysis.chains.iloc[0]
    totals = layer_totals(analysis.rows("chain_instances"), analysis.rows("chain_segments"))
    rows = totals[chain["chain_id"]]
    assert sum(row["mean"] for row in rows) == pytest.approx(chain["latency_mean_ns"])
    assert [row["layer"] for row in rows] == [
        "client publish",
        "middleware",
        "executor wait",
        "take",
        "client take",
        "hold",
        "callback",
    ]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_a_chain_of_few_messages_has_its_blame(count: int) -> None:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=2, symbol="on_t")
    for number in range(count):
        at = 1000 * (number + 1)
        made.play(
            f"""
            {at - 2} 1.1 rcl_publish /t
            {at} 1.1 rmw_publish /t {at}
            {at + 100 + number} 2.2 rmw_take on_t {at}
            {at + 110 + number} 2.2 callback_start on_t
            {at + 200 + number} 2.2 callback_end on_t
            """
        )
    model = made.model()
    transfers, _ = cut_layers(model)
    links = link_messages(model, transfers, ())
    names = endpoint_names(model, transfers)
    rows = messages_rows(model, transfers, names, links, find_readiness(model, transfers))
    places = LayerPlaces.of_texts({name: ["place"] * len(rows) for name in BY_NAME})
    ways, _ = find_ways(names.hop, links)
    chains, _ = find_chains(ways, {0})
    made_tables = chain_tables(chains, rows, links_rows(links), places)
    of_chains, instances, segments = (
        made_tables.chains,
        made_tables.instances,
        made_tables.segments,
    )
    evidence = Evidence(places, rows, Rows.none(EXECUTOR_BLOCKERS), Coded.of([]))
    blame = blame_table(instances, segments, evidence)
    assert blame["share_p50"].sum() == pytest.approx(1)
    assert blame["share_p99"].sum() == pytest.approx(1)
    facts = chain_facts(of_chains, instances, segments, rows, Rows.none(HOPS))
    (bottleneck,) = find_bottlenecks(of_chains, blame, Rows.none(MODES), facts)
    assert bottleneck.layer == "middleware + executor wait + take"
