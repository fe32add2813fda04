# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata analyze` as a user runs it: output, files, exit codes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from strata_command import strata

from strata.analysis import Analysis
from strata.schema.columns import STATISTICS
from strata.schema.tables import TABLES

Sample = Callable[[str], Path]


def test_the_table_fits_80_columns_and_names_the_bottleneck(sample: Sample) -> None:
    run = strata("analyze", sample("fast_blocked_st"))
    assert run.returncode == 0, run.stderr
    assert max(map(len, run.stdout.splitlines())) <= 80
    lines = run.stdout.splitlines()
    assert lines[0] == "fast_blocked_st  14.0 s  2 nodes  617 messages  trust: OK"
    assert lines[1].startswith("BOTTLENECK  messages wait 1.42 ms each (mean) for the executor")
    text = " ".join(run.stdout.split())
    assert (
        "slowest 1 % (6 messages) of /fast: 30.0 of 30.7 ms (98 %), executor wait behind "
        "callback of /slow in /subs" in text
    )
    assert run.stderr == ""


def test_sections_are_printed_below_the_summary(sample: Sample) -> None:
    run = strata("analyze", sample("fast_blocked_st"), "--layers", "--hops", "--quality")
    text = " ".join(run.stdout.split())
    assert run.stdout.index("BOTTLENECK") < run.stdout.index("chain ──")
    assert "617 published, 611 taken, 611 matched" in text
    assert "no event lost, nothing inferred" in text
    assert (
        "Bottleneck: In the slowest 1 % (6 messages from 30.6 ms on) executor wait behind" in text
    )
    assert "behind main::{lambda#1}::operator()::{lambda#1} [/slow] (/subs) is 30.0 ms" in text
    assert "and 2 hops of internal topics (--all)" in text
    assert "p50 p99 max topic from -> to count lost to end to end to end" in text
    assert "callbacks, by total time" not in text


def test_a_section_of_which_the_trace_has_nothing_says_so(sample: Sample) -> None:
    run = strata("analyze", sample("fast_blocked_st"), "--services")
    assert (run.returncode, run.stderr) == (0, "")
    assert "--services: the trace has none." in run.stdout


def test_sections_are_of_text_only(sample: Sample) -> None:
    run = strata("analyze", sample("fast_blocked_st"), "--layers", "--format", "json")
    assert run.returncode == 2
    assert "sections such as --layers are of --format table" in run.stderr


LIFECYCLE = "fast_lifecycle"


# Those of kernel events are tested with such (test_thread_causes).
_OF_KERNEL = {"layer_scheduling", "preemptions", "chain_scheduling"}


_ASKED_FOR = {"quantiles"}
"""Is empty unless the user asks for any (test_analyze_quantiles)."""


_OF_LONG = {"trend", "layer_trend", "drifts"}
"""Are empty of short recordings (test_trend)."""
_ELSEWHERE = _OF_KERNEL | _ASKED_FOR | _OF_LONG


@pytest.mark.parametrize("table", [t.name for t in TABLES if t.name not in _ELSEWHERE])
def test_every_declared_table_is_an_attribute_of_the_analysis(
    analysis_of: Callable[[str], Analysis], table: str
) -> None:
    # A trace that lost nothing has no losses, and one without relays no links; only lifecycle nodes
    # have states, and only sensors' drivers frames.
    other = {"losses": "fast_relay1p_mt_lossy", "links": "fast_relay1p_st"}
    other["hop_losses"] = "cyc_img720p30"
    other["link_proposals"] = "fast_fusion"
    other |= dict.fromkeys([item.name for item in TABLES if "lifecycle" in item.name], LIFECYCLE)
    # Only Kilted and newer show service calls.
    calls = ("client_objects", "service_calls", "services", "service_layers")
    other |= dict.fromkeys(calls, "services_kilted")
    other |= dict.fromkeys([item.name for item in TABLES if "driver" in item.name], "driver_polled")
    other |= dict.fromkeys([item.name for item in TABLES if "action" in item.name], "actions_jazzy")
    # Only what was recorded with samples of its threads has these.
    other |= dict.fromkeys(("thread_cpu", "layer_cpu_waits"), "throws_rclpy")
    analysis = analysis_of(other.get(table, "fast_blocked_st"))
    frame = getattr(analysis, table)
    declared = next(item for item in TABLES if item.name == table)
    assert list(frame.columns) == declared.names
    assert len(frame) > 0
    assert not frame.duplicated(list(declared.key)).any()


def test_all_shows_internal_topics_and_remarks(sample: Sample) -> None:
    text = strata("analyze", sample("fast_blocked_st"), "--all").stdout
    assert "/parameter_events" in text
    assert "taken = 0" in text
    assert "(--all)" not in text


def test_loss_comes_first(sample: Sample) -> None:
    text = strata("analyze", sample("fast_relay1p_mt_lossy")).stdout
    assert text.index("25,631 events were discarded") < text.index("/chain_0")
    assert "trust: 7 remarks, 25,631 events discarded (--quality)" in text


