# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The page of any number of recordings side by side: the distribution of every hop and chain.

What is shown is what `strata hops` measures (strata.stats.hop_distributions).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from strata import __version__
from strata.printable import printable
from strata.schema.rows import Ints
from strata.show.html import theme
from strata.show.html.comparison.environment import environment, style
from strata.show.html.embedding import page_asset
from strata.show.words.hop_selection import Selection, letter
from strata.stats.hop_distributions import Distribution, Hop, TraceHops, Way
from strata.units import NOTHING, format_ns, format_share

SCRIPTS = ("element.js", "address.js", "tables.js", "search.js", "several.js")
"""Scripts of the page, in the order in which they run."""

_MARKS = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Line:
    """One recording of a hop or chain; `strip` is five places in percent of one log axis."""

    letter: str
    count: str
    lost: str
    to_start: str
    times: tuple[str, ...]
    strip: tuple[float, ...]
    mostly: str


@dataclass(frozen=True)
class Block:
    """A hop or chain with a line for each recording that has it; `axis` is what the bars span."""

    name: str
    nodes: str
    lines: tuple[Line, ...]
    axis: tuple[str, str]


def render_several(traces: Sequence[TraceHops]) -> str:
    """Return the page as text; it depends on what was measured alone."""
    selection = Selection()
    return (
        environment()
        .get_template("several.html.j2")
        .render(
            title=", ".join(printable(trace.name) for trace in traces),
            version=__version__,
            traces=[(letter(at), trace) for at, trace in enumerate(traces)],
            chains=[
                _block(way, [trace.chains.get(way) for trace in traces], [None] * len(traces))
                for way in selection.chains(traces)
            ],
            hops=[
                _block(
                    way,
                    [hop.whole if hop is not None else None for hop in hops],
                    hops,
                )
                for way in selection.hops(traces)
                for hops in [[trace.hops.get(way) for trace in traces]]
            ],
            paints=theme.paints(),
            style=style(),
            early_script=page_asset("appearance.js"),
            script=Markup("\n").join(map(page_asset, SCRIPTS)),
        )
    )


def _block(way: Way, found: Sequence[Distribution | None], hops: Sequence[Hop | None]) -> Block:
    values = [one.values for one in found if one is not None and len(one.values)]
    low = max(1.0, float(min((own.min() for own in values), default=1)))
    high = max(low * 1.001, float(max((own.max() for own in values), default=1)))
    lines = tuple(
        _line(letter(at), one, hop, low, high)
        for at, (one, hop) in enumerate(zip(found, hops, strict=True))
        if one is not None
    )
    return Block(
        way.name.replace(" -> ", " → "),
        " → ".join(way.nodes),
        lines,
        (format_ns(low), format_ns(high)),
    )


def _line(name: str, found: Distribution, hop: Hop | None, low: float, high: float) -> Line:
    statistics: Mapping[str, float | int | None] = found.statistics
    times = tuple(format_ns(statistics[key]) for key in ("min", "p50", "p90", "p99", "max"))
    mostly = ""
    if hop is not None and hop.whole.typical.layer:
        largest = hop.whole.typical
        mostly = f"{largest.layer} {format_share(largest.share)}"
    start = format_ns(hop.transfer.statistics["p50"]) if hop is not None else ""
    lost = f"{hop.lost:,}" if hop is not None else NOTHING
    count = hop.count if hop is not None else len(found.values)
    return Line(name, f"{count:,}", lost, start, times, _strip(found.values, low, high), mostly)


def _strip(values: Ints, low: float, high: float) -> tuple[float, ...]:
    """Return where quantiles lie on a logarithmic axis from low to high, in percent."""
    if not len(values):
        return ()
    places = []
    for ns in np.quantile(values, _MARKS):
        share = math.log(max(float(ns), low) / low) / math.log(high / low)
        places.append(round(100 * min(share, 1.0), 2))
    return tuple(places)
