# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Service calls of a cell, against what its nodes stamped themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from measured_campaign import make_campaign

from strata.campaign.model import Figure
from strata.schema.service_layers import SERVICE_LAYERS
from strata.schema.tables.measured_calls import CALL_CHAIN_LAYERS, REQUEST_LAYERS
from strata.study.campaign_results import Results
from strata.study.cell_tables import CellTables, HopSelection, measure
from strata.study.executor_saturation import saturations
from strata.study.gather_report import gather
from strata.study.long_frames import long_frame
from strata.study.tables import Table, table_of

CALLS = 60
WARM_UP = 5
CHAIN = ["caller", "forwarder_0", "forwarder_1", "responder"]
CALLED = """\
question: What does a call cost?
original: {title: The original, published: [relay.csv]}
studies:
  services:
    question: What does a call cost?
    scenario: service_chain_one_process
    set: {forwarders: 2}
    duration: 60
    warm_up: 5
    nominal_hz: rate
    factors:
      rate: {set: rate, unit: Hz, levels: [100.0]}
      executor: {set: executor, levels: [single, multi]}
    figures:
      - {kind: summary, of: request_latency, rows: [rate, executor]}
      - {kind: bars, of: call_layer, x: executor}
      - {kind: calls, rows: [rate, executor]}
      - {kind: published, of: request_latency, rows: [rate, executor], file: relay.csv}
"""


@pytest.fixture
def session(own_sample: Callable[[str], Path]) -> Path:
    """A session of service_chain_one_process with two forwarders: 60 calls at 100 Hz."""
    return own_sample("cell_services")


@pytest.fixture
def measured(session: Path) -> CellTables:
    return measure(session, HopSelection(warm_up=WARM_UP))


