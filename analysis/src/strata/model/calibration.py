# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The offset between source timestamps and event times of one host, where nothing states it.

    offset = CLOCK_REALTIME - the trace's clock (CLOCK_MONOTONIC + a constant)

It drifts while NTP slews the clock, and jumps when the clock is set. Each pair of a stamp with the
publication that got it bounds the offset from both sides: the stamp was taken after rmw_publish
and before the next event of that thread. Which pairs are true is not known at first:

1. Stamps are gone through in order, `BIN` at a time. Of all publications of a stamp's topic that
   may be meant, each votes for the offsets that it would need. The true offset gets many votes.
   Of a periodic topic so does the offset that takes each message for its neighbour.
2. With the true offset, (stamp - publish) changes little from message to message; with another it
   changes as the period jitters. The steadiest offset wins if it is clearly steadier.
3. The pairs of the winners bound the offset at any time: the least upper and the greatest lower
   bound among the nearest pairs, each loosened by what a clock can slew meanwhile.

Publications with a stamp of their own (Jazzy and newer) are pairs that are surely true.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.lazy import pandas as pd
from strata.model.columns import Ints
from strata.model.rows import picked
from strata.model.search import GroupedSearch, spread

Flags = npt.NDArray[np.bool_]

SLEW = 500e-6
"""How fast a clock is slewed at most: Linux's adjtime goes up to 500 ppm."""

BIN = 50
"""Stamps that are calibrated together."""
_LEAST_VOTES = 8
_NEAREST = 10
_BASE_NS = 50_000
_CLEARLY = 2.0
_FLOOR_NS = 1_000
_FAR = 1 << 62


@dataclass(frozen=True)
class Pairs:
    """Stamps with publications that may be theirs: the offset is in `low` .. `high` if so.

    `question` numbers the stamps, of which each may have several pairs. `sure` pairs are true.
    """

    question: Ints
    group: Ints
    stamp: Ints
    publish_ns: Ints
    low: Ints
    high: Ints
    sure: Flags

    def __len__(self) -> int:
        return len(self.stamp)


@dataclass(frozen=True)
class Offset:
    """Bounds of the offset, from true pairs in order of stamp; see `bounds`."""

    stamp: Ints
    low: Ints
    high: Ints

    def bounds(self, stamp: Ints) -> tuple[Ints, Ints]:
        """Return the least and the greatest offset at each stamp.

        Neighbours that contradict each other (the clock was set in between) widen the bounds.
        Undefined when there are no pairs.
        """
        last = len(self.stamp) - 1
        place = np.searchsorted(self.stamp, stamp, side="left")
        lows, highs = np.full((2, len(stamp)), _FAR, np.int64) * [[-1], [1]]
        least, greatest = highs.copy(), lows.copy()
        for step in range(-_NEAREST, _NEAREST):
            near = np.clip(place + step, 0, last)
            slew = (np.abs(self.stamp[near] - stamp) * SLEW).astype(np.int64)
            lows = np.maximum(lows, self.low[near] - slew)
            highs = np.minimum(highs, self.high[near] + slew)
            least = np.minimum(least, self.high[near] - slew - _BASE_NS)
            greatest = np.maximum(greatest, self.high[near] + slew)
        agreed = lows <= highs
        return np.where(agreed, lows, least), np.where(agreed, highs, greatest)


def calibrate(pairs: Pairs, within_ns: int) -> Offset:
    """Return the offset; without pairs where no offset stands out.

    `within_ns` is how far apart the offsets are that the pairs speak for: topics of a longer period
    cannot take a message for its neighbour.
    """
    order = np.argsort(pairs.stamp, kind="stable")
    pairs = picked(pairs, order)
    number = _in_order(pairs.question)
    of_bin = bins(int(number.max(initial=-1)) + 1)[number]
    chosen = _chosen(pairs, of_bin, within_ns)
    return Offset(pairs.stamp[chosen], pairs.low[chosen], pairs.high[chosen])


