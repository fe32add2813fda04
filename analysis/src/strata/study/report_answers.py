# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a study in words: its largest layer, what its factors change, what was lost.

Every number is of the data; a difference is called one only where intervals do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from strata.stats.shares import CONFIDENCE as CONFIDENCE_OF_LOSS
from strata.stats.shares import share_at_most
from strata.study.campaign_results import Factor
from strata.study.frame_grouping import across_clocks, by_cell, layer_means, levels_of
from strata.study.interval_estimates import Estimate, estimate
from strata.study.level_texts import level_text, levels_words
from strata.study.report_contents import FINISHED, HERE, Chart, Measure, Study
from strata.study.source_shortfall import SHORT_PERCENT
from strata.study.tables.point_ages import POINT_AGE, scan_ages
from strata.study.tables.table import first_ones
from strata.study.wording import STATISTIC_WORDS, count_words, name_words, value_text
from strata.units import format_number, format_share

PRIMARY = (
    "latency",
    "hop_latency",
    "call_chain_latency",
    "request_latency",
    "call_latency",
    "round_trip",
    "stamp_latency",
    "throughput",
    "period",
)
"""Measures of which the answer states the effects: the first that a study has."""

LOSSES = {
    "loss": ("message of the measured hops was lost", "Messages were lost", "message", "messages"),
    "call_loss": ("call was left without an answer", "Calls had no answer", "call", "calls"),
}
"""Measures of losses, and how an answer says them."""

SHORTFALL = "shortfall"
_OF_SOURCES = ("throughput",)
"""What a source falls short in is measured by these: their effects keep such cells."""

_CONFIDENCE = 0.95
_MOST_EFFECTS = 4
_MOST_STRATA = 24
_TIMES = 1.05


@dataclass(frozen=True)
class _Pair:
    """The levels of a factor with the smallest and the largest value where all others are alike."""

    factor: Factor
    small: tuple[str, Estimate]
    large: tuple[str, Estimate]
    others: dict[str, str]
    others_count: int

    @property
    def times(self) -> float:
        low, high = self.small[1].value, self.large[1].value
        return high / low if low > 0 else 1.0

    @property
    def is_told(self) -> bool:
        """Both have an interval: without one nothing can be said of a difference."""
        return self.small[1].high is not None and self.large[1].low is not None

    @property
    def is_apart(self) -> bool:
        below, above = self.small[1].high, self.large[1].low
        return below is not None and above is not None and below < above


def answer(study: Study, charts: Sequence[Chart], layers: pd.DataFrame) -> tuple[str, ...]:
    """Return the sentences of a study's answer, drawn from its frames.

    `charts` are long frames of its measures (at least one of PRIMARY, point_age, loss and
    shortfall, where they are), `layers` the long frame of the measure layer. Cells whose source
    fell short of its stated rate are told, and stay out of the largest layer and of the effects:
    they measured another rate.
    """
    if not any(cell.status == FINISHED for cell in study.cells):
        imported = "; all values are imported" if any(map(_has, charts)) else ""
        return (f"No cell of this study has finished: {study.why({})}{imported}",)
    by_name = {chart.measure.name: chart for chart in charts}
    primary = next((by_name[name] for name in PRIMARY if _has(by_name.get(name))), None)
    short = _short(by_name.get(SHORTFALL))
    out = _largest_layer(study, layers, short)
    if len(short):
        kept_in = primary is None or primary.measure.name in _OF_SOURCES
        of = (("the largest layer", len(_own(layers)) > 0), ("the effects", not kept_in))
        out.append(_shortfall(study, short, [what for what, there in of if there]))
        if primary is not None and not kept_in:
            kept = ~primary.frame["cell"].astype(str).isin(list(short.index))
            primary = Chart(primary.request, primary.measure, primary.frame[kept])
    if primary is not None:
        out += _effects(study, primary)
    ages = by_name.get(POINT_AGE)
    if ages is not None and len(_own(ages.frame)):
        out.append(_age(study, Chart(ages.request, ages.measure, _own(ages.frame))))
    out += [_loss(study, by_name[name]) for name in LOSSES if _has(by_name.get(name))]
    return tuple(out)


def _has(chart: Chart | None) -> bool:
    return chart is not None and not chart.frame.empty


def _own(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["origin"] == HERE] if "origin" in frame else frame


