# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Has a distribution of latencies several modes, and where do they part?

All of it is done on the logarithm of the values. Latencies are made by factors: a mode of 30 ms is
a hundred times as wide as one of 300 us, and side by side on a linear scale the narrow one is a
single bar. An exponential, normal, uniform or log-normal distribution has one mode on either scale.

*Is there more than one mode?* The dip test of Hartigan and Hartigan ("The dip test of unimodality",
The Annals of Statistics 13, 1985) is asked first: its p-value is the chance of so large a dip in as
many independent values of a uniform distribution, the worst case of those with one mode. It has
little power for a small mode beside a large one, and in a large sample it finds what nobody would
call a mode; latencies that follow each other are not independent either.

*Are they worth a name?* So the density (of a Gaussian kernel) must have a valley (`_VALLEY`) that
is no noise of counting (`_SIGMAS`; `_SIGMAS_ALONE` where the dip tells nothing), between modes that
have a share (`MIN_SHARE`) and stand apart (`MIN_RATIO`). Wide kernels come first, so that a wide
mode beside a narrow one is not taken for many. What was parted is looked at again, up to
`MAX_MODES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import strata.stats.dip as dip_test
from strata.schema.rows import Floats, Ints

MIN_COUNT = 50
"""Of fewer values no mode is told, nor a dip: the test has little power then."""
MIN_SHARE = 0.05
"""A mode has at least this share of all values; what is less is a tail or an outlier."""
MIN_RATIO = 1.3
"""The medians of neighbouring modes are at least this factor apart."""
MAX_MODES = 4
ALPHA = 0.01
"""The p-value of the dip test below which it tells of several modes."""

_VALLEY = 0.5
"""Density of the valley over that of the lower of the two peaks beside it, at most."""
_SIGMAS = 3.0
"""So far beyond the noise of counting is a valley where the dip tells of several modes."""
_SIGMAS_ALONE = 4.0
"""And where it does not: it has little power for a small mode beside a large one."""
_SAMPLE = 2_000
"""So many values are tested. The dip of a mode of 5 % is 0.025, the critical one here 0.014."""
_SMOOTHING = (8.0, 4.0, 2.0, 1.0, 0.5)
"""Kernel widths that are tried, in units of Silverman's."""
_GRID = 4_096
_KERNEL_L2 = 0.5 / np.sqrt(np.pi)
"""The integral of the squared Gaussian kernel: the variance of a density is f * this / (n h)."""


@dataclass(frozen=True)
class Modes:
    """What was found: dip and p-value (null for few values), and where the modes part.

    `bounds_ns` are the largest values of all modes but the slowest, ascending; empty for one mode.
    """

    dip: float | None
    p_value: float | None
    bounds_ns: tuple[int, ...] = ()

    @property
    def count(self) -> int | None:
        """How many modes; null where there were too few values to tell."""
        return None if self.dip is None else len(self.bounds_ns) + 1

    def number(self, values: Ints) -> Ints:
        """Return the mode of each value, from 0 for the fastest."""
        return np.searchsorted(self.bounds_ns, values, side="left").astype(np.int64)


def find_modes(values: Ints) -> Modes:
    """Find the modes of durations in ns, in any order."""
    if len(values) < MIN_COUNT:
        return Modes(None, None)
    ordered = np.sort(values)
    logs = np.log(_spread(ordered))
    dip, p_value = _dip(logs)
    least = int(np.ceil(MIN_SHARE * len(values)))
    cuts = [0, len(logs)]
    refused: set[tuple[int, int]] = set()
    while len(cuts) <= MAX_MODES:
        parts = [part for part in pairwise(cuts) if part not in refused]
        if not parts:
            break
        begin, end = max(parts, key=lambda part: part[1] - part[0])
        found = _split(logs[begin:end], least, p_value if end - begin == len(logs) else None)
        if found is not None:
            # Equal values are of one mode.
            found = int(np.searchsorted(ordered[begin:end], ordered[begin + found]))
        if found is None or found < least or not _apart(logs, sorted([*cuts, begin + found])):
            refused.add((begin, end))
        else:
            cuts = sorted([*cuts, begin + found])
    return Modes(dip, p_value, tuple(ordered[np.asarray(cuts[1:-1], np.int64) - 1].tolist()))


def _dip(ordered: Floats) -> tuple[float, float]:
    """Dip and p-value. Of many values every k-th in order is tested.

    That keeps the shares of the modes and picks nothing by time, where causes are periodic; it only
    smooths, so the p-value is never too small for it.
    """
    step = -(-len(ordered) // _SAMPLE)
    tested = ordered[step // 2 :: step]
    dip = dip_test.dip(tested)
    return dip, dip_test.p_value(dip, len(tested))


def _spread(ordered: Ints) -> Floats:
    """Spread equal values evenly over the resolution of the values, ascending.

    Durations that were rounded (to microseconds, to the ticks of a clock) are otherwise as many
    modes as there are different values.
    """
    floats = np.maximum(ordered, 0).astype(np.float64)
    steps = np.diff(floats)
    different = steps > 0
    if different.any() and not different.all():
        quantum = float(steps[different].min())
        first = np.concatenate([[0], np.flatnonzero(different) + 1])
        sizes = np.diff(np.append(first, len(floats)))
        rank = np.arange(len(floats)) - np.repeat(first, sizes)
        low = np.maximum(floats - quantum / 2, 0.0)
        floats = low + (floats + quantum / 2 - low) * (rank + 0.5) / np.repeat(sizes, sizes)
    return np.maximum(floats, 0.5)


def _apart(ordered: Floats, cuts: list[int]) -> bool:
    """Return whether the medians of all neighbouring parts stand apart."""
    medians = [ordered[(begin + end - 1) // 2] for begin, end in pairwise(cuts)]
    return bool((np.diff(medians) >= np.log(MIN_RATIO)).all())


def _split(ordered: Floats, least: int, p_value: float | None) -> int | None:
    """Return how many of the values lie below their clearest valley; null when there is none.

    `least` is how many have to be on either side; `p_value` is that of the dip, where it is known.
    """
    span = float(ordered[-1] - ordered[0])
    # Within less no two medians stand apart. Of equal values even the spread is noise of rounding.
    if len(ordered) < max(MIN_COUNT, 2 * least) or span < np.log(MIN_RATIO):
        return None
    # A kernel that the grid cannot resolve is as wide as its cells.
    width = max(_silverman(ordered), span / _GRID)
    tested = _dip(ordered)[1] if p_value is None else p_value
    sigmas = _SIGMAS if tested < ALPHA else _SIGMAS_ALONE
    for index, factor in enumerate(_SMOOTHING):
        valley = _valley(ordered, width * factor, least, sigmas)
        if valley is not None:
            at = _narrowed(ordered, valley, [width * finer for finer in _SMOOTHING[index:]])
            below = int(np.searchsorted(ordered, at))
            return below if least <= below <= len(ordered) - least else None
    return None


def _silverman(ordered: Floats) -> float:
    """Silverman's rule of thumb for the width of the kernel (Density Estimation, 1986, eq. 3.31).

    With the smaller of two measures of spread it is not widened by a few far values.
    """
    low, high = np.quantile(ordered, [0.25, 0.75])
    spreads = [spread for spread in (float(ordered.std()), (high - low) / 1.34) if spread > 0]
    return float(0.9 * min(spreads, default=0.0) * len(ordered) ** -0.2)


def _valley(ordered: Floats, width: float, least: int, clearest: float) -> float | None:
    """Return the place of the valley that is clearest beyond the noise of counting, or null.

    It has to be so by `clearest` standard deviations.
    """
    grid, density = _density(ordered, width)
    below = np.searchsorted(ordered, grid)
    low = np.maximum.accumulate(density)
    high = np.maximum.accumulate(density[::-1])[::-1]
    peak = np.minimum(low, high)
    noise = np.sqrt((peak + density) * _KERNEL_L2 / (len(ordered) * width))
    sigmas = (peak - density) / np.maximum(noise, np.finfo(float).tiny)
    inside = (below >= least) & (below <= len(ordered) - least)
    lower = ordered[np.maximum(below - 1, 0) // 2]
    upper = ordered[np.minimum((below + len(ordered)) // 2, len(ordered) - 1)]
    apart = upper - lower >= np.log(MIN_RATIO)
    clear = inside & apart & (density <= _VALLEY * peak) & (sigmas >= clearest)
    if not clear.any():
        return None
    return float(grid[np.argmax(np.where(clear, sigmas, -np.inf))])


def _narrowed(ordered: Floats, valley: float, widths: list[float]) -> float:
    """Follow a valley from a wide kernel, which shifts it, to the narrowest."""
    for wide, narrow in pairwise(widths):
        grid, density = _density(ordered, narrow)
        near = np.flatnonzero(np.abs(grid - valley) <= wide)
        lowest = near[density[near] <= density[near].min() * (1 + 1e-9)]
        valley = float(grid[lowest[len(lowest) // 2]])
    return valley


def _density(ordered: Floats, width: float) -> tuple[Floats, Floats]:
    """Return a grid over the values and the density of a Gaussian kernel on it."""
    # Wider than the kernel by far: NumPy returns the longer of the two.
    begin, end = ordered[0] - 5 * width, ordered[-1] + 5 * width
    step = max(width / 4, (end - begin) / _GRID)
    edges = np.arange(begin, end + 2 * step, step)
    counts = np.diff(np.searchsorted(ordered, edges))
    reach = np.arange(-np.ceil(4 * width / step), np.ceil(4 * width / step) + 1) * step
    kernel = np.exp(-0.5 * (reach / width) ** 2)
    density = np.convolve(counts, kernel / kernel.sum(), mode="same") / (len(ordered) * step)
    return (edges[:-1] + edges[1:]) / 2, np.maximum(density, 0.0)