@pytest.fixture(scope="module")
def results(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Results:
    place = tmp_path_factory.mktemp("services")
    return make_campaign(place, CALLED, {"services/100.0+single": sample("cell_services")})


def stamps(session: Path, node: str, event: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Stamps of an event of a node, by the number of the call, by the trace's clock."""
    clocks = json.loads((session / "manifest.json").read_text())["start"]["clocks"]
    rows = pd.read_csv(session / "scenario" / "results" / f"{node}.csv")
    rows = rows[rows["event"] == event].sort_values("seq")
    assert rows["seq"].tolist() == list(range(CALLS))
    return rows["t_mono_ns"].to_numpy(np.int64) + clocks["realtime_minus_monotonic_ns"]


def total(frame: pd.DataFrame, columns: list[str]) -> pd.Series[int]:
    return sum((frame[column].fillna(0) for column in columns), start=pd.Series(0, frame.index))


def test_each_call_begins_and_is_served_when_its_nodes_say(
    session: Path, measured: CellTables
) -> None:
    calls = measured.read("calls")
    assert len(calls) == 3 * CALLS
    for caller, server in pairwise(CHAIN):
        own = calls[calls["client_node"] == f"/{caller}"].sort_values("number")
        assert own["number"].tolist() == list(range(CALLS))
        assert set(own["service_node"]) == {f"/{server}"}
        asked = own["begin_ns"].to_numpy(np.int64) - stamps(session, caller, "request")
        # A node stamps before it calls, and after its callback began.
        assert (asked > 0).all()
        begun = stamps(session, server, "cb_start") - own["served_ns"].to_numpy(np.int64)
        assert (begun > 0).all()
        for late in (asked, begun):
            assert np.median(late) < 200_000
            assert late.max() < 10_000_000


def test_the_layers_of_calls_and_of_their_chains_add_up(measured: CellTables) -> None:
    calls, chains = measured.read("calls"), measured.read("call_chains")
    answered = calls[calls["latency_ns"].notna()]
    assert len(answered) >= 3 * CALLS - 3
    assert (total(answered, [one.column for one in SERVICE_LAYERS]) == answered["latency_ns"]).all()
    assert (total(calls, [one.column for one in REQUEST_LAYERS]) == calls["request_ns"]).all()
    assert len(chains) == CALLS
    of_chains = [one.column for one in CALL_CHAIN_LAYERS]
    assert (total(chains, of_chains) == chains["latency_ns"]).all()
    # What a forwarder does from the start of its callback until it asks the next.
    assert (chains["hold_ns"] > 0).all()
    assert not measured.read("findings")["code"].str.startswith("inexact").any()


def test_a_chain_of_calls_goes_from_the_caller_to_the_last_service(
    session: Path, measured: CellTables
) -> None:
    chains = measured.read("call_chains").sort_values("number")
    assert set(chains["chain"]) == {"/service_0 -> /service_1 -> /service_2"}
    assert set(chains["hops"]) == {3}
    own = stamps(session, "responder", "cb_start") - stamps(session, "caller", "request")
    further = own - chains["latency_ns"].to_numpy(np.int64)
    assert (further > 0).all()
    assert np.median(further) < 300_000
    assert measured.line.startswith(f"{3 * (CALLS - WARM_UP)} calls, ")


def test_the_callers_timer_is_asked_at_the_stated_rate(measured: CellTables) -> None:
    work = measured.read("work")
    timer = work[(work["node"] == "/caller") & (work["period_ns"] == 10_000_000)]
    assert timer["count"].tolist() == [CALLS - 1]
    served = work[work["is_traffic"]]
    assert len(served) == 3
    assert served["period_ns"].isna().all()
    nothing = pd.DataFrame({"value": [], "t_ns": []})
    (found,) = saturations(measured, nothing, 100.0, 2)
    asked = pd.concat([served, timer])
    one_call = ((asked["callback_ns"] + asked["take_ns"]) / asked["count"]).sum()
    assert found.work_ns == pytest.approx(one_call)
    rest = work.drop(asked.index)
    ran = float((rest["callback_ns"] + rest["take_ns"]).sum())
    traffic_ns = int(measured.read("executors")["traffic_ns"].iloc[0])
    assert found.demanded == pytest.approx(one_call * 100.0 / 1e9 + ran / traffic_ns)
    # A timer of another rate than the stated one does not send: it counts as it ran.
    (slower,) = saturations(measured, nothing, 50.0, 2)
    assert slower.work_ns < one_call


def test_the_callers_own_round_trips_are_those_of_the_first_call(
    session: Path, measured: CellTables
) -> None:
    trips = measured.read("round_trips").set_index("number")["round_trip_ns"]
    own = json.loads((session / "scenario/results/caller.json").read_text())
    assert trips.tolist() == own["round_trips_ns"]
    first = measured.read("calls")
    first = first[first["client_node"] == "/caller"].set_index("number")["latency_ns"].dropna()
    # The answer is taken, then the future's callback runs.
    assert (trips.loc[first.index] > first).all()


def test_measures_of_calls_leave_out_the_warm_up(results: Results) -> None:
    for name, hops in (("call_latency", 3), ("request_latency", 3), ("call_chain_latency", 1)):
        frame = long_frame(results, "services", name)
        assert frame["hop"].nunique() == hops
        assert frame["number"].min() == WARM_UP
        assert (frame["value"] > 0).all()
    layers = long_frame(results, "services", "call_layer")
    whole = long_frame(results, "services", "call_latency").groupby("hop", observed=True)["value"]
    sums = layers.groupby("hop", observed=True)["value"].sum()
    assert np.allclose(sums.to_numpy(), whole.mean().loc[sums.index].to_numpy())
    loss = long_frame(results, "services", "call_loss")
    assert loss["value"].tolist() == [0.0] * 3


def test_a_summary_of_calls_counts_calls(results: Results) -> None:
    row = made(results, "summary", of="request_latency").frame.iloc[0]
    assert (row["count"], row["left_out"], row["lost"]) == (
        3 * (CALLS - WARM_UP),
        3 * WARM_UP,
        0,
    )


def test_the_table_of_calls_counts_them(results: Results) -> None:
    row = made(results, "calls").frame.iloc[0]
    assert (row["sent"], row["left_out"], row["lost"]) == (3 * CALLS, 3 * WARM_UP, 0)
    assert row["sent"] == row["left_out"] + row["answered"] + row["lost"] + row["after_last"]
    assert (row["chains"], row["begun"]) == (CALLS - WARM_UP, CALLS - WARM_UP)


def test_printed_figures_of_services_are_beside_the_requests_and_their_chain(
    results: Results,
) -> None:
    table = made(results, "published", of="request_latency", file="relay.csv")
    rows = table.frame.set_index(["rate", "executor", "statistic"])
    printed = rows.loc[("100.0", "multi", "p90")]
    assert (printed["printed"], printed["Ryzen 5975WX"]) == ("130", "184")
    assert rows.loc[("1000.0", "multi", "p90"), "AGX Orin"] == "ERROR"
    chain = long_frame(results, "services", "call_chain_latency")["value"]
    ours = rows.loc[("100.0", "single", "p50")]
    assert np.isclose(ours["further_0"], chain.median() / 1e3)
    assert np.isclose(ours["further_1"], chain.median() / 1e3 / 3)


def test_a_report_answers_about_calls(results: Results) -> None:
    part = gather(results.directory.path).studies[0]
    assert "No call was left without an answer" in " ".join(part.answer)
    assert [one.kind for one in part.tables.values()] == ["summary", "calls", "published"]


def made(results: Results, kind: str, **keys: object) -> Table:
    asked = {"kind": kind, "rows": ["rate", "executor"], **keys}
    return table_of(results, "services", Figure.model_validate(asked))
