# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A statistic of a measure along a numeric factor, fitted by one and by two straight lines.

Tables and figures show the same fits (strata.study.tables.study_fits). Slopes are per unit of the
factor; of sizes people read them per MB.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.study.campaign_results import Factor
from strata.study.interval_estimates import plain
from strata.study.wording import shown_factor, shown_unit

if TYPE_CHECKING:
    from strata.stats.segmented import Segmented

Floats = npt.NDArray[np.float64]

_SEED = 1
_FEWEST = 5
_DRAWS = 500
_ALPHA = 0.05
BREAKPOINT = "breakpoint"
"""The corrected p is below 0.05, and the interval of the breakpoint excludes both ends."""
BEND = "bend"
"""The corrected p is below 0.05, but the breakpoint may be at or beyond one of the ends."""
LINE = "line"
"""No breakpoint is supported."""
_PER = {"B": ("MB", 1e6)}


@dataclass(frozen=True)
class FittedPoints:
    """The points of a fit: the levels' numbers, the statistic in the measure's unit, its errors."""

    levels: tuple[str, ...]
    x: Floats
    y: Floats
    errors: Floats
    fit: Segmented

    @property
    def key(self) -> tuple[bytes, ...]:
        """What it is the fit of: two of the same points are one."""
        return (self.x.tobytes(), self.y.tobytes(), self.errors.tobytes())


@dataclass(frozen=True)
class ShapedFit:
    """The fit of the values at some levels, and its shape: BREAKPOINT, BEND or LINE.

    `p` is that of its breakpoint, corrected for the number of fits (Holm).
    """

    levels: Mapping[str, str]
    points: FittedPoints
    p: float
    shape: str


def fit_levels(
    rows: pd.DataFrame, factor: Factor, statistic: str, confidence: float
) -> FittedPoints:
    """Fit the statistic of `rows` at each level of a numeric factor.

    Raises ValueError where there are too few levels with values.
    """
    numbers = dict(zip(factor.levels, factor.numbers or (), strict=False))
    order = [name for name in ("cell", "hop", "number") if name in rows]
    found = {
        str(level): own
        for level, own in rows.dropna(subset=["value"]).groupby(factor.name, observed=True)
        if str(level) in numbers
    }
    levels = tuple(sorted(found, key=lambda level: numbers[level]))
    runs = []
    for level in levels:
        own = found[level].sort_values(order, kind="stable").groupby("cell", observed=True)["value"]
        runs.append(tuple(each.to_numpy(np.float64).tobytes() for _, each in own))
    at = tuple(numbers[level] for level in levels)
    x, y, errors, fit = _fit(at, tuple(runs), statistic, confidence)
    return FittedPoints(levels, x, y, errors, fit)


@lru_cache(maxsize=64)
def _fit(
    at: tuple[float, ...], runs: tuple[tuple[bytes, ...], ...], statistic: str, confidence: float
) -> tuple[Floats, Floats, Floats, Segmented]:
    """Fit the values of each level by run; tables and figures ask for the same."""
    from strata.stats.segmented import fit_segmented

    samples = [[np.frombuffer(run, np.float64) for run in each] for each in runs]
    y = np.array([plain(np.concatenate(each), statistic) for each in samples])
    errors = np.array([_error(each, statistic) for each in samples])
    x = np.array(at)
    return x, y, errors, fit_segmented(x, y, errors, confidence, seed=_SEED)


def _error(runs: Sequence[Floats], statistic: str) -> float:
    """Return the standard error of a statistic: that of its resamples in blocks, within runs.

    0 of too few values, or of a statistic that has none: the scatter about the fit says it then.
    """
    from strata.stats.dependence import block_length
    from strata.stats.intervals import influence, resampled, statistic_of, widened

    count = sum(len(run) for run in runs)
    if statistic not in ("mean", "p50", "p90", "p99") or count < _FEWEST:
        return 0.0
    function, parts = statistic_of(statistic), []
    for run in runs:
        if len(run) < _FEWEST or run.min() == run.max():
            continue
        length = block_length(influence(run, statistic))
        drawn = resampled(run, function, length, resamples=_DRAWS, seed=_SEED)
        parts.append((len(run), float(drawn.std(ddof=1)) * widened(len(run), length)))
    # The statistic of all runs is about the mean of those of the runs, by their counts.
    return float(np.sqrt(sum((own / count * error) ** 2 for own, error in parts)))


def per_unit(measure_unit: str, factor_unit: str | None) -> tuple[str, float]:
    """Return the unit of a slope as people read it, and by what a slope is multiplied for it.

    Of ns by bytes it is ms per MB; 1 MB is 10^6 bytes.
    """
    name, size = _PER.get(factor_unit or "", (factor_unit or "1", 1.0))
    return f"{shown_unit(measure_unit)}/{name}", shown_factor(measure_unit) * size


def shaped(
    fitted: Sequence[tuple[Mapping[str, str], FittedPoints]], family: Sequence[FittedPoints] = ()
) -> tuple[ShapedFit, ...]:
    """Return fits with their shapes; their p are corrected together with those of `family`."""
    from strata.stats.shift import holm

    tested = {one.key: one.fit.p for one in (*family, *(points for _, points in fitted))}
    corrected = dict(zip(tested, map(float, holm(list(tested.values()))), strict=True))
    out = []
    for levels, points in fitted:
        p = corrected[points.key]
        shape = LINE if p >= _ALPHA else BREAKPOINT if points.fit.is_bounded else BEND
        out.append(ShapedFit(levels, points, p, shape))
    return tuple(out)
