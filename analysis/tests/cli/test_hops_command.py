# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata hops` as a user runs it: traces side by side, filters, formats, errors."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from strata_command import strata

from strata.analysis import Analysis
from strata.units import format_ns

Sample = Callable[[str], Path]


@pytest.fixture(scope="module")
def text(sample: Sample) -> str:
    run = strata("hops", sample("fast_relay1p_st"), sample("fast_relaymp_st"))
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    return run.stdout


def blocks(text: str) -> list[list[str]]:
    """Lines of each hop's or chain's block, its rule first."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if "────" in line:
            found.append([])
        if found:
            found[-1].append(line.rstrip())
    return found


def test_every_hop_has_a_line_for_each_trace_and_fits_80_columns(text: str) -> None:
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith("A  fast_relay1p_st")
    *hops, chain = blocks(text)
    assert [block[1] for block in hops] == ["/chain_0", "/chain_1", "/chain_2", "/chain_3"]
    assert [block[2] for block in hops][1] == "/relay_0 -> /relay_1"
    for block in hops:
        numbers = [line.split() for line in block if line[:3] in ("A  ", "B  ")]
        assert [row[:3] for row in numbers[:2]] == [["A", "2,000", "0"], ["B", "2,000", "0"]]
        assert sum("█" in line for line in block) == 2
        assert any(line.startswith("   middleware") for line in block)
        assert any(line.startswith("B  mostly middleware") for line in block)
    assert chain[0].startswith("chain, first publish to the last callback_end")
    assert chain[2] == "/source -> /relay_0 -> /relay_1 -> /relay_2 -> /sink"


def test_the_numbers_are_those_of_the_hop_and_never_a_mean_over_hops(
    text: str, analysis_of: Callable[[str], Analysis]
) -> None:
    messages = analysis_of("fast_relay1p_st").messages
    for hop, block in enumerate(blocks(text)[:4]):
        own = messages[messages["topic"] == f"/chain_{hop}"]
        to_end = own["latency_ns"].median()
        line = next(line for line in block if line.startswith("A "))
        assert f"{to_end / 1e3:.1f} us" in line
        to_start = (own["callback_start_ns"] - own["publish_ns"]).median()
        other = next(line for line in block if line.startswith("   to callback_start: "))
        assert f"A p50 {to_start / 1e3:.1f} us, B p50 " in other


def test_it_is_the_latency_of_analyze(text: str, analysis_of: Callable[[str], Analysis]) -> None:
    for row in analysis_of("fast_relay1p_st").hops.to_dict("records"):
        block = next((one for one in blocks(text) if one[1] == row["topic"]), None)
        if block is not None:
            numbers = next(line for line in block if line.startswith("A "))
            assert format_ns(row["latency_p50_ns"]) in numbers
            assert format_ns(row["latency_p99_ns"]) in numbers


def test_modes_are_told_under_the_bars(sample: Sample) -> None:
    traces = (sample("fast_relay1p_st"), sample("fast_relaymp_st"))
    hops = blocks(strata("hops", *traces, "--until", "callback_start").stdout)
    assert any(line.startswith("   2 modes: 16.2 us (65%)") for line in hops[2])
    assert not any("modes" in line for line in hops[0])


def test_a_hop_that_only_one_trace_has_is_shown(sample: Sample) -> None:
    run = strata("hops", sample("fast_blocked_st"), sample("fast_throws"))
    found = {block[1]: block for block in blocks(run.stdout)[:-2]}
    assert "B        -" in found["/slow"]
    assert sum("█" in line for line in found["/slow"]) == 1


def test_filters_choose_topics_and_nodes(sample: Sample) -> None:
    trace = sample("fast_relay1p_st")
    by_topic = blocks(strata("hops", trace, "--topic", "/chain_[12]").stdout)
    assert [block[1] for block in by_topic[:-1]] == ["/chain_1", "/chain_2"]
    by_node = blocks(strata("hops", trace, "--node", "/sink").stdout)
    assert [block[2] for block in by_node[:-1]] == ["/relay_2 -> /sink"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            ["--topic", "/chian_1"],
            "--topic /chian_1 matches none of the 4 topics with hops. Did you mean /chain_1",
        ),
        (["--node", "/zzz*"], "--node /zzz* matches none of the 5 nodes with hops. There are: "),
        (["--topic", "/chain_0", "--node", "/sink"], "none of the 4 hops matches both --topic"),
    ],
)
def test_filters_that_match_nothing_name_what_there_is(
    sample: Sample, options: list[str], text: str
) -> None:
    run = strata("hops", sample("fast_relay1p_st"), *options)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith("strata: Cannot show hops: ")
    assert text in run.stderr


def test_internal_topics_are_hidden_unless_asked_for(sample: Sample) -> None:
    trace = sample("fast_blocked_st")
    assert "and 2 hops of internal topics (--all)" in strata("hops", trace).stdout
    everything = strata("hops", trace, "--all").stdout
    assert "/parameter_events" in everything
    assert "(--all)" not in everything
    named = blocks(strata("hops", trace, "--topic", "/parameter_events").stdout)
    assert {block[1] for block in named} == {"/parameter_events"}


def test_until_the_end_of_the_callback(sample: Sample) -> None:
    text = strata("hops", sample("fast_blocked_st")).stdout
    assert text == strata("hops", sample("fast_blocked_st"), "--until", "callback_end").stdout
    assert "each message from its publish to the end of its callback (callback_end)" in " ".join(
        text.split()
    )
    slow = next(block for block in blocks(text) if block[1] == "/slow")
    assert any(line.startswith("A  mostly callback 99 %") for line in slow)


def test_json_is_documented(sample: Sample, root: Path) -> None:
    run = strata("hops", sample("fast_relay1p_st"), sample("fast_relaymp_st"), "--format", "json")
    made = json.loads(run.stdout)
    assert [trace["name"] for trace in made["traces"]] == ["fast_relay1p_st", "fast_relaymp_st"]
    hop = made["hops"][2]
    assert (hop["topic"], hop["publisher_node"]) == ("/chain_2", "/relay_1")
    first = hop["traces"][0]
    assert [mode["count"] for mode in first["transfer"]["modes"]] == [1_297, 703]
    assert first["transfer"]["latency_ns"]["p50"] < first["whole"]["latency_ns"]["p50"]
    assert made["chains"][0]["traces"][1]["latency_ns"]["count"] == 2_000
    page = (root / "docs/json.md").read_text()
    fields = {*made, *hop, *first, *first["transfer"], *made["chains"][0]}
    assert [name for name in sorted(fields) if f"`{name}`" not in page] == []


def test_one_message_has_no_deviation_and_json_no_nan(sample: Sample) -> None:
    run = strata("hops", sample("fast_lifecycle"), "--all", "--format", "json")
    made = json.loads(run.stdout, parse_constant=pytest.fail)
    single = [hop["traces"][0] for hop in made["hops"] if hop["traces"][0]["count"] == 1]
    layers = [layer for hop in single for layer in hop["layers"] if layer["count"] == 1]
    assert layers
    assert {layer["std"] for layer in layers} == {None}


def test_csv_is_one_rectangle(sample: Sample) -> None:
    run = strata("hops", sample("fast_relay1p_st"), sample("fast_relaymp_st"), "--format", "csv")
    frame = pd.read_csv(io.StringIO(run.stdout))
    wholes = frame[(frame["scope"] == "hop") & (frame["layer"] == "transfer")]
    assert wholes["trace"].tolist() == ["fast_relay1p_st", "fast_relaymp_st"] * 4
    assert wholes["lost"].tolist() == [0] * 8
    assert frame["scope"].value_counts()["chain"] == 2


def test_a_file_is_not_overwritten(sample: Sample, tmp_path: Path) -> None:
    target = tmp_path / "hops.csv"
    arguments = ("hops", sample("fast_throws"), "--format", "csv", "-o", target)
    assert "Wrote" in strata(*arguments).stderr
    again = strata(*arguments)
    assert again.returncode == 1
    assert "the file exists" in again.stderr
    assert strata(*arguments, "--force").returncode == 0


def test_usage(tmp_path: Path) -> None:
    assert strata("hops").returncode == 2
    missing = strata("hops", tmp_path / "none")
    assert (missing.returncode, missing.stdout) == (1, "")
