# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a study in words: its largest layer, what its factors change, what was lost.

Every number is of the data; a difference is called one only where intervals do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from strata.campaign.report.cells import value_text
from strata.campaign.report.contents import HERE, Chart, Measure, Study
from strata.campaign.report.estimates import Estimate, estimate
from strata.campaign.report.figures.bars import layer_means
from strata.campaign.report.figures.scales import level_text
from strata.campaign.report.figures.split import by_cell, levels_of
from strata.campaign.report.words import count_words
from strata.campaign.results import Factor
from strata.units import format_number, format_share

PRIMARY = ("latency", "hop_latency", "round_trip", "stamp_latency", "throughput", "period")
"""Measures of which the answer tells the effects: the first that a study has."""

_CONFIDENCE = 0.95
_MOST_EFFECTS = 4
_MOST_STRATA = 24
_TIMES = 1.05


@dataclass(frozen=True)
class _Pair:
    """The medians at two levels of a factor where all other factors are alike."""

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
    def is_apart(self) -> bool:
        below, above = self.small[1].high, self.large[1].low
        return below is not None and above is not None and below < above


def answer(study: Study, charts: Sequence[Chart], layers: pd.DataFrame) -> tuple[str, ...]:
    """Return the sentences of a study's answer, drawn from its frames.

    `charts` are long frames of its measures (at least one of PRIMARY, and loss, where they are),
    `layers` the long frame of the measure layer.
    """
    if not any(cell.status == "finished" for cell in study.cells):
        return (f"No cell of this study has finished: {study.why({})}",)
    by_name = {chart.measure.name: chart for chart in charts}
    out = [*_largest_layer(study, layers)]
    primary = next((by_name[name] for name in PRIMARY if _has(by_name.get(name))), None)
    if primary is not None:
        out += _effects(study, primary)
    if _has(by_name.get("loss")):
        out.append(_loss(study, by_name["loss"]))
    return tuple(out)


def _has(chart: Chart | None) -> bool:
    return chart is not None and not chart.frame.empty


def _own(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["origin"] == HERE] if "origin" in frame else frame


def _largest_layer(study: Study, layers: pd.DataFrame) -> list[str]:
    layers = _own(layers)
    if layers.empty:
        return []
    whole = layer_means(layers, "").iloc[0]
    largest, total = str(whole.idxmax()), float(whole.sum())
    text = (
        f"Over all its cells the largest layer is {largest}: "
        f"{format_share(float(whole.max()) / total if total else None)} of the mean latency "
        f"({value_text(float(whole.max()), 'ms')} of {value_text(total, 'ms')})"
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


def _effects(study: Study, chart: Chart) -> list[str]:
    frame = _own(chart.frame).dropna(subset=["value"])
    told = [_effect(study, chart.measure, frame, factor) for factor in study.factors]
    ranked = sorted((pair for pair in told if pair), key=lambda pair: -pair[0])
    return [text for _, text in ranked[:_MOST_EFFECTS]]


def _effect(
    study: Study, measure: Measure, frame: pd.DataFrame, factor: Factor
) -> tuple[float, str] | None:
    """Return how many times the medians differ at most, and the sentence of a factor."""
    if len(levels_of(frame, factor.name, study)) < 2:
        return None
    pairs = list(_pairs(study, measure, frame, factor))
    if not pairs:
        return None
    name = factor.name.replace("_", " ")
    what = f"median {measure.name.replace('_', ' ')}"
    apart = [pair for pair in pairs if pair.is_apart]
    if not apart:
        return 1.0, (
            f"{name}: no two levels differ by more than the {100 * _CONFIDENCE:g} % intervals of "
            f"their medians"
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
            "combinations of the other factors"
        )
    return most.times, text


def _pairs(study: Study, measure: Measure, frame: pd.DataFrame, factor: Factor) -> Iterator[_Pair]:
    """Give the levels with the smallest and the largest median in each stratum."""
    others = [f.name for f in study.factors if f.name != factor.name and f.name in frame]
    strata = frame.groupby(others, observed=True) if others else [((), frame)]
    for at, (key, rows) in enumerate(strata):
        if at >= _MOST_STRATA:
            return
        medians = {
            level: estimate(rows[rows[factor.name].astype(str) == level], measure.each, "p50", None)
            for level in levels_of(rows, factor.name, study)
        }
        if len(medians) < 2:
            continue
        ordered = sorted(medians, key=lambda level: medians[level].value)
        ends = [
            (
                level,
                estimate(
                    rows[rows[factor.name].astype(str) == level], measure.each, "p50", _CONFIDENCE
                ),
            )
            for level in (ordered[0], ordered[-1])
        ]
        names = dict(zip(others, map(str, key if isinstance(key, tuple) else (key,)), strict=True))
        yield _Pair(factor, ends[0], ends[1], names, len(others))


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
    told = ", ".join(
        f"{name.replace('_', ' ')} {level_text(level, study.factor(name))}"
        for name, level in pair.others.items()
    )
    return f", the largest difference, at {told}"


def _loss(study: Study, chart: Chart) -> str:
    frame = _own(by_cell(chart)).dropna(subset=["value"])
    lossy = frame[frame["value"] > 0]
    if lossy.empty:
        return f"No message was lost ({count_words(frame['cell'].nunique(), 'cell', 'cells')})"
    worst = lossy.sort_values("value").iloc[-1]
    told = ", ".join(
        f"{factor.name.replace('_', ' ')} {level_text(str(worst[factor.name]), factor)}"
        for factor in study.factors
        if factor.name in frame
    )
    return (
        f"Messages were lost in {lossy['cell'].nunique()} of "
        f"{count_words(frame['cell'].nunique(), 'cell', 'cells')}, the most "
        f"({format_share(float(worst['value']) / 100)}) at {told or 'the only one'}"
    )
