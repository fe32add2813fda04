# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A long frame parted into panels and series, and what a drawn figure consists of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import pandas as pd
from bokeh.plotting import figure

from strata.show.html.campaign.figures import palette
from strata.study.frame_grouping import levels_of
from strata.study.level_texts import level_text, levels_words
from strata.study.report_contents import HERE, Chart, Study


@dataclass(frozen=True)
class Key:
    """An entry of a legend. `style` is box, line or point; `hollow` marks another machine's."""

    text: str
    colour: str
    style: str = "box"
    hollow: bool = False
    marker: str = "circle"
    slug: str = ""


@dataclass(frozen=True)
class Panel:
    """One drawing of a figure; without a plot, `empty` says why there is none."""

    title: str
    plot: figure | None
    empty: str = ""


@dataclass(frozen=True)
class Drawn:
    """A figure: panels side by side, one legend, and the caption's sentences."""

    title: str
    panels: tuple[Panel, ...]
    legend: tuple[Key, ...]
    caption: tuple[str, ...]


@dataclass(frozen=True)
class Series:
    """The rows of one series, its key, and its place among the others (for dodging)."""

    level: str
    key: Key
    rows: pd.DataFrame
    at: int


def split_panels(
    chart: Chart, study: Study, draw: Callable[[pd.DataFrame], figure]
) -> tuple[Panel, ...]:
    """Draw each combination of the panel factors' levels; those without rows say why."""
    names = chart.request.panels
    if not names:
        return (Panel("", draw(chart.frame)),)
    panels = [_panel(chart.frame, levels, study, draw) for levels in _combinations(chart, study)]
    drawn = tuple(panel for panel in panels if panel.plot is not None)
    why: dict[str, list[str]] = {}
    for panel in panels:
        if panel.plot is None:
            why.setdefault(panel.empty, []).append(panel.title)
    return drawn + tuple(Panel("; ".join(titles), None, reason) for reason, titles in why.items())


def _combinations(chart: Chart, study: Study) -> Iterator[dict[str, str]]:
    """Combinations of the panel factors' levels, those that no cell has left out."""
    names = chart.request.panels
    choices = []
    for name in names:
        factor = study.factor(name)
        present = levels_of(chart.frame, name, study)
        if factor is None:
            choices.append(present)
            continue
        asked = {cell.levels.get(name) for cell in study.cells}
        choices.append([lv for lv in factor.levels if lv in asked or lv in present])
    for combination in product(*choices):
        yield dict(zip(names, combination, strict=True))


def _panel(
    frame: pd.DataFrame,
    levels: dict[str, str],
    study: Study,
    draw: Callable[[pd.DataFrame], figure],
) -> Panel:
    rows = frame
    for name, level in levels.items():
        rows = rows[rows[name].astype(str) == level]
    title = levels_words(study, levels)
    if rows.empty:
        known = {name: level for name, level in levels.items() if study.factor(name)}
        return Panel(title, None, study.why(known))
    return Panel(title, draw(rows))


def series_of(frame: pd.DataFrame, chart: Chart, study: Study, *, style: str) -> list[Series]:
    """Part rows by the levels of `by` and their origin; colours are those of the whole figure.

    Without `by` there is one series per origin.
    """
    by = chart.request.by
    whole = chart.frame
    levels = levels_of(whole, by, study) if by else [""]
    factor = study.factor(by) if by else None
    ordered = factor is not None and factor.numbers is not None
    fills = palette.colours(len(levels), ordered=ordered)
    origins = origins_of(whole)
    out = []
    for at, (level, origin) in enumerate(product(levels, origins)):
        rows = frame[frame["origin"] == origin] if "origin" in frame else frame
        if by:
            rows = rows[rows[by].astype(str) == level]
        if rows.empty:
            continue
        place = levels.index(level)
        text = level_text(level, factor) if by else ""
        key = Key(
            text=_with_origin(text, origin),
            colour=fills[place],
            style=style,
            hollow=origin != HERE,
            marker=palette.marker(place),
        )
        out.append(Series(level, key, rows, at))
    return out


def _with_origin(text: str, origin: str) -> str:
    if origin == HERE:
        return text
    return f"{text + ', ' if text else ''}{origin} (another machine)"


def origins_of(frame: pd.DataFrame) -> list[str]:
    """Return the origins that have rows, what was measured here first."""
    if "origin" not in frame:
        return [HERE]
    found = [str(origin) for origin in frame["origin"].unique()]
    return sorted(found, key=lambda origin: (origin != HERE, origin))


def legend_of(chart: Chart, study: Study, *, style: str) -> tuple[Key, ...]:
    """Return the keys of all series of the figure; none for a single unnamed one."""
    keys = [series.key for series in series_of(chart.frame, chart, study, style=style)]
    if len(keys) == 1 and not keys[0].text:
        return ()
    return tuple(key if key.text else replace(key, text=HERE) for key in keys)
