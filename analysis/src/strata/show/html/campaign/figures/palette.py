# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Colours, markers and dashes of the series of a figure.

Named levels have Okabe and Ito's colours, as the layers have; levels that are numbers go from dark
to light (Viridis, without its palest end), so that their order is seen. Markers and dashes differ
too, for who cannot tell the colours.
"""

from __future__ import annotations

from bokeh.palettes import Viridis256

NAMED = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#3b2f8f",
    "#56b4e9",
    "#6b6b6b",
    "#a50044",
    "#117733",
)
LIMIT = "#6b6b6b"
"""Of a line of reference."""

MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "star", "hex", "plus")
_PALEST = 215


def colours(count: int, *, ordered: bool) -> list[str]:
    """Return `count` colours; beyond ten names they repeat (markers then tell them apart)."""
    if ordered and count > 1:
        return [str(Viridis256[round(at * _PALEST / (count - 1))]) for at in range(count)]
    return [NAMED[at % len(NAMED)] for at in range(count)]


def marker(at: int) -> str:
    """Return the marker of the series at this place."""
    return MARKERS[at % len(MARKERS)]
