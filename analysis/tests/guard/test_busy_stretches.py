# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The busiest stretch is the one that trying all of them finds, and busy is what analyses mean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from watched import watched, when, whole_of

from strata.guard.executors import Idle, busiest, idleness
from strata.live.judged import see
from strata.live.known_names import KnownNames
from strata.live.windows import Window
from strata.schema import tables
from strata.schema.rows import Rows
from strata.verdict.executor_load import busy_shares

FAR = 60
"""Instants of made threads lie before it."""


def made_threads(spans: list[tuple[int, int]]) -> Rows:
    plain = {"executor_id": 0, "host": "h", "vpid": 1, "executions": 0, "executing_ns": 0}
    return Rows.of_records(
        tables.EXECUTOR_THREADS,
        [
            {**plain, "vtid": number, "begin_ns": begin, "end_ns": end}
            for number, (begin, end) in enumerate(spans)
        ],
    )


@st.composite
def threads(draw: st.DrawFn) -> list[tuple[tuple[int, int], list[tuple[int, int]]]]:
    """The span of each thread, and when it was idle within that."""
    found = []
    for _ in range(draw(st.integers(1, 3))):
        edges = sorted(draw(st.sets(st.integers(0, FAR), min_size=2, max_size=10)))
        first, *inner, last = edges
        pairs = list(zip(inner[::2], inner[1::2], strict=False))
        found.append(((first, last), pairs))
    return found


@given(threads(), st.integers(1, 30), st.integers(0, FAR), st.integers(1, 30))
def test_no_stretch_is_busier(
    own: list[tuple[tuple[int, int], list[tuple[int, int]]]], span: int, since: int, length: int
) -> None:
    busy = np.zeros((len(own), 4 * FAR), bool)
    pieces = []
    for row, ((first, last), idle) in enumerate(own):
        # What lies before time 0 is kept in negative places, which wrap around.
        busy[row, first:last] = True
        for begin, end in idle:
            busy[row, begin:end] = False
        pieces += idle
    window = Window(Path(), since, since + length, (0, 0))
    shares = {
        end: sum(busy[:, at].sum() for at in range(end - span, end)) / (span * len(own))
        for end in range(since + 1, since + length + 1)
    }
    begins, ends = (np.array([piece[at] for piece in pieces], np.int64) for at in (0, 1))
    idle_times = Idle(np.zeros(len(pieces), np.int64), begins, ends)
    found = busiest(made_threads([spans for spans, _ in own]), idle_times, 0, span, window)
    assert found is not None
    assert found.share == pytest.approx(max(shares.values()), abs=1e-9)
    assert shares[found.end_ns] == pytest.approx(found.share, abs=1e-9)


@pytest.mark.parametrize(
    "name",
    [
        "fast_relay1p_overload",
        "fast_relay1p_mt",
        "groups_exclusive",
        "ref_multi_full",
        "ends_jazzy",
        "fast_relaymp_st",
    ],
)
def test_busy_is_what_analyses_mean(name: str, sample: Callable[[str], Path]) -> None:
    """Over the whole time of an executor's threads."""
    trace = sample(name)
    seen = see(Window(trace, 0, 1, (0, 1)), KnownNames())
    assert seen is not None
    every, idle = seen.made["executor_threads"], idleness(seen.model)
    compared = 0
    for executor, busy in busy_shares(every).of("busy").items():
        own = every.take(every["executor_id"] == executor)
        begin_ns, end_ns = int(own["traffic_begin_ns"].min()), int(own["traffic_end_ns"].max())
        if begin_ns < 0 or np.isnan(busy):
            continue
        # Of several threads the traffic is cut to what is seen of each.
        whole_ns = (own["traffic_end_ns"] - own["traffic_begin_ns"]).sum()
        window = Window(trace, end_ns - 1, end_ns, (0, 1))
        found = busiest(own, idle, executor, end_ns - begin_ns, window)
        assert found is not None
        share = found.share * len(own) * (end_ns - begin_ns) / whole_ns
        assert share == pytest.approx(busy, abs=1e-9)
        compared += 1
    assert compared


def test_a_bound_above_the_busiest_stretch_finds_nothing(sample: Callable[[str], Path]) -> None:
    trace = sample("fast_relay1p_st")
    texts = [f"executor busy > {percent} % for 1 s" for percent in range(0, 100, 5)]
    (found,) = watched(trace, whole_of(trace), *map(when, texts))
    held = [one.when.name for one in found]
    assert held == texts[: len(held)]
    assert 0 < len(held) < len(texts)


def test_an_executor_without_events_is_not_judged(sample: Callable[[str], Path]) -> None:
    trace = sample("fast_relay1p_events")
    assert watched(trace, whole_of(trace), when("executor busy > 0 % for 1 s")) == [[]]
