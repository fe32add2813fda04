# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is counted window by window adds up to what an analysis of the whole trace counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import strata
from strata.live.judged import Judged, judge, see
from strata.live.known_names import KnownNames
from strata.live.quantile_sketch import ACCURACY, QuantileSketch
from strata.live.tally import OTHERS, RECENT_NS, Counts, Tally
from strata.live.windows import Window

LOSSY = "cyc_img720p30"
SAMPLES = ("fast_relay1p_st_ipc", "attached_jazzy", "dds_jazzy_udp_resends", LOSSY)
WINDOWS = 7


@pytest.fixture(params=SAMPLES)
def trace(request: pytest.FixtureRequest, sample: Callable[[str], Path]) -> Path:
    return sample(request.param)


def counted(trace: Path, begin_ns: int, end_ns: int) -> Tally:
    tally = Tally()
    names = KnownNames()
    span_ns = end_ns - begin_ns + 1
    bounds = [begin_ns - 1 + span_ns * at // WINDOWS for at in range(WINDOWS + 1)]
    for since_ns, until_ns in pairwise(bounds):
        tally.add(judged(Window(trace, since_ns, until_ns, (since_ns, until_ns)), names))
    return tally


def judged(window: Window, names: KnownNames) -> Judged:
    seen = see(window, names)
    assert seen is not None
    return judge(seen)


def test_windows_add_up_to_the_whole(trace: Path) -> None:
    whole = strata.analyze(trace)
    tally = counted(trace, whole.trace.begin_ns, whole.trace.end_ns)
    total = tally.total
    assert tally.windows == WINDOWS
    assert sum(total.published.values()) == whole.counts.published > 0
    assert (total.taken, total.matched) == (whole.counts.taken, whole.counts.matched)

    chains = whole.chains
    instances: Counter[tuple[str, str]] = Counter()
    for name, nodes, count in zip(chains["name"], chains["nodes"], chains["count"], strict=True):
        instances[name, nodes] += count
    assert Counter({key: one.latency.count for key, one in total.chains.items()}) == instances
    for chain_id, name, nodes in zip(
        chains["chain_id"], chains["name"], chains["nodes"], strict=True
    ):
        own = whole.chain_instances[whole.chain_instances["chain_id"] == chain_id]
        if not len(own):
            continue
        one = total.chains[name, nodes]
        assert one.latency.sum_ns == own["latency_ns"].sum() == sum(one.layers_ns.values())
        assert one.latency.max_ns == own["latency_ns"].max()
        for fraction in (0.5, 0.99):
            exact = np.quantile(own["latency_ns"], fraction, method="lower")
            assert one.latency.quantile_ns(fraction) == pytest.approx(exact, rel=ACCURACY)


def test_losses_add_up_by_cause(trace: Path) -> None:
    whole = strata.analyze(trace)
    total = counted(trace, whole.trace.begin_ns, whole.trace.end_ns).total
    hops = whole.hops.set_index("hop_id")
    lost: Counter[tuple[str, str]] = Counter()
    for row in whole.hop_losses.itertuples():
        if row.outcome == "lost":
            lost[hops.loc[row.hop_id, "topic"], row.cause] += row.count
    found: Counter[tuple[str, str]] = Counter()
    for (topic, _, _), of_hop in total.hops.items():
        for cause, count in of_hop.lost.items():
            found[topic, cause] += count
    assert found == Counter({key: n for key, n in lost.items() if key[0] in total.published})
    assert found.total() == (57 if trace.name == LOSSY else 0)


@pytest.mark.parametrize("seed", range(5))
def test_quantiles_of_merged_sketches_are_within_their_bound(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = np.exp(random.normal(14, 3, 5000)).astype(np.int64) + 1
    merged = QuantileSketch()
    for part in np.array_split(values, 9):
        one = QuantileSketch()
        one.add(part)
        merged.merge(one)
    assert (merged.count, merged.sum_ns) == (len(values), values.sum())
    for fraction in (0.0, 0.01, 0.5, 0.9, 0.99, 1.0):
        exact = np.quantile(values, fraction, method="lower")
        assert merged.quantile_ns(fraction) == pytest.approx(exact, rel=ACCURACY)


def test_only_the_last_seconds_are_recent(trace: Path) -> None:
    whole = strata.analyze(trace)
    span_ns = (whole.trace.begin_ns - 1, whole.trace.end_ns)
    window = Window(trace, *span_ns, span_ns)
    one = judged(window, KnownNames())
    tally = Tally()
    for at in range(4):
        later = window.until_ns + at * (RECENT_NS // 2)
        tally.add(replace(one, window=replace(window, until_ns=later, discarded=at)))
    assert tally.recent().taken == 2 * one.taken
    assert tally.total.taken == 4 * one.taken
    assert tally.discarded == 3


def test_names_beyond_the_bound_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strata.live.tally.MOST_NAMES", 2)
    total = Counts()
    for number in range(5):
        total.merge(Counts(published=Counter({f"/t{number}": 1})))
    assert total.published == Counter({"/t0": 1, "/t1": 1, OTHERS: 3})
