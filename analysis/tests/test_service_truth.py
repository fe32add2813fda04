# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Service calls of real traces against what client and server wrote down themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from service_truth import check_mute, check_work, waited_behind

from strata.analysis import Analysis
from strata.model.build import build_model
from strata.read import open_trace
from strata.report.document import document
from strata.report.text import print_analysis
from strata.schema.quality import Ledger

AnalysisOf = Callable[[str], Analysis]
Sample = Callable[[str], Path]


def test_every_call_agrees_with_what_the_nodes_wrote(
    analysis_of: AnalysisOf, sample: Sample
) -> None:
    analysis = analysis_of("services_kilted")
    check_work(analysis, sample("services_kilted"))
    check_mute(analysis)
    behind = waited_behind(analysis, "__main__.Server.on_busy")
    assert len(behind) > 0
    assert (behind["request_executor_wait_ns"] >= behind["blocked_ns"]).all()
    assert behind["blocked_ns"].max() > 10_000_000


def test_layers_of_services_add_up(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("services_kilted")
    work = analysis.services.set_index("service").loc["/work"]
    layers = analysis.service_layers[analysis.service_layers["service_id"] == work["service_id"]]
    assert layers["share"].sum() == pytest.approx(1)
    assert (layers["mean"] * layers["count"]).sum() == pytest.approx(work["latency_mean"] * 100)
    assert layers["layer"].tolist() == [
        "request middleware",
        "request executor wait",
        "request take",
        "request executor wait + take",
        "client take",
        "callback",
        "respond",
        "response middleware",
        "response executor wait + take",
    ]


def test_requests_that_were_taken_before_their_event_are_counted(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("services_kilted")
    calls = analysis.service_calls
    late = calls["take_request_ns"] < calls["send_request_ns"]
    ledger = dict(zip(analysis.quality["code"], analysis.quality["count"], strict=True))
    assert ledger["late_request_events"] == late.sum() == 27
    assert (calls.loc[late, "begin_ns"] == calls.loc[late, "take_request_ns"]).all()


def test_services_are_in_the_text_and_in_the_document(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("services_kilted")
    out = StringIO()
    print_analysis(analysis, Console(file=out, width=80), everything=False)
    text = out.getvalue()
    section = text[text.index("services ──") : text.index("callbacks, by total time")]
    assert max(map(len, text.splitlines())) <= 80
    assert "/client -> /server" in section
    assert "response executor wait + take" in section
    assert "/mute" in section

    services = json.loads(json.dumps(document(analysis)))["services"]
    work, mute = sorted(services, key=lambda row: row["lost"])
    assert (work["service"], work["client_node"], work["service_node"]) == (
        "/work",
        "/client",
        "/server",
    )
    assert work["count"] == work["latency_ns"]["count"] == 100
    assert sum(layer["share"] for layer in work["layers"]) == pytest.approx(1)
    assert (mute["count"], mute["lost"], mute["layers"]) == (3, 3, [])
    assert mute["latency_ns"]["p50"] is None


def test_without_services_there_is_no_section(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_blocked_st")
    out = StringIO()
    print_analysis(analysis, Console(file=out, width=80), everything=True)
    assert "services ──" not in out.getvalue()
    assert document(analysis)["services"] == []


def test_a_service_of_jazzy_has_its_callbacks(analysis_of: AnalysisOf, sample: Sample) -> None:
    analysis = analysis_of("fast_svc")
    rows = pd.read_csv(sample("fast_svc") / "truth/rig_server.csv")
    own = rows.pivot(index="seq", columns="event", values="t_mono_ns")
    row = analysis.callbacks[analysis.callbacks["kind"] == "service"].iloc[0]
    assert (row["node"], row["trigger"]) == ("/rig_server", "/rig_srv")
    assert row["count"] == row["duration_count"] == len(own) == 500
    runs = analysis.callback_instances
    runs = runs[runs["callback_id"] == row["callback_id"]]
    (offset,) = set(open_trace(sample("fast_svc")).clock_offsets_ns.values())
    before = own["cb_start"].to_numpy(np.int64) + offset - runs["start_ns"].to_numpy(np.int64)
    after = runs["end_ns"].to_numpy(np.int64) - own["cb_end"].to_numpy(np.int64) - offset
    assert before.min() > 0
    assert after.min() > 0
    # The node stamps within its callback, and logs between its last stamp and the end.
    assert np.median(before) < 2_000
    assert np.median(after) < 10_000
    ledger = dict(zip(analysis.quality["code"], analysis.quality["count"], strict=True))
    assert ledger["service_calls_unseen"] == 500
    assert analysis.service_calls.empty
    assert analysis.client_objects["name"].tolist() == ["/rig_srv"]


@pytest.mark.parametrize("at", [0.2, 0.5, 0.8])
def test_a_trace_that_begins_late_gives_the_same_calls(
    analysis_of: AnalysisOf, sample: Sample, at: float
) -> None:
    """Without init events, the calls that began later are the same ones, inferred."""
    whole = analysis_of("services_kilted").service_calls
    tables = open_trace(sample("services_kilted")).tables()
    begin_ns = int(whole["begin_ns"].quantile(at))
    late = {
        name: table.filter(table["timestamp"].to_numpy() >= begin_ns)
        for name, table in tables.items()
    }
    model = build_model(late, Ledger())
    exchange, calls = model.service_traffic.exchange, model.service_traffic.calls
    asked = calls.request >= 0
    found = {
        int(exchange.sent_requests.ns[request]): [
            int(events.ns[row]) if row >= 0 else None
            for events, row in (
                (exchange.taken_requests, taken),
                (exchange.sent_responses, response),
                (exchange.taken_responses, got),
            )
        ]
        for request, taken, response, got in zip(
            calls.request[asked],
            calls.taken[asked],
            calls.response[asked],
            calls.taken_response[asked],
            strict=True,
        )
    }
    columns = ["take_request_ns", "send_response_ns", "take_response_ns"]
    expected = whole[whole["send_request_ns"] >= begin_ns].set_index("send_request_ns")[columns]
    assert found == {
        int(str(ns)): [None if pd.isna(value) else int(value) for value in row]
        for ns, row in zip(expected.index, expected.to_numpy(object), strict=True)
    }
