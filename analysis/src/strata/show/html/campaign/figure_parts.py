# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of a report for a page: drawn figures with captions, tables as texts, cells by reason."""

from __future__ import annotations

from dataclasses import dataclass, replace

from strata.show.html.campaign.figures import KINDS, Key, Panel
from strata.show.words.campaign_tables import figure_title
from strata.study.frame_grouping import levels_of, only
from strata.study.level_texts import levels_words
from strata.study.report_contents import (
    HERE,
    Chart,
    Study,
)
from strata.study.wording import count_words, name_words, sentence


@dataclass(frozen=True)
class FigurePart:
    """A figure on the page; without panels, `empty` says why there is nothing to draw."""

    place: str
    kind: str
    title: str
    panels: tuple[Panel, ...]
    legend: tuple[Key, ...]
    caption: tuple[str, ...]
    empty: str = ""


def figure_part(chart: Chart, study: Study, place: str) -> FigurePart:
    """Draw a figure that the campaign's file asks for, or say why it cannot be drawn."""
    request = chart.request
    title = figure_title(chart)
    frame = only(chart.frame, request)
    frame = frame.dropna(subset=["value"]) if "value" in frame else frame
    if frame.empty:
        why = chart.empty or study.why(_single(request.where))
        return FigurePart(place, request.kind, title, (), (), (), why)
    missing = [name for name in (request.x, request.by, *request.panels) if name]
    missing = [name for name in missing if name not in frame]
    if missing:
        why = f"the values have no {' and no '.join(missing)} to be drawn by"
        return FigurePart(place, request.kind, title, (), (), (), why)
    filtered = replace(chart, request=request, frame=frame)
    drawn = KINDS[request.kind](filtered, study)
    said = (*drawn.caption, *_missing_levels(filtered, study))
    caption = (*_counts(filtered, study), *said, *filter(None, [request.text]))
    return FigurePart(
        place, request.kind, title, drawn.panels, drawn.legend, tuple(map(sentence, caption))
    )


def _single(where: object) -> dict[str, str]:
    assert hasattr(where, "items")
    return {name: levels[0] for name, levels in where.items() if len(levels) == 1}


def _counts(chart: Chart, study: Study) -> list[str]:
    """Say how many values of how many cells are drawn, and what was left out of them."""
    frame = chart.frame
    values = _value_count(chart)
    cells = frame["cell"].nunique()
    repetitions = frame["repetition"].nunique()
    text = (
        f"{values} of {count_words(cells, 'cell', 'cells')} "
        f"({count_words(repetitions, 'repetition', 'repetitions')})"
    )
    out = [text]
    imported = frame["origin"] != HERE
    if study.warm_up and not imported.all():
        of = " that was measured here" if imported.any() else ""
        out.append(
            f"the first {count_words(study.warm_up, 'message', 'messages')} of every hop{of} are "
            "left out as warm-up"
        )
    if chart.measure.text:
        out.append(f"{name_words(chart.measure.name)}: {chart.measure.text}")
    if imported.any():
        out.append("hollow marks and dashed lines are imported results of another machine")
    return out


def _value_count(chart: Chart) -> str:
    frame = chart.frame
    each = "range" if chart.request.kind == "ranges" else chart.measure.each
    noun = each if each in ("message", "interval", "sample", "range") else "value"
    return count_words(len(frame), noun, f"{noun}s")


def _missing_levels(chart: Chart, study: Study) -> list[str]:
    """Name the levels on the axes that have no value, with the reasons."""
    out = []
    for name in dict.fromkeys((chart.request.x, chart.request.by)):
        factor = study.factor(name) if name else None
        if factor is None:
            continue
        present = set(levels_of(chart.frame, name, study))
        asked = {cell.levels.get(name) for cell in study.cells}
        allowed = chart.request.where.get(name, factor.levels)
        out += [
            f"no value at {levels_words(study, {name: level})}: {study.why({name: level})}"
            for level in factor.levels
            if level in asked and level in allowed and level not in present
        ]
    return out