def bins(count: int) -> Ints:
    """Return the bin of each of so many questions in order of stamp; the last bin may be longer."""
    return np.minimum(np.arange(count, dtype=np.int64) // BIN, max(count // BIN - 1, 0))


def _in_order(question: Ints) -> Ints:
    """Number questions in order of their first row."""
    return pd.factorize(question)[0].astype(np.int64)


def _chosen(pairs: Pairs, of_bin: Ints, within_ns: int) -> Ints:
    """The rows of the pairs that belong to the winning offset of their bin."""
    none = np.empty(0, np.int64)
    if not len(pairs):
        return none
    begins = np.flatnonzero(np.diff(of_bin, prepend=-1))
    ends = np.append(begins[1:], len(of_bin)) - 1
    lasts = pairs.stamp[ends] - pairs.stamp[begins]
    loose = (_BASE_NS + lasts * SLEW / 2).astype(np.int64)[of_bin]
    low, high = pairs.low - loose, pairs.high + loose
    run_bin, run_low, run_high = _vote(of_bin, low, high)
    if not len(run_bin):
        return none
    # The runs of one bin are apart: those that a pair meets are neighbours.
    first = GroupedSearch(run_bin, run_high).position(of_bin, low, after_equal=False)
    last = GroupedSearch(run_bin, run_low).position(of_bin, high, after_equal=True)
    run, row = spread(first, last - first)
    # A question that a run answers twice says nothing about it.
    alone = ~pd.DataFrame({"run": run, "question": pairs.question[row]}).duplicated(keep=False)
    run, row = run[alone.to_numpy()], row[alone.to_numpy()]
    asked = pd.Series(pairs.question).groupby(of_bin).nunique()
    enough = np.maximum(asked.to_numpy(np.int64) / 2, _LEAST_VOTES)
    wins = _winners(picked(pairs, row), run, run_bin, enough, within_ns)
    won = np.sort(row[wins[run]])
    # Far above the others it is a pair whose true publication was lost, with the one before that.
    usual = pd.Series(pairs.high[won]).groupby(of_bin[won]).transform("median").to_numpy(np.int64)
    return np.asarray(won[pairs.high[won] - usual <= loose[won]])


def _vote(of_bin: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints, Ints]:
    """Runs of offsets with at least half the votes of the best, in order: bin, begin, end."""
    point = np.concatenate([low, high])
    step = np.repeat(np.array([1, -1], np.int64), len(low))
    place = np.concatenate([of_bin, of_bin])
    order = np.lexsort((-step, point, place))
    point, place, votes = point[order], place[order], np.cumsum(step[order])
    best = np.maximum.reduceat(votes, np.flatnonzero(np.diff(place, prepend=-1)))
    high_enough = votes >= np.maximum(best[place] / 2, _LEAST_VOTES)
    before = np.concatenate([[False], high_enough[:-1]])
    # Votes are back at 0 at the end of each bin: no run goes on into the next.
    begin, end = np.flatnonzero(high_enough & ~before), np.flatnonzero(~high_enough & before)
    return place[begin], point[begin], point[end]


def _winners(
    pairs: Pairs, run: Ints, run_bin: Ints, enough: npt.NDArray[np.float64], within_ns: int
) -> Flags:
    """Which runs are the true offset of their bin; one answers `enough` of its questions."""
    order = np.lexsort((pairs.stamp, pairs.group, run))
    run, pairs = run[order], picked(pairs, order)
    group = pd.Series(run).diff().ne(0) | pd.Series(pairs.group).diff().ne(0)
    series = group.cumsum()
    residual = pd.Series(pairs.stamp - pairs.publish_ns).groupby(series).diff()
    period = pd.Series(pairs.publish_ns).groupby(series).diff()
    jitter = period.groupby(series).diff()
    measures = pd.DataFrame(
        {
            "run": run,
            "unsteady": residual.abs(),
            "period": period.abs(),
            "jitter": jitter.abs(),
            "sure": pairs.sure,
        }
    )
    by_run = measures.groupby("run")
    runs = by_run[["unsteady", "period", "jitter"]].median().reindex(range(len(run_bin)))
    runs["sure"] = by_run["sure"].sum()
    runs["count"] = by_run.size()
    runs = runs.fillna({"sure": 0, "count": 0}).assign(bin=run_bin)
    runs["unsteady"] = runs["unsteady"].fillna(float("inf"))
    ranked = runs.sort_values(["bin", "sure", "unsteady"], ascending=[True, False, True])
    first = ~ranked.duplicated("bin")
    others = ranked[["unsteady", "jitter"]].where(ranked["sure"] == 0)
    rival = others.groupby(ranked["bin"]).shift(-1)
    lone = ~ranked.duplicated("bin", keep=False)
    clear = rival["unsteady"] >= _CLEARLY * (ranked["unsteady"] + _FLOOR_NS)
    # A rival that the period's jitter does not make unsteady is so by chance.
    clear &= ~(rival["jitter"] < ranked["unsteady"] + _FLOOR_NS)
    steady = ranked["jitter"] >= _CLEARLY * (ranked["unsteady"] + _FLOOR_NS)
    apart = ~(ranked["period"] <= within_ns)
    good = (ranked["sure"] > 0) | clear | (lone & (steady | apart))
    answers = ranked["count"] >= enough[ranked["bin"]]
    wins = (first & good & answers).sort_index()
    return wins.to_numpy(bool)
