# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison: one HTML file that needs nothing beside it.

It has the head, the styles and the content security policy of the report page, and for the same
reason: a name in a trace can neither load nor send anything.
"""

from __future__ import annotations

from bokeh.resources import Resources
from markupsafe import Markup

from strata import __version__
from strata.comparison.answer import Answer, answer
from strata.comparison.comparison import Comparison
from strata.comparison.sentences import further, headline, least_text, small_text
from strata.show.html import theme
from strata.show.html.comparison.drawing import drawn
from strata.show.html.comparison.environment import environment, style
from strata.show.html.comparison.graph import FASTER, SAME, SLOWER, difference_graph
from strata.show.html.comparison.sections import loss_lines, table_rows
from strata.show.html.comparison.subjects import ShownSubject, shown_subjects
from strata.show.html.embedding import figure_json, inside_script, page_asset
from strata.show.html.figures.shift import quantile_shifts
from strata.show.words.comparison import found_text, notes, only_text, quality_text, sides_text

SCRIPTS = (
    "element.js",
    "figures.js",
    "address.js",
    "graph.js",
    "comparison.js",
    "tables.js",
    "search.js",
)
"""Scripts of the page, in the order in which they run."""

FIGURE = "shift"
"""Place of the figure of quantiles on the page."""


def render_comparison(comparison: Comparison) -> str:
    """Return the page as text; it depends on the comparison alone."""
    found = answer(comparison)
    subjects = shown_subjects(comparison, found)
    figures = _figures(subjects)
    return (
        environment()
        .get_template("comparison.html.j2")
        .render(
            title=f"{comparison.b.name} compared with {comparison.a.name}",
            version=__version__,
            headline=headline(comparison, found),
            further=further(comparison, found),
            direction=_direction(found),
            small=small_text(comparison, found),
            least=least_text(comparison.least),
            sides=[
                (letter, sides_text(side), quality_text(side, letter))
                for letter, side in (("A", comparison.a), ("B", comparison.b))
            ],
            graph=drawn(difference_graph(comparison)),
            subjects=subjects,
            has_figure=bool(figures),
            rows=table_rows(comparison),
            found=found_text(comparison),
            losses=loss_lines(comparison),
            only=only_text(comparison),
            notes=notes(comparison),
            paints=theme.paints(),
            style=style(),
            early_script=page_asset("appearance.js"),
            script=Markup("\n").join(map(page_asset, SCRIPTS)),
            bokeh=Markup(Resources(mode="inline", components=["bokeh"]).render_js()),
            document=inside_script({one.key: one.document for one in subjects}),
            figures=figures,
        )
    )


def _direction(found: Answer) -> str:
    change = found.median or found.tail
    if change is None:
        return SLOWER if found.losses else SAME
    return SLOWER if change.slower else FASTER


def _figures(subjects: list[ShownSubject]) -> list[tuple[str, Markup]]:
    """Return the figure, which shows the first subject that has a curve; none without any."""
    curve = next((one.curve for one in subjects if one.curve is not None), None)
    return [] if curve is None else [(FIGURE, figure_json(quantile_shifts(curve), FIGURE))]
