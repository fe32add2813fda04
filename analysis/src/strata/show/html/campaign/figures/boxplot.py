# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Boxplots: quartiles, whiskers to the last value within 1.5 interquartile ranges, outliers.

J. W. Tukey, "Exploratory Data Analysis", 1977.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.models.annotations import TeeHead, Whisker
from bokeh.plotting import figure

from strata.show.html import theme
from strata.show.html.campaign.figures.error_bars import (
    COLOUR,
    largest_error,
    lower_ends,
    with_error,
)
from strata.show.html.campaign.figures.scales import (
    Floats,
    Places,
    Scale,
    in_order,
    label_values,
    places,
    scale_of,
    y_range,
)
from strata.show.html.campaign.figures.split import Drawn, Key, legend_of, series_of, split_panels
from strata.show.html.figures import axes, thinning
from strata.study.frame_grouping import by_cell, levels_of
from strata.study.report_contents import Chart, Study
from strata.study.wording import name_words

_HEIGHT = 360
_MAX_OUTLIERS = 150
_REACH = 1.5


@dataclass(frozen=True)
class Box:
    """A box in the measure's unit; `low` and `top` are the whiskers' ends.

    Its values may be off by `error` (+-), by their clocks.
    """

    low: float
    q1: float
    median: float
    q3: float
    top: float
    mean: float
    outliers: Floats
    count: int
    error: float = 0.0


def box_of(values: Floats, error: float = 0.0) -> Box:
    """Return the box of at least one value."""
    q1, median, q3 = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
    reach = _REACH * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    low, top = float(inside.min()), float(inside.max())
    outliers = np.sort(values[(values < low) | (values > top)])
    # Interpolated quartiles may lie beyond every value inside: a whisker never ends in its box.
    ends = min(low, q1), max(top, q3)
    mean = float(values.mean())
    return Box(ends[0], q1, median, q3, ends[1], mean, outliers, len(values), error)


def draw_boxplot(chart: Chart, study: Study) -> Drawn:
    """Draw a box for each level of `x` and of `by`, side by side."""
    chart = replace(chart, frame=by_cell(chart))
    left_out = [0]

    def draw(rows: pd.DataFrame) -> figure:
        plot, hidden = _draw(rows, chart, study)
        left_out[0] += hidden
        return plot

    panels = split_panels(chart, study, draw)
    caption = [
        "box: from the first to the third quartile, with the median as a line and the mean as a "
        "diamond; whiskers: to the last value within 1.5 interquartile ranges; points: values "
        "beyond them"
    ]
    if largest_error(chart.frame, chart.errors):
        caption.append(
            "red bar over a median: by so much (+-) the values of its box may be off, by imported "
            "logs of clocks; the largest error of its cells"
        )
    if left_out[0]:
        caption.append(f"{left_out[0]:,} points between others are not drawn")
    return Drawn("Distribution", panels, legend_of(chart, study, style="box"), tuple(caption))


def _draw(rows: pd.DataFrame, chart: Chart, study: Study) -> tuple[figure, int]:
    x = chart.request.x
    values = chart.frame["value"].to_numpy(dtype=np.float64)
    scale = scale_of(values, chart.measure, asked=chart.request.scale)
    at = places(levels_of(chart.frame, x, study) or [""], study.factor(x), x, spread=False)
    plot = _plane(values, scale, at, chart)
    series = series_of(rows, chart, study, style="box")
    slots = 1 + max((item.at for item in series), default=0)
    width = 0.72 / slots
    hidden = 0
    for item in series:
        shift = (item.at - (slots - 1) / 2) * width
        boxes = _boxes(item.rows, x, at, shift, chart.errors)
        hidden += _glyphs(plot, boxes, item.key, scale, 0.86 * width)
        _error_bars(plot, boxes, scale)
    return plot, hidden


def _plane(values: Floats, scale: Scale, at: Places, chart: Chart) -> figure:
    low, top = (float(end) * scale.factor for end in np.nanquantile(values, [0.0, 1.0]))
    error = largest_error(chart.frame, chart.errors) * scale.factor
    low, top = with_error(low, top, error, is_log=scale.is_log)
    rows = [("", "@of"), ("median", f"@median{{0,0.[000]}} {scale.unit}")]
    rows += [("quartiles", "@q1{0,0.[000]} to @q3{0,0.[000]}"), ("values", "@count{0,0}")]
    rows += [("+/- clocks", f"@error{{0,0.[000000]}} {scale.unit}")] if error else []
    plot = axes.new_figure(
        height=_HEIGHT,
        x_label=at.axis,
        y_label=scale.label(name_words(chart.measure.name)),
        y_log=scale.is_log,
        x_range=at.range,
        y_range=y_range(low, top, is_log=scale.is_log),
        hover=HoverTool(tooltips=rows, visible=False, renderers=[]),
    )
    at.put(plot)
    if scale.is_log:
        label_values(plot, low, top)
    else:
        axes.plain_numbers(plot)
    return plot


