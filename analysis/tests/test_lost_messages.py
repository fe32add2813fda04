# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Losses in real traces: none is invented where the tracer lost events, none is missed."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from message_results import message_results
from rich.console import Console

from strata.analysis import Analysis
from strata.comparison.gates.judge import judge
from strata.comparison.gates.load import read_gates
from strata.comparison.runs import measure_run
from strata.comparison.sides import Side
from strata.model.of_tables import model_of_tables
from strata.pipeline.messages import Wanted
from strata.pipeline.run import analyze_model
from strata.read import open_trace
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.quality import Finding, Findings
from strata.show.document.analysis import document
from strata.show.document.hops import hop_document
from strata.show.document.rectangle import COLUMNS, rectangle
from strata.show.html.analysis.page import write_report
from strata.show.terminal.analysis import print_analysis
from strata.show.terminal.hops import print_hops
from strata.show.words.hop_selection import Selection
from strata.stats.hop_distributions import trace_hops
from strata.stats.transfers import End

COUNTS = ("received", "lost", "in_flight", "unknown")
Tables = dict[str, pa.Table]


def own(hops: pd.DataFrame) -> pd.DataFrame:
    assert (hops["published"] == hops[list(COUNTS)].sum(axis=1)).all()
    return hops[~hops["topic"].isin(INTERNAL_TOPICS)]


@pytest.mark.parametrize(
    "name",
    [
        "fast_relay1p_mt_lossy",
        "fast_relay1p_overload",
        "fast_relay1p_ipcmixed",
        "fast_relay1p_st_latestart",
        "fast_relaymp_st_foreign",
        "fast_fanout",
        "dds_jazzy_udp_resends",
    ],
)
def test_where_the_nodes_received_everything_nothing_is_lost(
    analysis_of: Callable[[str], Analysis], name: str
) -> None:
    hops = own(analysis_of(name).hops)
    assert len(hops)
    assert hops["lost"].sum() == 0
    # Only takes of which the tracer lost the events are not known.
    assert hops["unknown"].sum() == (1 if name == "fast_relay1p_mt_lossy" else 0)


def test_what_the_subscriber_did_not_receive_is_lost(
    analysis_of: Callable[[str], Analysis], sample: Callable[[str], Path]
) -> None:
    (hop,) = own(analysis_of("cyc_img720p30").hops).to_dict("records")
    truth = pd.read_csv(next((sample("cyc_img720p30") / "truth").glob("*sub*.csv")))
    got = truth.loc[truth["event"] == "cb_start", "seq"].nunique()
    assert (hop["received"], hop["lost"]) == (got, 600 - got)


def without(tables: Tables, vpid: int, after_ns: int) -> Tables:
    """Events as they are when a process emits nothing after an instant."""
    kept = {}
    for name, table in tables.items():
        gone = pc.and_(
            pc.equal(table["vpid"], vpid), pc.greater(table["timestamp"].cast(pa.int64()), after_ns)
        )
        kept[name] = table.filter(pc.invert(gone))
    return kept


def test_a_sink_whose_events_end_lost_the_rest(sample: Callable[[str], Path]) -> None:
    """All of the subscriber's events after a tenth of the recording are taken out."""
    tables = open_trace(sample("fast_img720p30")).tables()
    takes = tables["ros2:rmw_take"]
    whole = message_results(model_of_tables(tables), Wanted()).tables
    (hop,) = own(whole["hops"]).to_dict("records")
    assert (hop["published"], hop["received"]) == (600, 600)
    messages = whole["messages"][whole["messages"]["hop_id"] == hop["hop_id"]]
    taken_ns = np.sort(messages["rmw_take_ns"].to_numpy(np.int64))
    at = int(taken_ns[59])
    vpid = int(
        pc.filter(takes["vpid"], pc.equal(takes["timestamp"].cast(pa.int64()), at))[0].as_py()
    )
    model = model_of_tables(without(tables, vpid, at))
    results = message_results(model, Wanted())
    cut = results.tables
    (hop,) = own(cut["hops"]).to_dict("records")
    assert (hop["published"], hop["received"], hop["unknown"]) == (600, 60, 0)
    assert hop["lost"] + hop["in_flight"] == 540
    assert hop["in_flight"] <= 2
    losses = cut["hop_losses"][cut["hop_losses"]["hop_id"] == hop["hop_id"]]
    lost = losses[losses["outcome"] == "lost"].iloc[0]
    assert (lost["cause"], lost["since_ns"]) == ("process ended", at)
    assert results.findings.counts["lost_messages"] == hop["lost"]
    assert (
        "/image_raw, /img_pub -> /img_sub: process ended"
        in results.findings.places["lost_messages"]
    )


