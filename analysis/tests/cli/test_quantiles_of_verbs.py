# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`--quantiles` of `strata report`, `hops` and `compare` as a user runs them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_reader import read
from strata_command import strata

from strata.analysis import Analysis
from strata.schema.layers import BY_NAME
from strata.units import format_ns

A, B = "fast_relay1p_st", "fast_relay1p_st_ipc"
ASKED = "25,95,99.9"
NAMES = ["p25", "p95", "p99.9"]
FRACTIONS = [0.25, 0.95, 0.999]

AnalysisOf = Callable[[str], Analysis]
Sample = Callable[[str], Path]


def shown(*arguments: str | Path) -> str:
    done = strata(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def of_hop(analysis: Analysis, topic: str) -> Any:
    messages = analysis.messages
    return messages[(messages["topic"] == topic) & messages["callback_end_ns"].notna()]


def named(values: Any) -> dict[str, float]:
    return dict(zip(NAMES, np.quantile(values.to_numpy(np.int64), FRACTIONS), strict=True))


def test_hops_have_them_to_both_ends_and_of_layers(sample: Sample, analysis_of: AnalysisOf) -> None:
    document = json.loads(shown("hops", sample(A), "--quantiles", ASKED, "--format", "json"))
    messages = of_hop(analysis_of(A), "/chain_0")
    (hop,) = (one for one in document["hops"] if one["topic"] == "/chain_0")
    (found,) = hop["traces"]
    to_start = messages["callback_start_ns"] - messages["begin_ns"]
    assert found["transfer"]["quantiles_ns"] == named(to_start)
    assert found["whole"]["quantiles_ns"] == named(messages["latency_ns"])
    for layer in found["layers"]:
        own = messages[BY_NAME[layer["layer"]].column].dropna()
        assert layer["quantiles_ns"] == named(own)
    (chain, *_) = document["chains"]
    assert list(chain["traces"][0]["quantiles_ns"]) == NAMES


def test_hops_and_analyze_agree(sample: Sample) -> None:
    """One counts with the engine's groups, the other with arrays of its own."""
    asked = ("--quantiles", ASKED, "--format", "json")
    hops = json.loads(shown("hops", sample(A), *asked))["hops"]
    analyzed = json.loads(shown("analyze", sample(A), *asked))["hops"]
    of = {(hop["topic"], hop["subscription_node"]): hop for hop in analyzed}
    for hop in hops:
        own = of[hop["topic"], hop["subscription_node"]]
        (found,) = hop["traces"]
        assert found["whole"]["quantiles_ns"] == own["quantiles_ns"]
        layers = {layer["layer"]: layer["quantiles_ns"] for layer in own["layers"]}
        assert {layer["layer"]: layer["quantiles_ns"] for layer in found["layers"]} == layers


def test_hops_show_them_in_place_of_the_usual(sample: Sample) -> None:
    text = shown("hops", sample(A), sample(B), "--quantiles", "1,25,50,95,99.999")
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    heads = [line.split() for line in lines if line.strip().startswith("count")]
    of_hop = ["count", "lost", "min", "p1", "p25", "p50", "p95", "p99.999", "max"]
    assert heads and all(head == of_hop for head in heads)
    assert any("p99.999 B" in line for line in lines)
    table = shown("hops", sample(A), "--quantiles", ASKED, "--format", "csv")
    row = next(csv.DictReader(io.StringIO(table)))
    assert float(row["p25"]) <= float(row["p50"]) <= float(row["p95"]) <= float(row["p99"])


def test_the_page_shows_them_in_every_table_of_messages(
    sample: Sample, analysis_of: AnalysisOf, tmp_path: Path
) -> None:
    target = tmp_path / "page.html"
    shown("report", sample(A), "-o", target, "--quantiles", ASKED)
    page = read(target.read_text())
    for section in ("hops", "callbacks", "chain-0"):
        heads = [cell.text for cell in page.by_id(section).every("th")]
        assert [name for name in heads if name in NAMES][:3] == NAMES, section
        assert not {"p50", "p90", "p99"} & set(heads), section
    tiles = [cell.text for cell in page.by_id("chain-0").every("dt")]
    assert [name for name in tiles if name in (*NAMES, "max")] == [*NAMES, "max"]
    expected = named(of_hop(analysis_of(A), "/chain_0")["latency_ns"])
    (row,) = (one for one in page.by_id("hops").every("tr") if "/chain_0" in one.text)
    cells = [cell.text for cell in row.every("td")]
    assert cells[4:7] == [format_ns(ns, micro="µs") for ns in expected.values()]


def test_compare_tells_values_and_differences(sample: Sample, analysis_of: AnalysisOf) -> None:
    asked = ("--quantiles", ASKED)
    usual = json.loads(shown("compare", sample(A), sample(B), "--format", "json"))
    found = json.loads(shown("compare", sample(A), sample(B), "--format", "json", *asked))
    (hop,) = (
        one
        for one in found["comparison"]["subjects"]
        if one["kind"] == "hop" and one["name"] == "/chain_0"
    )
    latency = hop["latency"]
    for side, name in (("a", A), ("b", B)):
        expected = named(of_hop(analysis_of(name), "/chain_0")["latency_ns"])
        assert latency[side]["quantiles_ns"] == expected
    differences = latency["difference"]["quantiles_ns"]
    assert set(differences) == {"p99", "p50", *NAMES}
    for name in NAMES:
        one = differences[name]
        both = [latency[side]["quantiles_ns"][name] for side in "ab"]
        assert one["value"] == pytest.approx(both[1] - both[0])
        assert one["low"] is None or one["low"] <= one["value"] <= one["high"]
    # Nothing else changes for being asked.
    assert without_chosen(found["comparison"]) == without_chosen(usual["comparison"])


def without_chosen(value: Any) -> Any:
    """Leave out what only the option adds, and the note that names the percentiles."""
    if isinstance(value, dict):
        left_out = {"quantiles_ns"} if "p50_ns" in value else set(NAMES) | {"notes", "p50"}
        kept = {key: without_chosen(one) for key, one in value.items() if key not in left_out}
        return kept | ({"notes": value["notes"][1:]} if "notes" in value else {})
    return [without_chosen(one) for one in value] if isinstance(value, list) else value


def test_compare_shows_them_to_people(sample: Sample) -> None:
    asked = ("--quantiles", "1,25,50,95,99.999")
    short = shown("compare", sample(A), sample(B), *asked)
    rows = [line.split()[0] for line in short.splitlines() if re.match(r"p\d", line)]
    assert rows == ["p1", "p25", "p50", "p95", "p99.999"]
    text = shown("compare", sample(A), sample(B), *asked, "--all")
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    heads = ["count", "runs", "mean", "p1", "p25", "p50", "p95", "p99.999"]
    assert heads in [line.split() for line in lines]
    assert any(line.startswith("p95 ") and "95 %" in line for line in lines)
    assert not any(line.startswith("p99 ") for line in lines)
    options = ("--quantiles", ASKED, "--format", "markdown", "--all")
    document = shown("compare", sample(A), sample(B), *options)
    rows = [line for line in document.splitlines() if line.startswith("| ")]
    first = next(line for line in rows if "A n" in line)
    assert "A p99.9 | B p99.9" in first and "p99.9 shift" in first and "p99 " not in first
    assert {line.replace("\\|", "").count("|") for line in rows} == {first.count("|")}


@pytest.mark.parametrize("verb", ["report", "hops", "compare"])
def test_what_is_no_percentile_is_said(sample: Sample, verb: str) -> None:
    done = strata(verb, sample(A), *([sample(B)] if verb == "compare" else []), "--quantiles=101")
    assert done.returncode == 2
    assert "--quantiles '101': 101 is no percentile: they go from 0 to 100" in done.stderr


def test_gates_alone_have_no_percentiles_to_choose(sample: Sample, tmp_path: Path) -> None:
    gates = tmp_path / "gates.yaml"
    gates.write_text("gates: []\n")
    done = strata("compare", sample(A), "--gate", gates, "--quantiles", "50")
    assert done.returncode == 2
    assert "--quantiles needs A and B" in done.stderr