def _boxes(
    rows: pd.DataFrame, x: str, at: Places, shift: float, errors: Mapping[str, float]
) -> list[tuple[str, float, Box]]:
    out = []
    for level, place in at.at.items():
        mine = rows[rows[x].astype(str) == level] if x in rows else rows
        values = mine["value"].dropna().to_numpy(dtype=np.float64)
        if len(values):
            name = level if x == "hop" else at.texts[level]
            out.append((name, place + shift, box_of(values, largest_error(mine, errors))))
    return out


def _glyphs(
    plot: figure, boxes: list[tuple[str, float, Box]], key: Key, scale: Scale, width: float
) -> int:
    """Draw the boxes of one series; return how many outliers were left out."""
    source = _source(boxes, key, scale, width)
    line = key.colour if key.hollow else theme.TEXT
    dash = "dashed" if key.hollow else "solid"
    for begin, end in (("low", "q1"), ("q3", "top")):
        plot.segment("x", begin, "x", end, source=source, line_color=line, line_dash=dash)
    bars = plot.vbar(
        "x",
        width,
        "q3",
        "q1",
        source=source,
        fill_color=key.colour,
        fill_alpha=0.0 if key.hollow else 0.55,
        line_color=line,
        line_dash=dash,
    )
    plot.hover.renderers = [*plot.hover.renderers, bars]
    plot.segment(
        "left", "median", "right", "median", source=source, line_color=line, line_width=2.5
    )
    plot.scatter(
        "x", "mean", source=source, marker="diamond", size=8, fill_color="#ffffff", line_color=line
    )
    return _outliers(plot, boxes, key, scale)


def _source(
    boxes: list[tuple[str, float, Box]], key: Key, scale: Scale, width: float
) -> ColumnDataSource:
    data: dict[str, Any] = {
        name: [getattr(box, name) * scale.factor for _, _, box in boxes]
        for name in ("low", "q1", "median", "q3", "top", "mean", "error")
    }
    data["x"] = [x for _, x, _ in boxes]
    data["left"] = [x - width / 2 for _, x, _ in boxes]
    data["right"] = [x + width / 2 for _, x, _ in boxes]
    data["count"] = [box.count for _, _, box in boxes]
    data["of"] = [", ".join(filter(None, (text, key.text))) for text, _, _ in boxes]
    return ColumnDataSource(data)


def _error_bars(plot: figure, boxes: list[tuple[str, float, Box]], scale: Scale) -> None:
    """Draw the error of the clocks about each median that has one."""
    known = [(x, box) for _, x, box in boxes if box.error]
    if not known:
        return
    middle = np.array([box.median for _, box in known]) * scale.factor
    error = np.array([box.error for _, box in known]) * scale.factor
    source = ColumnDataSource(
        {
            "x": [x for x, _ in known],
            "error_low": lower_ends(plot, middle - error),
            "error_high": middle + error,
        }
    )
    bar = Whisker(base="x", lower="error_low", upper="error_high", source=source, line_color=COLOUR)
    bar.line_width = 2
    for head in (bar.lower_head, bar.upper_head):
        assert isinstance(head, TeeHead)
        head.size, head.line_color, head.line_width = 10, COLOUR, 2
    bar.level = "overlay"
    plot.add_layout(bar)


def _outliers(plot: figure, boxes: list[tuple[str, float, Box]], key: Key, scale: Scale) -> int:
    xs: list[float] = []
    ys: list[float] = []
    hidden = 0
    for _, x, box in boxes:
        kept = thinning.keep(in_order(box.outliers), _MAX_OUTLIERS)
        hidden += len(box.outliers) - len(kept)
        xs += [round(x, 4)] * len(kept)
        ys += [float(f"{value * scale.factor:.5g}") for value in box.outliers[kept]]
    if xs:
        plot.scatter(
            "x",
            "y",
            source=ColumnDataSource({"x": xs, "y": ys}),
            size=3,
            fill_color=None,
            line_color=key.colour,
            line_alpha=0.8,
        )
    return hidden
