# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One message over threads and time: its own layers, and what else ran on the same threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bokeh.models import BasicTickFormatter, ColumnDataSource, HoverTool

from strata.printable import printable
from strata.show.html import theme
from strata.show.html.figures import axes
from strata.units import format_ns, unit_for

if TYPE_CHECKING:
    from typing import Any

    from bokeh.models.renderers import GlyphRenderer
    from bokeh.plotting import figure

    from strata.timeline import Lane, Span, Timeline

_LEGEND_COLUMNS = 4
_OWN, _OTHER = 0.62, 0.3
"""Heights of bars, as a part of a lane: of the message itself, and of other work."""
_LETTERS = 44
"""Of a lane's name: longer ones would leave no width for the lanes."""
_BEHIND = "work that it waited behind"
_REST = "other work"
_FILLS = {_BEHIND: theme.STATES["executing"], _REST: "#a9b2bb"}


def message_timeline_figure(timeline: Timeline) -> figure:
    """Plot the spans of a timeline over its lanes, the first lane on top.

    Time counts from the begin of the message. Broad bars are the message's own layers, in their
    colours; narrow ones are other work on the same threads, dark where the message waited behind
    it.
    """
    unit = unit_for(float(max(timeline.latency_ns, 1)))
    lanes = lane_names(timeline.lanes)
    begin, end = (
        (ns - timeline.begin_ns) / unit.ns
        for ns in (timeline.window_begin_ns, timeline.window_end_ns)
    )
    plot = axes.new_figure(
        height=130 + 44 * len(lanes),
        x_label=f"since its publish ({theme.MICRO if unit.name == 'us' else unit.name})",
        y_label="",
        y_log=False,
        x_range=(begin, max(end, begin + 1e-6)),
        y_range=list(reversed(lanes)),
        hover=HoverTool(
            tooltips=[("what", "@what"), ("of", "@label"), ("lasts", "@text"), ("on", "@lane")],
            visible=False,
        ),
    )
    plot.xaxis[0].formatter = BasicTickFormatter(use_scientific=False)
    entries: axes.Entries = []
    for name, spans in _groups(timeline.spans).items():
        entries.append((name, [_bars(plot, name, spans, timeline, unit.ns)]))
    axes.add_legend(plot, entries, columns=_LEGEND_COLUMNS)
    return plot


def lane_names(lanes: Sequence[Lane]) -> list[str]:
    """Name each lane by its role, in so many letters; the further ones of a role by thread, too."""
    names: list[str] = []
    for number, lane in enumerate(lanes):
        name = printable(lane.role)
        name = name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
        if name in names:
            name = f"{name} ({lane.vtid if lane.vtid is not None else number})"
        names.append(name if name not in names else f"{name} ({number})")
    return names


def _groups(spans: Sequence[Span]) -> dict[str, list[Span]]:
    """Spans by what the legend calls them: other work first, so that own layers lie on top."""
    found: dict[str, list[Span]] = {_REST: [], _BEHIND: []}
    for layer in sorted({span.layer or span.kind for span in spans if span.own}, key=theme.order):
        found[layer] = []
    for span in spans:
        other = _BEHIND if span.waited_ns else _REST
        found[(span.layer or span.kind) if span.own else other].append(span)
    return {name: own for name, own in found.items() if own}


def _bars(
    plot: figure, name: str, spans: list[Span], timeline: Timeline, unit_ns: int
) -> GlyphRenderer[Any]:
    """Draw the spans that the legend has under one name."""
    other = name in _FILLS
    lanes = lane_names(timeline.lanes)
    source = ColumnDataSource(
        {
            "y": [lanes[span.lane] for span in spans],
            "lane": [printable(timeline.lanes[span.lane].role) for span in spans],
            "left": [(span.begin_ns - timeline.begin_ns) / unit_ns for span in spans],
            "right": [(span.end_ns - timeline.begin_ns) / unit_ns for span in spans],
            "what": [span.kind if other else name for span in spans],
            "label": [printable(span.label) for span in spans],
            "text": [format_ns(span.duration_ns, micro=theme.MICRO) for span in spans],
        }
    )
    merged = not other and theme.paint(name).merged
    return plot.hbar(
        y="y",
        left="left",
        right="right",
        height=_OTHER if other else _OWN,
        source=source,
        fill_color=_FILLS[name] if other else theme.paint(name).fill,
        line_color=None,
        hatch_pattern="/" if merged else " ",
        hatch_color="#ffffff",
        hatch_alpha=0.5,
    )