def test_the_json_document_is_the_contract(sample: Sample, root: Path) -> None:
    run = strata("analyze", sample("fast_relay1p_st"), "--format", "json")
    assert run.returncode == 0, run.stderr
    document = json.loads(run.stdout)
    assert document["schema"] == 1
    assert document["trace"]["events"] == 109196
    assert document["trace"]["discarded_events"] == 0
    assert [process["vpid"] for process in document["trace"]["processes"]] == [27879]
    assert document["messages"] == {
        "published": 8030,
        "taken": 8085,
        "matched": 8085,
        "unmatched_publish": 1,
        "unmatched_take": 0,
        "ambiguous": 0,
    }
    hop = next(hop for hop in document["hops"] if hop["topic"] == "/chain_2")
    assert (hop["publisher_node"], hop["subscription_node"]) == ("/relay_1", "/relay_2")
    assert list(hop["latency_ns"]) == list(STATISTICS)
    for row in hop["layers"]:
        assert {"layer", "share", "unsynchronised", *STATISTICS} == set(row)
    assert sum(row["mean"] for row in hop["layers"]) == pytest.approx(hop["latency_ns"]["mean"])
    assert sum(row["share"] for row in hop["layers"]) == pytest.approx(1)
    chain = document["chains"][0]
    assert chain["name"] == "/chain_0 -> /chain_1 -> /chain_2 -> /chain_3"
    assert sum(row["mean"] for row in chain["layers"]) == pytest.approx(chain["latency_ns"]["mean"])
    assert {"layer", "where", "share_p50", "share_p99"} <= set(chain["blame"][0])
    callback = next(c for c in document["callbacks"] if c["trigger"] == "/chain_1")
    assert callback["count"] == callback["duration_ns"]["count"] == 2000
    assert callback["period_ns"]["count"] == 1999
    told = {"code", "count", "severity", "text", "places", "begin_ns", "end_ns"}
    assert told == set(document["quality"][0])
    (bottleneck,) = document["bottlenecks"]
    assert document["chains"][bottleneck["chain_id"]]["name"] == bottleneck["chain"]
    page = (root / "docs/json.md").read_text().partition("## `strata hops")[0]
    assert [name for name in sorted({*document, *hop, *chain}) if f"`{name}`" not in page] == []
    (line,) = [line for line in page.splitlines() if line.startswith("| `bottlenecks` |")]
    assert [name for name in sorted(bottleneck) if f"`{name}`" not in line] == []


def test_the_document_has_no_nan(sample: Sample) -> None:
    run = strata("analyze", sample("fast_lifecycle"), "--format", "json")
    assert json.loads(run.stdout, parse_constant=pytest.fail)["schema"] == 1


def test_csv_is_one_rectangle(sample: Sample) -> None:
    run = strata("analyze", sample("fast_blocked_st"), "--format", "csv")
    frame = pd.read_csv(io.StringIO(run.stdout))
    assert set(frame["scope"]) == {"hop", "chain"}
    fast = frame[(frame["scope"] == "chain") & (frame["name"] == "/fast")]
    whole = fast[fast["layer"] == "latency"]
    assert whole["count"].tolist() == [546]
    parts = fast[fast["layer"] != "latency"]
    assert parts["mean_ns"].sum() == pytest.approx(whole["mean_ns"].iloc[0])


def test_csv_prints_any_declared_table(sample: Sample) -> None:
    run = strata("analyze", sample("fast_blocked_st"), "--format", "csv", "--table", "messages")
    assert len(pd.read_csv(io.StringIO(run.stdout))) == 611


def test_a_table_needs_csv(sample: Sample) -> None:
    run = strata("analyze", sample("fast_blocked_st"), "--table", "messages")
    assert run.returncode == 2
    assert "--table needs --format csv" in run.stderr


def test_an_output_file_is_named_and_not_overwritten(sample: Sample, tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    arguments = ("analyze", sample("fast_blocked_st"), "--format", "json", "-o", output)
    run = strata(*arguments)
    assert (run.returncode, run.stdout) == (0, "")
    assert f"Wrote {output}" in run.stderr
    again = strata(*arguments)
    assert again.returncode == 1
    assert "the file exists. Choose another name or use --force." in again.stderr
    assert strata(*arguments, "--force").returncode == 0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("absent", "Cannot open trace absent: there is no such directory. Check the path."),
        (".", "no directory at or below it contains a CTF `metadata` file"),
    ],
)
def test_bad_input_is_one_line_and_exit_1(tmp_path: Path, path: str, text: str) -> None:
    run = strata("analyze", path, cwd=tmp_path)
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.startswith("strata: Cannot ")
    assert text in run.stderr
    assert len(run.stderr.splitlines()) == 1


def test_what_could_not_be_read_is_named_everywhere(own_sample: Sample) -> None:
    directory = own_sample("fast_throws")
    (directory / "bad").mkdir()
    (directory / "bad/metadata").touch()
    place = f"{directory}/bad: Cannot read metadata {directory}/bad/metadata: it is empty"
    text = strata("analyze", directory, "--quality", columns=600).stdout
    assert "1 directory at or below the path could not be read and was left out." in text
    assert f"left out: {place}" in text
    run = strata("analyze", directory, "--format", "csv", "--table", "losses")
    (row,) = pd.read_csv(io.StringIO(run.stdout)).to_dict("records")
    assert (row["code"], row["count"]) == ("unreadable_traces", 1)
    assert row["place"].startswith(place)
    assert strata("report", directory).returncode == 0
    assert place in (directory / "report.html").read_text(encoding="utf-8")


def test_a_late_start_gives_a_partial_result_that_says_so(sample: Sample) -> None:
    run = strata("analyze", sample("fast_relay1p_st_latestart"), "--quality", "--layers")
    assert run.returncode == 0
    text = " ".join(run.stdout.split())
    assert "1 process has no init events: tracing began after they did" in text
    assert "617 messages" in text


def test_help_names_every_verb() -> None:
    text = strata("--help").stdout
    for verb in ("doctor", "record", "analyze", "report"):
        assert verb in text
