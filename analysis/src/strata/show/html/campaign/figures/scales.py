# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Axes of a campaign's figures: the unit of the values, and the places of a factor's levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from bokeh.models import FixedTicker

from strata.show.html.theme import MICRO
from strata.study.campaign_results import Factor
from strata.study.level_texts import level_text as level_text
from strata.study.report_contents import Measure
from strata.study.wording import NANOSECONDS, shown_factor, shown_unit

if TYPE_CHECKING:
    from bokeh.plotting import figure

Floats = npt.NDArray[np.float64]

WIDE = 8.0
"""Largest over median value above which a linear axis would flatten what is typical."""
_STEEP = 20.0
_TIME = (("s", 1e9), ("ms", 1e6), (MICRO, 1e3), ("ns", 1.0))
_LONG_LABELS = 46
_LONGEST_LABEL = 24
_TILT = 0.8


@dataclass(frozen=True)
class Scale:
    """How values are shown: those in the measure's unit times `factor` are in `unit`."""

    unit: str
    factor: float
    is_log: bool

    def label(self, what: str) -> str:
        """Return the label of an axis of `what`."""
        unit = f" ({self.unit})" if self.unit else ""
        return f"{what}{unit}{', logarithmic' if self.is_log else ''}"


def scale_of(
    values: Floats, measure: Measure, *, asked: str = "", statistics: bool = False
) -> Scale:
    """Choose unit and axis of the values that a figure draws; `asked` is linear, log or empty.

    Values of time get the unit in which their median is at least one. The axis is logarithmic
    when all are positive and the largest is more than eight times the median (of `statistics`,
    more than twenty times the smallest).
    """
    finite = values[np.isfinite(values)]
    if not len(finite):
        return Scale(shown_unit(measure.unit), shown_factor(measure.unit), is_log=False)
    low, median, top = (float(np.quantile(finite, q)) for q in (0.0, 0.5, 1.0))
    is_log = low > 0 and (
        asked == "log" if asked else top / (low if statistics else median) > _wide(statistics)
    )
    if measure.unit != NANOSECONDS:
        return Scale(measure.unit, 1.0, is_log)
    typical = abs(median) if not statistics else abs(low)
    for unit, size in _TIME:
        if typical >= size:
            return Scale(unit, 1 / size, is_log)
    return Scale(*(("ns", 1.0) if typical else ("ms", 1e-6)), is_log)


def in_order(values: Floats) -> npt.NDArray[np.int64]:
    """Return the rank of each value, from 0: whole numbers in the same order, for thinning."""
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)


def _wide(statistics: bool) -> float:
    return _STEEP if statistics else WIDE


def y_range(low: float, top: float, *, is_log: bool) -> tuple[float, float]:
    """Return the range of a value axis: from zero, or with a margin of a logarithmic one."""
    if is_log:
        return low / 1.25, top * 1.25
    pad = 0.06 * ((top - min(low, 0.0)) or 1.0)
    return (low - pad if low < 0 else 0.0), top + pad


def label_values(plot: figure, low: float, top: float, *, vertical: bool = True) -> None:
    """Write a logarithmic axis with plain numbers, 1-2-5 where there is room for them."""
    if not 0 < low <= top:
        return
    decades = math.log10(top / low)
    steps = (1, 2, 5) if decades <= 2.5 else (1,)
    if decades < 0.7:
        steps = (1, 1.5, 2, 3, 4, 5, 6, 8)  # type: ignore[assignment]
    first, last = math.floor(math.log10(low)) - 1, math.ceil(math.log10(top)) + 1
    ticks = [float(f"{step * 10.0**power:.6g}") for power in range(first, last) for step in steps]
    axis, grid = (plot.yaxis[0], plot.ygrid[0]) if vertical else (plot.xaxis[0], plot.xgrid[0])
    axis.ticker = FixedTicker(ticks=ticks)
    grid.ticker = FixedTicker(ticks=ticks)
    axis.major_label_overrides = {
        (int(tick) if tick == int(tick) else tick): f"{tick:,.6g}" for tick in ticks
    }


@dataclass(frozen=True)
class Places:
    """Where the levels of a factor stand on the x axis, and what is written there.

    `axis` is words of the axis; `room` the smallest distance of two levels; `is_log` of places that
    are the logarithms of numbers.
    """

    at: dict[str, float]
    texts: dict[str, str]
    axis: str
    is_number: bool
    room: float
    is_log: bool = False

    def of_number(self, number: float) -> float:
        """Return where a number lies between the levels of a factor of numbers."""
        return math.log2(number) if self.is_log else number

    def put(self, plot: figure) -> None:
        """Write the levels on the axis of `plot`, slanted where they are long."""
        ticks = sorted(self.at.values())
        plot.xaxis[0].ticker = FixedTicker(ticks=ticks)
        plot.xgrid[0].ticker = FixedTicker(ticks=ticks if self.is_number else [])
        plot.xaxis[0].major_label_overrides = {
            (int(at) if at == int(at) else at): self.texts[level] for level, at in self.at.items()
        }
        if sum(len(self.texts[level]) + 2 for level in self.at) > _LONG_LABELS:
            plot.xaxis[0].major_label_orientation = _TILT

    @property
    def range(self) -> tuple[float, float]:
        """The range of the axis with half a level's room on both sides."""
        ticks = list(self.at.values())
        return min(ticks) - 0.6 * self.room, max(ticks) + 0.6 * self.room


def places(levels: Sequence[str], factor: Factor | None, name: str, *, spread: bool) -> Places:
    """Place the levels: one beside the other, or with `spread` those of numbers by their value.

    Bytes and rates are spread logarithmically (each doubling is equally wide), other numbers
    linearly unless they span more than a factor of eight.
    """
    texts = short_texts(levels) if name == "hop" else {}
    texts = texts or {level: level_text(level, factor) for level in levels}
    title = name.replace("_", " ")
    if not (spread and factor and factor.numbers and len(levels) > 1):
        return Places({level: float(i) for i, level in enumerate(levels)}, texts, title, False, 1.0)
    number = dict(zip(factor.levels, factor.numbers, strict=True))
    values = [number[level] for level in levels]
    positive = min(values) > 0
    is_log = positive and (factor.unit == "B" or max(values) / min(values) > WIDE)
    at = {level: math.log2(number[level]) if is_log else number[level] for level in levels}
    ordered = sorted(at.values())
    room = min(b - a for a, b in pairwise(ordered)) or 1.0
    room = max(room, (ordered[-1] - ordered[0]) / 12)
    return Places(at, texts, title + (", logarithmic" if is_log else ""), True, room, is_log)


def short_texts(hops: Sequence[str]) -> dict[str, str]:
    """Return hops by their topics; where two have one topic, with the subscribing node."""
    topics = {hop: hop.split(": ")[0] for hop in hops}
    if len(set(topics.values())) == len(hops):
        return {hop: _cut(topic) for hop, topic in topics.items()}
    return {hop: _cut(f"{topic} {hop.split(' -> ')[-1]}") for hop, topic in topics.items()}


def _cut(text: str) -> str:
    return (
        text
        if len(text) <= _LONGEST_LABEL
        else f"{text[: _LONGEST_LABEL - 1]}\N{HORIZONTAL ELLIPSIS}"
    )
