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
from service_truth import check_matrix, check_mute, check_work, waited_behind

from strata.analysis import Analysis
from strata.model.build import Model
from strata.model.of_tables import model_of_tables
from strata.model.service_calls import METHODS
from strata.read import open_trace
from strata.show.document.analysis import document
from strata.show.terminal.analysis import print_analysis

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
    assert (layers["mean_ns"] * layers["count"]).sum() == pytest.approx(
        work["latency_mean_ns"] * 100
    )
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
    counts = dict(zip(analysis.quality["code"], analysis.quality["count"], strict=True))
    assert counts["late_request_events"] == late.sum() == 27
    assert (calls.loc[late, "begin_ns"] == calls.loc[late, "take_request_ns"]).all()


def test_services_are_in_the_text_and_in_the_document(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("services_kilted")
    out = StringIO()
    print_analysis(analysis, Console(file=out, width=80), sections=("services", "callbacks"))
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
    counts = dict(zip(analysis.quality["code"], analysis.quality["count"], strict=True))
    assert counts["service_calls_unseen"] == 500
    assert analysis.service_calls.empty
    assert analysis.client_objects["name"].tolist() == ["/rig_srv"]


def codes(analysis: Analysis) -> set[str]:
    return set(analysis.quality["code"])


@pytest.mark.parametrize("name", ["services_jazzy", "services_cyclone"])
def test_on_jazzy_the_events_of_the_middleware_tell_every_call(
    analysis_of: AnalysisOf, sample: Sample, name: str
) -> None:
    analysis = analysis_of(name)
    check_matrix(analysis.service_calls, sample(name))
    assert set(analysis.service_calls["method"]) == {"dds identity"}
    assert set(analysis.service_calls["confidence"]) == {"exact"}
    assert codes(analysis).isdisjoint({"service_calls_unseen", "contradicted_versions"})
    slow = analysis.service_layers.merge(analysis.services[["service_id", "service"]])
    slow = slow[(slow["service"] == "/slow") & (slow["layer"] == "callback")]
    assert (slow["p50_ns"] > 20_000_000).all()
    assert (analysis.processes["distro"].dropna() == "jazzy").all()
    # An event that only stands for others is none of the trace's.
    assert not analysis.event_uses["event"].str.startswith("ros2:rmw_send_re").any()


def test_hooks_that_tell_no_relations_leave_the_order_of_threads(sample: Sample) -> None:
    """Traces of older hooks: the same calls, and what decides is said."""
    tables = open_trace(sample("services_jazzy")).tables()
    older = {name: table for name, table in tables.items() if not name.endswith("_related")}
    whole, model = model_of_tables(tables), model_of_tables(older)
    assert times(model) == times(whole)
    assert len(times(model)) == 150
    assert {METHODS[row] for row in model.service_traffic.calls.method} == {"thread order"}
    assert model.findings.counts["calls_by_thread_order"] == 150


def test_a_response_that_may_be_of_two_requests_is_of_neither(sample: Sample) -> None:
    """Without relations and without one take of a request: nothing is paired wrongly."""
    tables = open_trace(sample("services_jazzy")).tables()
    older = {name: table for name, table in tables.items() if not name.endswith("_related")}
    whole = model_of_tables(tables)
    lost = whole.service_traffic.exchange.taken_requests.ns[75]
    takes = older["dds:take_end"]
    older["dds:take_end"] = takes.filter(takes["timestamp"].to_numpy() != lost)
    served = {row[1:3] for row in times(model_of_tables(older)) if row[1] and row[2]}
    assert served < {row[1:3] for row in times(whole)}
    assert len(served) == 148


def times(model: Model) -> list[tuple[int | None, ...]]:
    exchange, calls = model.service_traffic.exchange, model.service_traffic.calls
    kinds = (
        (exchange.sent_requests, calls.request),
        (exchange.taken_requests, calls.taken),
        (exchange.sent_responses, calls.response),
        (exchange.taken_responses, calls.taken_response),
    )
    columns = [[None if row < 0 else int(e.ns[row]) for row in of] for e, of in kinds]
    return list(zip(*columns, strict=True))


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
    model = model_of_tables(late)
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
