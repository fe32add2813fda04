# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata analyze --quantiles` as a user runs it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from strata_command import strata

from strata.cli.quantiles import parse_quantiles

TRACE = "dds_jazzy_udp_resends"


def shown(*arguments: str | Path) -> str:
    done = strata("analyze", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_percentiles_are_read_exactly() -> None:
    assert parse_quantiles("99.9, 50,0.1,50") == (0.001, 0.5, 0.999)


def test_text_shows_them_in_place_of_the_usual(sample: Callable[[str], Path]) -> None:
    text = shown(
        sample(TRACE), "--quantiles", "25,99.9", "--layers", "--hops", "--callbacks", "--timers"
    )
    assert "p25" in text and "p99.9" in text
    # Timers have statistics of their own.
    of_messages = text[: text.index("timers ─")]
    assert "callbacks, by total time" in of_messages
    assert "p50" not in of_messages and "p90" not in of_messages
    # A command with a long path is not broken, so that it can be pasted.
    assert all(len(line) <= 80 for line in text.splitlines() if TRACE not in line)


def test_documents_and_tables_have_them(sample: Callable[[str], Path]) -> None:
    trace = sample(TRACE)
    document = json.loads(shown(trace, "--quantiles", "25", "--format", "json"))
    usual = json.loads(shown(trace, "--format", "json"))
    (hop, *_), (chain, *_) = document["hops"], document["chains"]
    for one in (hop, chain, hop["layers"][0], chain["segments"][0], document["callbacks"][0]):
        assert list(one["quantiles_ns"]) == ["p25"]
    assert hop["latency_ns"]["min"] <= hop["quantiles_ns"]["p25"] <= hop["latency_ns"]["p50"]
    assert "quantiles_ns" not in usual["hops"][0]
    table = shown(trace, "--quantiles", "25", "--format", "csv", "--table", "quantiles")
    assert {row["quantile"] for row in csv.DictReader(io.StringIO(table))} == {"0.25"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fast", "'fast' is no percentile"),
        ("50,", "'' is no percentile"),
        ("101", "they go from 0 to 100"),
        ("-1", "they go from 0 to 100"),
        ("1/0", "'1/0' is no percentile"),
        ("nan", "'nan' is no percentile"),
        ("1,2,3,4,5,6", "6 are too many, of at most 5"),
    ],
)
def test_what_is_no_percentile_is_said(sample: Callable[[str], Path], text: str, said: str) -> None:
    done = strata("analyze", sample(TRACE), f"--quantiles={text}")
    assert done.returncode == 2
    assert said in done.stderr
