# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison: one HTML file that needs nothing beside it.

It has the content security policy of the report, and for the same reason: a name in a trace can
neither load nor send anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bokeh.resources import Resources
from markupsafe import Markup

from strata import __version__
from strata.comparison.amounts import subject_text
from strata.comparison.answer import Answer, Change, answer
from strata.comparison.comparison import SEED, Block, Comparison
from strata.comparison.difference import difference
from strata.comparison.sentences import further, headline, least_text, small_text
from strata.show.html import theme
from strata.show.html.comparison.drawing import drawn, summary
from strata.show.html.comparison.environment import environment
from strata.show.html.comparison.graph import FASTER, SAME, SLOWER, difference_graph
from strata.show.html.comparison.sections import hop_bars, loss_lines, table_rows
from strata.show.html.embedding import figure_json, page_asset
from strata.show.html.figures.shift import ShiftFigure, quantile_shifts
from strata.show.words.comparison import (
    found_text,
    group_text,
    notes,
    only_text,
    quality_text,
    sides_text,
)

_QUANTILES = ("p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99")
_MOST_FIGURES = 4


@dataclass(frozen=True)
class _Shifts:
    """How the quantiles of one subject moved."""

    place: str
    name: str
    figure: ShiftFigure


def render_comparison(comparison: Comparison) -> str:
    """Return the page as text; it depends on the comparison alone."""
    found = answer(comparison)
    change = found.median or found.tail
    graph = difference_graph(comparison)
    shifts = list(_shifts(comparison, found))
    split = change.split if change is not None else None
    least_ns = comparison.least.bound_ns(change.base_ns) if change is not None else 0.0
    bars = hop_bars(split, least_ns) if split is not None else []
    layers = dict.fromkeys(place.layer for place in split.places) if split is not None else {}
    return (
        environment()
        .get_template("comparison.html.j2")
        .render(
            title=f"{comparison.b.name} compared with {comparison.a.name}",
            version=__version__,
            comparison=comparison,
            headline=headline(comparison, found),
            further=further(comparison, found),
            direction=_direction(found),
            small=small_text(comparison, found),
            least=least_text(comparison.least),
            sides=[
                (letter, sides_text(side), quality_text(side, letter))
                for letter, side in (("A", comparison.a), ("B", comparison.b))
            ],
            graph=drawn(graph),
            graph_summary=summary(graph),
            shifts=shifts,
            change_name=_name(change),
            bars=bars,
            group=group_text(split) if split is not None else "",
            layers=sorted(layers, key=theme.order),
            rows=table_rows(comparison),
            found=found_text(comparison),
            losses=loss_lines(comparison),
            only=only_text(comparison),
            notes=notes(comparison),
            paints=theme.paints(),
            style=page_asset("comparison.css"),
            script=page_asset("comparison.js"),
            bokeh=Markup(Resources(mode="inline", components=["bokeh"]).render_js()),
            figures=[(one.place, figure_json(one.figure.plot, one.place)) for one in shifts],
        )
    )


def _direction(found: Answer) -> str:
    change = found.median or found.tail
    if change is None:
        return SLOWER if found.losses else SAME
    return SLOWER if change.slower else FASTER


def _name(change: Change | None) -> str:
    if change is None:
        return ""
    subject = change.block.subject
    return f"{subject.kind} {subject_text(subject)}"


def _shifts(comparison: Comparison, found: Answer) -> Iterator[_Shifts]:
    """Yield the figures of the subjects that changed the most, of the first if none did."""
    first = found.median or found.tail
    kind = first.block.subject.kind if first else comparison.blocks[0].subject.kind
    alike = [block for block in comparison.blocks if block.subject.kind == kind]
    chosen = [block for block in alike if comparison.is_relevant(block, block.whole)]
    if first is not None:
        chosen = [first.block, *(block for block in chosen if block is not first.block)]
    for at, block in enumerate((chosen or alike)[:_MOST_FIGURES]):
        moved = _moved(comparison, block)
        if moved is not None:
            name = f"{kind} {subject_text(block.subject)}"
            yield _Shifts(f"shift-{at}", name, moved)


def _moved(comparison: Comparison, block: Block) -> ShiftFigure | None:
    values = [side.values(block.subject) for side in (comparison.a, comparison.b)]
    found = difference(*values, seed=SEED, quantiles=_QUANTILES) if all(values) else None
    if found is None:
        return None
    return quantile_shifts({name: found.quantiles[name] for name in _QUANTILES})
