# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tallies for tests: of a sample trace in windows, and made up; the numbers of metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from strata.analysis import SystemVerdict
from strata.live.judged import Chain, ChainSeen, ExecutorSeen, HopSeen, Judged, judge, see
from strata.live.known_names import KnownNames
from strata.live.metrics import Metric, Summary
from strata.live.tally import Tally
from strata.live.windows import Window
from strata.read import open_trace

SECOND = 1_000_000_000
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]
BEGIN_NS = 1_800_000_000 * SECOND
MS = 1_000_000


def judged_windows(trace: Path, count: int) -> Iterator[Judged]:
    """Judge a trace in windows of the same length, which are spread over half a minute."""
    names = KnownNames()
    packets = open_trace(trace).decoder.packets
    begin_ns, end_ns = int(packets["begin_ns"].min()), int(packets["end_ns"].max())
    bounds = [begin_ns - 1 + (end_ns - begin_ns + 1) * at // count for at in range(count + 1)]
    for at, (since_ns, until_ns) in enumerate(pairwise(bounds)):
        seen = see(Window(trace, since_ns, until_ns, (since_ns, until_ns)), names)
        assert seen is not None
        one = judge(seen)
        later_ns = at * 30 * SECOND // count
        yield replace(
            one, window=replace(one.window, since_ns=since_ns, until_ns=until_ns + later_ns)
        )


def made_window(at_s: int, discarded: int = 0, unseen_ns: int = 0) -> Window:
    """Return the second that ends `at_s` seconds after the begin."""
    until_ns = BEGIN_NS + at_s * SECOND
    span = (until_ns - SECOND, until_ns)
    return Window(Path("nowhere"), *span, span, discarded=discarded, unseen_ns=unseen_ns)


def chain(count: int, each_ns: int, **layers_ns: int) -> ChainSeen:
    """Return messages that all took the same time, in layers or in one."""
    spent = layers_ns or {"callback": count * each_ns}
    return ChainSeen(np.full(count, each_ns), {k.replace("_", " "): v for k, v in spent.items()})


def made_judged(at_s: int, chains: Mapping[Chain, ChainSeen], **more: Any) -> Judged:
    """Return a second in which chains were seen."""
    window = more.pop("window", made_window(at_s))
    return Judged(window, events=1000, traced_ns=SECOND, chains=chains, **more)


def hostile_tally() -> Tally:
    """Return a tally of many things, whose names are meant to break what shows them."""
    tally = Tally()
    evil = [
        "\x1b[2J/cls",
        "/a\nb",
        '/"quoted"\\',
        "/\u202eltr",
        "/\ud800",
        "/[red]m[/]",
        "/画像" * 30,
    ]
    topics = [*evil, *(f"/namespace_{at}/a_rather_long_topic_name_{at}" for at in range(40))]
    for at_s in range(1, 31):
        chains = {
            (f"{topic} -> {topic}/next", f"{topic} -> /end{at}"): chain(3, (at + 1) * MS)
            for at, topic in enumerate(topics)
            if at_s < 15 or at % 5
        }
        tally.add(
            made_judged(
                at_s,
                chains,
                window=made_window(at_s, discarded=3, unseen_ns=7),
                published=dict.fromkeys(topics, 3),
                system=SystemVerdict(f"{topics[0]} takes 90 % of the time. " * 9, True),
                hops={
                    (topic, f"{topic}_from", f"{topic}_to"): HopSeen(2, {"overwritten": 1})
                    for topic in topics[:20]
                },
                executors=tuple(
                    ExecutorSeen(f"h{at % 2}{topic}", at, f"{topic}, {topic}2", 2, at / len(topics))
                    for at, topic in enumerate(topics)
                ),
            )
        )
    tally.unread = 2
    return tally


def counted(at_s: int, count: int) -> Tally:
    """Return a tally of one second in which everything is `count`."""
    tally = Tally()
    hops = {("/t", "/p", "/s"): HopSeen(count, {"overwritten": count})}
    one = made_judged(at_s, {("/t", "/p -> /s"): chain(count, MS)}, hops=hops)
    tally.add(one)
    tally.total.published["/t"] = tally.discarded = count
    return tally


def series(metrics: tuple[Metric, ...]) -> Series:
    """Return every number of metrics by its name and labels, as Prometheus calls them."""
    found: Series = {}
    for metric in metrics:
        for sample in metric.samples:
            to = frozenset(sample.labels.items())
            if isinstance(sample.value, Summary):
                values = {f"{metric.name}_count": (to, float(sample.value.count))}
                values[f"{metric.name}_sum"] = (to, sample.value.sum)
                for name, (labels, value) in values.items():
                    assert (name, labels) not in found
                    found[name, labels] = value
                for fraction, quantile in sample.value.quantiles.items():
                    of = to | {("quantile", str(fraction))}
                    found[metric.name, of] = math.nan if quantile is None else quantile
            else:
                assert (metric.name, to) not in found
                found[metric.name, to] = sample.value
    return found