@pytest.fixture(scope="module")
def untaken(sample: Callable[[str], Path]) -> Analysis:
    """As when the subscriber's QoS fits no publisher: it takes nothing of the topic."""
    trace = open_trace(sample("fast_img720p30"))
    tables = trace.tables()
    init = tables["ros2:rcl_subscription_init"]
    (vpid,) = pc.filter(init["vpid"], pc.equal(init["topic_name"], "/image_raw")).to_pylist()
    for name in ("rmw_take", "rcl_take", "rclcpp_take", "callback_start", "callback_end"):
        table = tables[f"ros2:{name}"]
        tables[f"ros2:{name}"] = table.filter(pc.not_equal(table["vpid"], vpid))
    return analyze_model(trace, model_of_tables(tables), Wanted())


def test_a_hop_without_a_take_is_in_every_result(untaken: Analysis, tmp_path: Path) -> None:
    (hop,) = own(untaken.hops).to_dict("records")
    assert (hop["count"], hop["published"], hop["lost"]) == (0, 600, 600)
    (found,) = (one for one in document(untaken)["hops"] if one["topic"] == "/image_raw")
    assert found["latency_ns"]["p50"] is None
    assert [row["cause"] for row in found["losses"]] == ["reader never took anything"]
    rows = (dict(zip(COLUMNS, row, strict=True)) for row in rectangle(untaken))
    (line,) = (row for row in rows if row["name"] == "/image_raw")
    assert line["count"] == 0
    said = "600 of 600 lost: the reader never took anything"
    page = write_report(untaken, tmp_path / "page.html", title="t", force=False).read_text()
    assert said in page
    hops = trace_hops(untaken, "x")
    for show in (
        lambda console: print_analysis(untaken, console, sections=("hops",)),
        lambda console: print_hops([hops], console, until=End.END, selection=Selection()),
    ):
        console = Console(file=StringIO(), width=200)
        show(console)
        text = console.file.getvalue()  # type: ignore[attr-defined]
        assert said in text
        assert "nothing lost" not in text
    assert hop_document([hops], Selection())["hops"][0]["traces"][0]["lost"] == 600


def test_a_gate_of_a_hop_without_a_take_fails(untaken: Analysis, tmp_path: Path) -> None:
    file = tmp_path / "gates.yaml"
    file.write_text("gates: [hop p99 < 1 s, loss <= 1 %]")
    found = judge(read_gates(file), None, Side("B", (measure_run(untaken, "B"),)))
    assert [(one.outcome.value, one.broken) for one in found] == [
        ("data missing", True),
        ("broken", True),
    ]


def test_events_lost_by_the_tracer_make_no_lost_messages(sample: Callable[[str], Path]) -> None:
    """Takes are taken out in windows of which the tracer tells."""
    tables = open_trace(sample("fast_img720p30")).tables()
    takes = tables["ros2:rmw_take"]
    ns = takes["timestamp"].cast(pa.int64()).to_numpy()
    random = np.random.default_rng(5)
    begin = np.sort(random.choice(ns[:-1], 12, replace=False))
    end = begin + 50_000_000
    gone = ((ns[:, None] >= begin) & (ns[:, None] <= end)).any(axis=1)
    tables["ros2:rmw_take"] = takes.filter(pa.array(~gone))
    model = model_of_tables(tables, (begin, end))
    (hop,) = own(message_results(model, Wanted()).tables["hops"]).to_dict("records")
    assert hop["lost"] == 0
    assert 12 <= hop["unknown"] <= 600 - hop["received"]


def test_findings_say_where_and_when(analysis_of: Callable[[str], Analysis]) -> None:
    analysis = analysis_of("cyc_img720p30")
    found = analysis.quality.set_index("code").loc["lost_messages"]
    assert "Where: /image_raw, /img_pub -> /img_sub" in found["text"]
    losses = analysis.hop_losses.iloc[0]
    assert (found["begin_ns"], found["end_ns"]) == (losses["begin_ns"], losses["end_ns"])
    seconds = (losses["begin_ns"] - analysis.trace.begin_ns) / 1e9
    assert f"When: +{seconds:.2f} s to" in found["text"]
    thrown = analysis_of("fast_throws").quality.set_index("code").loc["callbacks_without_end"]
    assert thrown["places"] == "subscription callback of /fast"
    lossy = analysis_of("fast_relay1p_mt_lossy")
    quality = lossy.quality.set_index("code")
    assert quality.loc["unmatched_takes", "places"].startswith("/chain_")
    discarded = lossy.losses[lossy.losses["code"] == "discarded_events"]
    told = quality.loc["discarded_events"]
    assert told["begin_ns"] == discarded["begin_ns"].min()
    assert told["end_ns"] == discarded["end_ns"].max()


def test_a_finding_names_a_few_places_and_how_many_more() -> None:
    findings = Findings(Finding("lost_messages", 2, span_ns=(90, 95)))
    for number in range(7):
        findings += Findings(
            Finding("lost_messages", number + 1, place=f"/t{number}", span_ns=(number, number))
        )
    (row,) = findings.rows()
    assert (row["count"], row["begin_ns"], row["end_ns"]) == (30, 0, 95)
    assert row["places"] == "/t6 (7); /t5 (6); /t4 (5); and 4 more"
    assert str(row["text"]).endswith("Where: /t6 (7); /t5 (6); /t4 (5); and 4 more.")