def _largest_layer(study: Study, layers: pd.DataFrame, short: pd.DataFrame) -> list[str]:
    """Name the largest layer over the cells whose source kept its rate.

    Hops between machines whose clocks are not synchronised are left out.
    """
    own = _own(layers)
    every = own[~across_clocks(own)]
    if own.empty:
        return []
    if every.empty:
        return [
            "The largest layer is not reported: the layers between machines whose clocks are not "
            "synchronised contain the offset of the clocks"
        ]
    layers = every[~every["cell"].astype(str).isin(list(short.index))]
    if layers.empty:
        return [
            "The largest layer is not reported: in every cell the source fell short of its "
            "stated rate"
        ]
    cells = "the cells whose source kept its rate" if len(layers) < len(every) else "all its cells"
    whole = layer_means(layers, "").iloc[0]
    largest, total = str(whole.idxmax()), float(whole.sum())
    if len(every) < len(own):
        cells += ", without hops between machines whose clocks are not synchronised,"
    text = (
        f"Over {cells} the largest layer is {largest}: "
        f"{format_share(float(whole.max()) / total if total else None)} of the mean latency "
        f"({value_text(float(whole.max()), 'ns')} of {value_text(total, 'ns')})"
    )
    names = [factor.name for factor in study.factors if factor.name in layers]
    if not names:
        return [text]
    grouped = layers.groupby(names, observed=True)
    each = [str(layer_means(rows, "").iloc[0].idxmax()) for _, rows in grouped]
    counts = pd.Series(each).value_counts()
    if len(each) < 2:
        return [text]
    if len(counts) == 1 and counts.index[0] == largest:
        return [f"{text}; it is the largest at all {len(each)} combinations of levels"]
    told = ", ".join(f"{name} at {count}" for name, count in counts.items())
    return [f"{text}; of {len(each)} combinations of levels the largest is {told}"]


def _short(chart: Chart | None) -> pd.DataFrame:
    """Return the cells whose source fell short, by id, those that did most first.

    Of several sources the one that is furthest below its rate counts, in percent (`value`).
    """
    if chart is None or chart.frame.empty:
        return pd.DataFrame()
    rows = _own(chart.frame).dropna(subset=["value"])
    rows = rows[rows["value"] > SHORT_PERCENT].sort_values("value", ascending=False, kind="stable")
    rows = rows.assign(cell=rows["cell"].astype(str)).drop_duplicates("cell")
    return rows.set_index("cell")


def _shortfall(study: Study, short: pd.DataFrame, left_out: Sequence[str]) -> str:
    """Say by how much sources fell short, and at which levels; repetitions are one.

    `left_out` names the sentences that such cells are not in.
    """
    finished = [cell.cell_id for cell in study.cells if cell.status == FINISHED]
    names = [factor.name for factor in study.factors if factor.name in short]
    told: dict[str, float] = {}
    for row in short.to_dict("records"):
        levels = levels_words(study, {name: row[name] for name in names})
        told.setdefault(levels, float(row["value"]))
    each = [
        format_share(value / 100) + (f" at {levels}" if levels else "")
        for levels, value in told.items()
    ]
    text = (
        f"The source fell short of its stated rate by more than {SHORT_PERCENT:g} % in "
        f"{len(short)} of {count_words(len(finished), 'cell', 'cells')}: "
        f"{first_ones(each)} below it"
    )
    if not left_out:
        return text
    return f"{text}; they measured another rate, and are left out of {' and of '.join(left_out)}"


def _effects(study: Study, chart: Chart) -> list[str]:
    own = Chart(chart.request, chart.measure, _own(chart.frame))
    frame = by_cell(own).dropna(subset=["value"])
    told = [_effect(study, chart.measure, frame, factor) for factor in study.factors]
    ranked = sorted((pair for pair in told if pair), key=lambda pair: -pair[0])
    return [text for _, text in ranked[:_MOST_EFFECTS]]


def _effect(
    study: Study, measure: Measure, frame: pd.DataFrame, factor: Factor
) -> tuple[float, str] | None:
    """Return how many times the levels differ at most, and the sentence of a factor.

    Null where no two levels have an interval each.
    """
    if len(levels_of(frame, factor.name, study)) < 2:
        return None
    pairs = [pair for pair in _pairs(study, measure, frame, factor) if pair.is_told]
    if not pairs:
        return None
    name = name_words(factor.name)
    word = STATISTIC_WORDS[_statistic(measure)]
    what = f"{word} {name_words(measure.name)}"
    apart = [pair for pair in pairs if pair.is_apart]
    combinations = "combinations of the other factors"
    if not apart:
        everywhere = f" in all {len(pairs)} {combinations}" if len(pairs) > 1 else ""
        return 1.0, (
            f"{name}: the {100 * _CONFIDENCE:g} % intervals of the smallest and the largest {word} "
            f"overlap{everywhere}"
        )
    most = max(apart, key=lambda pair: pair.times)
    text = (
        f"{name}: the {what} is {_told(most.small, measure)} at "
        f"{level_text(most.small[0], factor)} and {_told(most.large, measure)} at "
        f"{level_text(most.large[0], factor)}{_times(most.times)}{_where(most, study)}"
    )
    if len(pairs) > 1:
        text += (
            f"; the intervals of the extreme levels are apart in {len(apart)} of {len(pairs)} "
            f"{combinations}"
        )
    return most.times, text


