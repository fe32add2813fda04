# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A recorded driver that reads too slowly: what it is to blame for, in every form of the result."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

from driver_truth import check_blame, check_driver
from rich.console import Console

from strata.analysis import Analysis
from strata.show.document.analysis import document
from strata.show.html.analysis.page import render_page
from strata.show.terminal.analysis import print_analysis
from strata.show.terminal.drivers import loss_sentences
from strata.show.terminal.hops import print_hops
from strata.show.words.hop_selection import Selection
from strata.stats.hop_distributions import trace_hops
from strata.stats.path import critical_path
from strata.stats.transfers import End

AnalysisOf = Callable[[str], Analysis]
TRACE = "driver_polled"


def test_every_packet_frame_and_loss_agrees_with_driver_and_sensor(
    analysis_of: AnalysisOf, sample: Callable[[str], Path]
) -> None:
    analysis = analysis_of(TRACE)
    check_driver(analysis, sample(TRACE) / "truth.json")
    check_blame(analysis)


def text_of(analysis: Analysis, *sections: str, everything: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=80)
    print_analysis(analysis, console, sections=sections, everything=everything)
    return " ".join(out.getvalue().split())


def test_the_text_tells_of_sources_and_when_they_lost_what(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of(TRACE)
    text = text_of(analysis, "drivers")
    assert "UDP port 39701 320 20 32.0 ms 70.0 ms" in text
    assert "UDP port 39701 (lidar): /polled_driver -> /points, /scan" in text
    assert (
        "314 packets lost, socket buffer full from 726 ms until 1.41 s in 28 stretches: the most "
        "24 from 1.02 s until 1.03 s" in text
    )
    assert "7 packets lost, never came from 678 ms until 1.29 s in 6 stretches" in text
    assert loss_sentences(analysis, source_id=1, everything=False) == []
    every = text_of(analysis, everything=True)
    assert "in 28 stretches: 5 from 726 ms until 732 ms, 10 from 741 ms" in every


def test_the_document_has_the_sources_only_where_there_are_some(analysis_of: AnalysisOf) -> None:
    (source,) = document(analysis_of(TRACE))["drivers"]
    assert source["nodes"] == ["/polled_driver"]
    assert source["topics"] == ["/points", "/scan"]
    assert source["queue_ns"].keys() == {"p50", "p99", "max"}
    assert sum(row["count"] for row in source["losses"]) == 321
    json.dumps(source, allow_nan=False)
    assert "drivers" not in document(analysis_of("fast_blocked_st"))


def test_the_page_has_a_section_and_a_row_in_the_picture(analysis_of: AnalysisOf) -> None:
    page = render_page(analysis_of(TRACE), title="driver")
    assert 'id="drivers"' in page
    assert "UDP port 39701 (lidar)" in page
    assert "314 packets lost, socket buffer full" in page.replace("\N{NO-BREAK SPACE}", " ")
    assert "driver queue, /polled_driver: " in page
    assert "publish (of a sensor&#39;s driver, from the arrival" in page.replace("'", "&#39;")
    assert 'id="drivers"' not in render_page(analysis_of("fast_blocked_st"), title="none")


def test_hops_and_paths_begin_with_the_sensor(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of(TRACE)
    hops = trace_hops(analysis, "A")
    (hop,) = hops.hops.values()
    assert hop.whole.statistics["max"] == analysis.messages["latency_ns"].max()
    assert hop.whole.typical.layer == "driver queue"
    assert [part.layer for part in hop.layers][:2] == ["driver queue", "driver"]
    out = io.StringIO()
    print_hops([hops], Console(file=out, width=80), until=End.END, selection=Selection())
    assert "publish (of a sensor's driver, from the arrival" in " ".join(out.getvalue().split())
    path = critical_path(analysis, 0)
    assert path.begin_ns == analysis.messages.loc[0, "arrival_ns"]
    assert path.latency_ns == sum(step.duration_ns for step in path.steps)
    assert path.steps[0].layer == "driver queue"
    assert path.steps[0].where == "UDP port 39701 (/polled_driver)"
