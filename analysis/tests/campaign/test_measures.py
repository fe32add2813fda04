# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Measures of a campaign as long frames, against the same told otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from measured_campaign import LIDAR, RELAY, make_campaign

from strata.campaign.file_checks import told_apart_by
from strata.campaign.model import MEASURES as NAMES
from strata.errors import CampaignError
from strata.study.campaign_results import Results
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import MEASURES

WARM_UP = 5
QOS = "qos/reliable+volatile"
CHAINS = "chains/100.0+single"


@pytest.fixture(scope="module")
def relay(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two of four cells of one study, one of four of the other."""
    session = sample("cell_relay")
    place = tmp_path_factory.mktemp("relay")
    sessions = {QOS: session, "qos/best_effort+volatile": session, CHAINS: session}
    return make_campaign(place, RELAY, sessions)


@pytest.fixture(scope="module")
def lidar(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Results:
    """One of two cells."""
    sessions = {"test_cases/tc2": sample("cell_lidar")}
    return make_campaign(tmp_path_factory.mktemp("lidar"), LIDAR, sessions)


def stamps(results: Results) -> pd.DataFrame:
    cell = results.outcomes[0].cell
    outcome = next(one for one in results.outcomes if one.status == "finished")
    assert cell.study == "test_cases"
    path = outcome.directory / "scenario" / "results" / "perf_points.csv"
    return pd.read_csv(path).iloc[WARM_UP:]


def test_the_campaigns_files_know_every_measure() -> None:
    assert set(NAMES) == set(MEASURES)
    for name, measure in MEASURES.items():
        apart = {"hop", "layer", "process", "column", "clock"}
        assert set(told_apart_by(name)) == apart & set(measure.columns)


@pytest.mark.parametrize("measure", sorted(MEASURES))
def test_every_frame_has_the_same_shape_with_and_without_rows(relay: Results, measure: str) -> None:
    declared = MEASURES[measure]
    for levels in ({}, {"durability": "transient_local"}):
        frame = long_frame(relay, "qos", measure, where=levels)
        fixed = ["repetition", "cell", "number", "value", "origin"]
        assert frame.columns.tolist() == ["reliability", "durability", *fixed, *declared.columns]
        assert frame["value"].dtype == np.dtype(declared.dtype)
        assert frame["reliability"].cat.categories.tolist() == ["reliable", "best_effort"]
        assert frame["reliability"].cat.ordered
        assert not frame["value"].isna().any()
        if levels:
            assert frame.empty


def test_durations_are_whole_nanoseconds_but_for_means() -> None:
    durations = {name for name, one in MEASURES.items() if one.unit == "ns"}
    assert {name for name in durations if MEASURES[name].dtype != "int64"} == {
        "layer",
        "call_layer",
    }
    assert {MEASURES[name].shown_unit for name in durations} == {"ms"}
    others = set(MEASURES) - durations
    assert {MEASURES[name].dtype for name in others} == {"float64"}


def test_a_hops_latency_is_of_each_hop_and_message_but_the_warm_up(relay: Results) -> None:
    frame = long_frame(relay, "qos", "hop_latency")
    assert set(frame["cell"]) == {f"{QOS}/r1", "qos/best_effort+volatile/r1"}
    assert frame["hop"].nunique() == 2
    assert len(frame) == 2 * 2 * (60 - WARM_UP)
    assert frame["number"].min() == WARM_UP
    assert (long_frame(relay, "qos", "latency")["value"] == frame["value"]).all()
    whole = long_frame(relay, "qos", "whole_latency")
    assert (whole["value"] > frame["value"]).all()
    one = long_frame(relay, "qos", "latency", where={"reliability": ["reliable"]})
    assert set(one["reliability"]) == {"reliable"}


def test_the_latency_of_a_study_of_chains_is_the_whole_chains(relay: Results) -> None:
    frame = long_frame(relay, "chains", "latency")
    assert set(frame["hop"]) == {"/chain_0 -> /chain_1"}
    hops = long_frame(relay, "chains", "hop_latency").groupby("number")["value"].sum()
    longer = frame.set_index("number")["value"]
    # The relay's hold lies between its hops.
    assert (longer > hops).all()


def test_layers_add_up_to_the_mean_latency(relay: Results) -> None:
    for study in ("qos", "chains"):
        keys = ["cell", "hop"]
        layers = long_frame(relay, study, "layer").groupby(keys, observed=True)["value"].sum()
        means = long_frame(relay, study, "latency").groupby(keys, observed=True)["value"].mean()
        assert len(layers) == (4 if study == "qos" else 1)
        assert np.allclose(layers, means, rtol=1e-12)
    assert "callback" not in set(long_frame(relay, "qos", "layer")["layer"])
    assert "hold" in set(long_frame(relay, "chains", "layer")["layer"])


def test_periods_jitter_and_rates_are_those_of_the_receptions(relay: Results) -> None:
    period = long_frame(relay, "qos", "period", where={"reliability": "reliable"})
    assert len(period) == 2 * (60 - WARM_UP - 1)
    jitter = long_frame(relay, "qos", "jitter", where={"reliability": "reliable"})
    assert np.allclose(jitter["value"], (period["value"] - 10_000_000).abs())
    rate = long_frame(relay, "qos", "rate", where={"reliability": "reliable"})
    mean = period.groupby("hop", observed=True)["value"].mean()
    assert np.allclose(rate.set_index("hop")["value"], 1e9 / mean)
    flow = long_frame(relay, "qos", "throughput", where={"reliability": "reliable"})
    assert np.allclose(flow["value"], rate["value"] * 1024 / 1e6)
    # A study without a stated rate has no jitter, and no shortfall.
    assert long_frame(relay, "chains", "jitter").empty
    assert long_frame(relay, "chains", "shortfall").empty


def test_the_producer_alone_falls_short(relay: Results) -> None:
    frame = long_frame(relay, "qos", "shortfall", where={"reliability": "reliable"})
    assert frame["hop"].tolist() == ["/chain_0: /source"]
    sent = long_frame(relay, "qos", "sent_period", where={"reliability": "reliable"})
    assert set(sent["hop"]) == {"/chain_0: /source"}
    assert np.isclose(frame["value"].iloc[0], 100 * (1 - 1e9 / sent["value"].mean() / 100.0))


def test_nothing_was_lost_and_all_was_expected(relay: Results) -> None:
    frame = long_frame(relay, "qos", "loss")
    assert frame["value"].tolist() == [0.0] * 4
    assert frame["expected"].tolist() == [60 - WARM_UP] * 4


def test_a_perf_nodes_latency_and_periods_are_its_own(lidar: Results) -> None:
    own = stamps(lidar)
    latency = long_frame(lidar, "test_cases", "stamp_latency")
    expected = own["recv_stamp"] - own["msg_stamp"]
    assert latency["value"].tolist() == expected.tolist()
    sent = long_frame(lidar, "test_cases", "sent_period")
    assert sent["value"].tolist() == np.diff(own["msg_stamp"]).tolist()
    grid = long_frame(lidar, "test_cases", "grid_loss")
    assert grid[["value", "lost"]].to_numpy().tolist() == [[0.0, 0]]


def test_cpu_is_of_the_while_in_which_messages_came(lidar: Results) -> None:
    frame = long_frame(lidar, "test_cases", "cpu").set_index("process")
    assert set(frame.index) == {"emulator", "perf_node", "driver"}
    # Two samples lie within: from 1.0 to 3.0 s at least, past each interpreter's start.
    assert set(frame["over"]) == {"measured messages"}
    assert frame["value"].between(0.5, 60).all()
    every = long_frame(lidar, "test_cases", "cpu_all")["value"].iloc[0]
    assert np.isclose(every, frame["value"].sum())
    largest = long_frame(lidar, "test_cases", "rss_max").set_index("process")["value"]
    seen = long_frame(lidar, "test_cases", "rss").groupby("process", observed=True)["value"].max()
    for process, size in largest.items():
        assert size >= seen[process]
    over_time = long_frame(lidar, "test_cases", "cpu_by_second")
    assert "machine" in set(over_time["process"])


def test_seconds_are_counted_whole(lidar: Results) -> None:
    by_second = long_frame(lidar, "test_cases", "rate_by_second")
    assert by_second["value"].sum() <= 23
    assert by_second["number"].tolist() == [0, 1]
    assert by_second["value"].between(8, 12).all()


def test_an_unknown_measure_or_study_is_refused(relay: Results) -> None:
    with pytest.raises(CampaignError, match="Cannot measure speed: known are latency"):
        long_frame(relay, "qos", "speed")
    with pytest.raises(CampaignError, match="Cannot find study q"):
        long_frame(relay, "q", "latency")