def _pairs(study: Study, measure: Measure, frame: pd.DataFrame, factor: Factor) -> Iterator[_Pair]:
    """Give the levels with the smallest and the largest value in each stratum."""
    others = [f.name for f in study.factors if f.name != factor.name and f.name in frame]
    strata = frame.groupby(others, observed=True) if others else [((), frame)]
    for at, (key, rows) in enumerate(strata):
        if at >= _MOST_STRATA:
            return
        own = {
            level: rows[rows[factor.name].astype(str) == level]
            for level in levels_of(rows, factor.name, study)
        }
        if len(own) < 2:
            continue
        name, each = _statistic(measure), measure.each
        values = {level: estimate(mine, each, name, None).value for level, mine in own.items()}
        ordered = sorted(values, key=lambda level: values[level])
        ends = [
            (level, estimate(own[level], each, name, _CONFIDENCE))
            for level in (ordered[0], ordered[-1])
        ]
        names = dict(zip(others, map(str, key if isinstance(key, tuple) else (key,)), strict=True))
        yield _Pair(factor, ends[0], ends[1], names, len(others))


def _statistic(measure: Measure) -> Literal["mean", "p50"]:
    """Return what is compared: medians of messages; of what a cell has one of, means of runs."""
    return "mean" if measure.each == "cell" else "p50"


def _told(end: tuple[str, Estimate], measure: Measure) -> str:
    found = end[1]
    text = value_text(found.value, measure.unit)
    if found.low is None or found.high is None:
        return text
    bounds = " to ".join(value_text(bound, measure.unit) for bound in (found.low, found.high))
    return f"{text} [{bounds}]"


def _times(times: float) -> str:
    return f" ({format_number(times)} times)" if times > _TIMES else ""


def _where(pair: _Pair, study: Study) -> str:
    if not pair.others:
        return ""
    told = levels_words(study, pair.others)
    return f", the largest difference with intervals apart, at {told}"


def _age(study: Study, chart: Chart) -> str:
    """Say how old the points of a scan are, at the levels where the oldest are oldest."""
    names = [factor.name for factor in study.factors if factor.name in chart.frame]
    groups = chart.frame.groupby(names, observed=True) if names else [((), chart.frame)]
    found = []
    for key, rows in groups:
        each = scan_ages(rows)
        levels = key if isinstance(key, tuple) else (key,)
        found.append((each["oldest"].median(), each["newest"].median(), levels))
    oldest, newest, levels = max(found, key=lambda one: one[0])
    told = levels_words(study, dict(zip(names, levels, strict=True)))
    where = f"; they are oldest at {told}" if len(found) > 1 else ""
    old, new = (value_text(float(one), chart.measure.unit) for one in (oldest, newest))
    return (
        f"At the callback the oldest point of a cloud is {old} old and the newest {new} "
        f"(medians{where})"
    )


def _loss(study: Study, chart: Chart) -> str:
    frame = _own(by_cell(chart)).dropna(subset=["value"])
    lossy = frame[frame["value"] > 0]
    cells = count_words(frame["cell"].nunique(), "cell", "cells")
    none, some, one, many = LOSSES[chart.measure.name]
    if lossy.empty:
        return f"No {none} ({cells}{_at_most(frame, one, many)})"
    worst = lossy.sort_values("value").iloc[-1]
    names = [factor.name for factor in study.factors if factor.name in frame]
    told = levels_words(study, {name: worst[name] for name in names})
    return (
        f"{some} in {lossy['cell'].nunique()} of {cells}, the most "
        f"({format_share(float(worst['value']) / 100)}) at {told or 'the only one'}"
    )


def _at_most(frame: pd.DataFrame, one: str, many: str) -> str:
    """Say what a loss of which none was seen is at most: few messages do not show that it is 0."""
    count = int(frame["expected"].sum()) if "expected" in frame else 0
    if not count:
        return ""
    upper = format_share(share_at_most(0, count))
    words = count_words(count, one, many)
    return f", {words}: the loss is {upper} at most, {100 * CONFIDENCE_OF_LOSS:g} % sure"
