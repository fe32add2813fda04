# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that depend on each other make p too small: every p of such says so."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from made_runs import hop_side

from strata.cli.console import make_console
from strata.comparison.comparison import Comparison, compare_sides
from strata.comparison.parts import Part
from strata.show.ci.markdown import markdown
from strata.show.document.comparison import document
from strata.show.terminal.comparison import print_comparison
from strata.show.words.comparison import doubts_text
from strata.stats.shift import shift

PART = Part("middleware", "")


def series(random: np.random.Generator, count: int, rho: float) -> np.ndarray:
    """An autoregressive series of first order of latencies, ns."""
    from scipy.signal import lfilter

    noise = random.normal(size=count + 500)
    values = lfilter([1], [1, -rho], noise)[500:] * np.sqrt(1 - rho**2)
    return (1_000_000 + 50_000 * values).astype(np.int64)


def doubted(rho: float, count: int, times: int) -> tuple[int, int]:
    """Of so many comparisons without a difference: how many are doubted, and how many find one."""
    random = np.random.default_rng(count)
    found = [
        shift(series(random, count, rho), series(random, count, rho), seed=at, quantiles=())
        for at in range(times)
    ]
    return sum(one.is_doubtful for one in found), sum(one.p < 0.05 for one in found)


@pytest.mark.parametrize("count", [300, 1_000])
def test_dependence_that_makes_p_too_small_is_told(count: int) -> None:
    doubtful, wrong = doubted(0.97, count, 100)
    assert doubtful >= 99
    # What it is told for: 5 were meant.
    assert wrong > 10


@pytest.mark.parametrize("count", [20, 60, 300, 1_000])
def test_independent_messages_are_not_doubted(count: int) -> None:
    doubtful, _ = doubted(0.0, count, 100)
    assert doubtful <= 3


def comparison(rho: float) -> Comparison:
    random = np.random.default_rng(5)
    a, b = (hop_side({PART: series(random, 600, rho)}) for _ in range(2))
    return compare_sides(a, b)


def printed(found: Comparison) -> str:
    file = io.StringIO()
    console = make_console(file)
    console.width = 100
    print_comparison(found, console, everything=True)
    return " ".join(file.getvalue().split())


def test_every_output_says_it() -> None:
    found = comparison(0.97)
    text, page = printed(found), markdown(found, (), everything=True)
    for said in (text, page):
        assert "p is not to be trusted: messages depend on each other and count as" in said
        assert doubts_text(found) in " ".join(said.split())
    assert "~+-" in text or "~-" in text or "~+" in text
    row = json.loads(json.dumps(document(found, (), found.a, found.b)))["comparison"]["subjects"][
        0
    ]["latency"]["difference"]
    assert row["doubtful"] is True
    assert max(row["effective_counts"]) < 100


def test_of_independent_messages_nothing_is_said() -> None:
    found = comparison(0.0)
    assert doubts_text(found) == ""
    assert "~" not in printed(found)
    row = document(found, (), found.a, found.b)["comparison"]["subjects"][0]["latency"][
        "difference"
    ]
    assert (row["doubtful"], row["effective_counts"]) == (False, None)


def test_several_runs_need_no_warning() -> None:
    random = np.random.default_rng(6)
    sides = [hop_side(*({PART: series(random, 300, 0.97)} for _ in range(3))) for _ in range(2)]
    assert doubts_text(compare_sides(*sides)) == ""
