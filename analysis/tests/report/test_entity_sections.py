# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The sections and lists of timers and lifecycles."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from made_analysis import Relay, make
from rich.console import Console

from strata.analysis import Analysis
from strata.show.document.analysis import document
from strata.show.html.analysis.threads import thread_rows
from strata.show.terminal.analysis import print_analysis
from strata.units import format_share

AnalysisOf = Callable[[str], Analysis]
CALLS = "services_kilted"


def words(*shares: float | None) -> list[str]:
    return " ".join(map(format_share, shares)).split()


def lines(analysis: Analysis) -> list[str]:
    out = io.StringIO()
    print_analysis(analysis, Console(file=out, width=80), everything=True)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def section(text: list[str], name: str) -> list[str]:
    begin = next(at for at, line in enumerate(text) if line.startswith(f"{name} ─"))
    after = [
        at
        for at in range(begin + 1, len(text))
        if " ───" in text[at] or text[at].startswith("trace ")
    ]
    return text[begin : after[0] if after else None]


def assert_fits(text: list[str]) -> None:
    """No line is wider than 80, but for a long path, which is not broken: it can be pasted."""
    assert [line for line in text if len(line) > 80 and "/pytest-" not in line] == []


def test_timers_are_shown_with_setpoint_lateness_and_what_they_skipped(
    analysis_of: AnalysisOf,
) -> None:
    text = lines(analysis_of("fast_relay1p_overload"))
    assert_fits(text)
    timers = section(text, "timers")
    busy = next(line.split() for line in timers if line.startswith(" /source  10.0 ms"))
    assert busy[1:4] == ["10.0", "ms", "1,001"]
    assert busy[-1] == "806"
    assert any("806 fired late by a period or more, its thread busy" in line for line in timers)


def test_lifecycle_states_are_shown_by_their_time(analysis_of: AnalysisOf) -> None:
    text = lines(analysis_of("fast_lifecycle"))
    assert_fits(text)
    states = [line.split() for line in section(text, "lifecycle")[2:]]
    assert states[0][:3] == ["/managed", "inactive", "10"]
    assert [row[0] for row in states[1:3]] == ["unconfigured", "active"]
    assert not any(line.startswith("timers ─") for line in text)


@pytest.mark.parametrize("name", [CALLS, "fast_relay1p_overload"])
def test_shares_are_those_of_the_page(analysis_of: AnalysisOf, name: str) -> None:
    analysis = analysis_of(name)
    text = lines(analysis)
    assert_fits(text)
    shown = [line for line in section(text, "executors, by thread") if "-threaded" in line]
    shares = {str(row.vtid): words(*row.shares.values()) for row in thread_rows(analysis)}
    assert len(shown) == len(shares)
    for line in map(str.split, shown):
        (own,) = [shares[vtid] for vtid in shares if vtid in line]
        assert line[-len(own) :] == own
    layers = [line.split() for line in section(text, "services")] if name == CALLS else []
    expected = [words(share) for share in analysis.service_layers["share"]]
    found = [line for line in layers if line and line[-1] == "%"]
    assert [line[-len(own) :] for line, own in zip(found, expected, strict=True)] == expected


def test_a_service_without_complete_calls_has_no_latency(analysis_of: AnalysisOf) -> None:
    services = section(lines(analysis_of(CALLS)), "services")
    (mute,) = [line.split() for line in services if line.startswith(" /mute")]
    assert mute == ["/mute", "3", "3", "-", "-", "-"]


def test_what_is_not_there_is_not_shown() -> None:
    text = lines(make(Relay(messages=20)))
    assert not any(line.startswith(("timers ─", "lifecycle ─")) for line in text)
    found = document(make(Relay(messages=20)))
    assert (found["timers"], found["lifecycle"]) == ([], [])


def test_the_document_lists_timers_lifecycles_and_distros(analysis_of: AnalysisOf) -> None:
    found = json.loads(json.dumps(document(analysis_of("fast_relay1p_overload")), allow_nan=False))
    timer = next(item for item in found["timers"] if item["period_ns"] == 10_000_000)
    assert (timer["node"], timer["count"]) == ("/source", 1001)
    assert timer["skipped"] == timer["overruns"] == 806
    assert timer["lateness_ns"]["p50"] == pytest.approx(13.1e6, rel=0.01)
    assert timer["interval_ns"]["count"] == timer["jitter_ns"]["count"] == 1000
    processes = found["trace"]["processes"]
    assert [item["distro"] for item in processes] == ["jazzy", "jazzy"]
    assert [item["tracetools_version"] for item in processes] == ["8.2.2", "8.2.4"]
    (node,) = document(analysis_of("fast_lifecycle"))["lifecycle"]
    assert node["node"] == "/managed"
    assert {item["state"]: item["count"] for item in node["states"]}["inactive"] == 10
