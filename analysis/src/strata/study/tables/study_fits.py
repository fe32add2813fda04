# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The segmented fits that a study's tables and curves ask for.

The same points have the same shape in all of them: p is corrected for all fits of the study of one
statistic of one measure along one factor.
"""

from __future__ import annotations

from dataclasses import dataclass

from strata.campaign.model import Figure, listed
from strata.study.campaign_results import Results
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import find_measure
from strata.study.segmented_fits import FittedPoints, ShapedFit, fit_levels, shaped
from strata.study.tables.level_pairs import strata_of, told_apart
from strata.study.tables.table import ORIGIN
from strata.study.values_by_cell import one_per_cell


@dataclass(frozen=True)
class Fits:
    """The fits of a table or a curve; `why` says which levels have none, and why."""

    found: tuple[ShapedFit, ...] = ()
    why: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Asked:
    """What is fitted: a statistic of a measure along a factor."""

    of: str
    statistic: str
    over: str


def fits_of(results: Results, study: str, figure: Figure) -> Fits:
    """Return the fits of a table of kind segmented, or of a curve with `fit`.

    Their levels are those of `within`, of a curve of its panels, of `by` and of the origin.
    """
    asked = _asked(figure)
    own, why = _fitted(results, study, figure)
    family = results.once(f"fits {asked}", study, lambda: _family(results, study, asked))
    return Fits(shaped(own, family), tuple(why))


def _asked(figure: Figure) -> _Asked:
    over = figure.x if figure.fit else figure.over
    return _Asked(figure.of or "latency", figure.statistic or "p50", str(over))


def _family(results: Results, study: str, asked: _Asked) -> list[FittedPoints]:
    """Return all fits of the same question in a study's file."""
    figures = [
        figure
        for figure in results.study(study).stated.figures
        if (figure.fit or figure.kind == "segmented") and _asked(figure) == asked
    ]
    return [one for figure in figures for _, one in _fitted(results, study, figure)[0]]


def _fitted(
    results: Results, study: str, figure: Figure
) -> tuple[list[tuple[dict[str, str], FittedPoints]], list[str]]:
    asked, measure = _asked(figure), find_measure(figure.of or "latency")
    factor = results.study(study).factor(asked.over)
    if factor is None or factor.numbers is None:
        return [], []
    frame = long_frame(results, study, measure.name, where=figure.where)
    if figure.fit:
        shown = [*listed(figure.panels), *listed(figure.by)]
        frame = one_per_cell(frame, measure.each, (asked.over, *shown))
        apart = [name for name in (*shown, ORIGIN) if name in frame]
    else:
        apart = told_apart(frame, figure)
    found, why = [], []
    for levels, own in strata_of(frame, apart):
        try:
            points = fit_levels(own, factor, asked.statistic, figure.confidence[0])
        except ValueError as error:
            why.append(f"{', '.join(levels.values()) or 'No fit'}: {error}")
            continue
        found.append((levels, points))
    return found, why
