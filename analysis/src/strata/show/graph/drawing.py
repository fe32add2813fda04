# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A graph as SVG: boxes with lines of text, links with labels, each of which can be selected.

Everything that can be selected is a `g` element with the class `pick`, its label in words, and the
attributes that it was given. Colours come from the style sheet of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from markupsafe import Markup, escape
from scipy.optimize import isotonic_regression

from strata.printable import printable
from strata.show.graph.layout import Box, Layout, Link, lay_out

_CHARACTER, _BOLD_CHARACTER = 6.6, 7.9
"""Width in pixels of a character of 12 pixels, on average and rounded up."""
_LINE = 15.0
_PADDING = 9.0
_MARGIN = 10.0
_LABEL_STEP = 13.0
_THINNEST, _THICKEST = 1.4, 7.0

_WORDS = re.compile(r"[A-Z]?[^A-Z/_.:-]*[/_.:-]*")

Point = tuple[float, float]


@dataclass(frozen=True)
class DrawnBox:
    """A box: lines of its name in bold, then other lines. `title` says in words what it shows."""

    key: str
    name: tuple[str, ...]
    lines: tuple[str, ...]
    title: str
    classes: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DrawnLink:
    """A link; `weight` from 0 to 1 is how thick it is, `lines` are written at it."""

    source: str
    target: str
    lines: tuple[str, ...]
    title: str
    weight: float
    classes: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Drawing:
    """The SVG element and its natural size in pixels."""

    svg: Markup
    width: float
    height: float


def draw(boxes: Sequence[DrawnBox], links: Sequence[DrawnLink], *, label: str, key: str) -> Drawing:
    """Draw a graph; `label` names it, `key` is unique on the page. Links of a box to itself are
    not drawn.
    """
    links = [link for link in links if link.source != link.target]
    layout = lay_out(
        [Box(box.key, *_size(box)) for box in boxes],
        [Link(link.source, link.target, _text_width(link.lines)) for link in links],
    )
    width, height = layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN + _LINE
    places = _label_places(links, layout)
    parts = [_arrow(key)]
    parts += [
        _link(link, route, place, key)
        for link, route, place in zip(links, layout.routes, places, strict=True)
    ]
    parts += [_box(box, layout.places[box.key]) for box in boxes]
    svg = Markup(
        '<svg class="graph" role="group" aria-label="{}" viewBox="{:.0f} {:.0f} {:.0f} {:.0f}" '
        'style="--natural:{:.0f}px">{}</svg>'
    ).format(
        printable(label),
        -_MARGIN,
        -_MARGIN - _LINE,
        width,
        height,
        width,
        Markup("").join(parts),
    )
    return Drawing(svg, width, height)


def wrapped(name: str, most: int) -> tuple[str, ...]:
    """Break a name of more than `most` characters into lines where its words begin, as in
    EuclideanCluster, Detector; a word that is longer than a line is elided.
    """
    lines = [""]
    for word in _WORDS.findall(name):
        if len(lines[-1]) + len(word) > most and lines[-1]:
            lines.append("")
        lines[-1] += word
    return tuple(elided(line, most) for line in lines)


def elided(name: str, most: int) -> str:
    """Shorten a name of more than `most` characters in its middle."""
    if len(name) <= most:
        return name
    head = (most - 1) // 2
    return f"{name[:head]}…{name[-(most - 1 - head) :]}"


def _text_width(lines: Iterable[str], character: float = _CHARACTER) -> float:
    return max((len(line) for line in lines), default=0) * character


def _size(box: DrawnBox) -> tuple[float, float]:
    width = max(_text_width(box.name, _BOLD_CHARACTER), _text_width(box.lines))
    return width + 2 * _PADDING, (len(box.name) + len(box.lines)) * _LINE + _PADDING


def _arrow(key: str) -> Markup:
    return Markup(
        '<defs><marker id="arrow-{}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" '
        'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0L10 5L0 10z" class="arrow"/></marker></defs>'
    ).format(key)


def _picked(classes: str, title: str, attributes: Mapping[str, str], inside: Markup) -> Markup:
    given = Markup("").join(
        Markup(' data-{}="{}"').format(name, printable(value)) for name, value in attributes.items()
    )
    return Markup(
        '<g class="pick {}" role="button" tabindex="-1" aria-label="{}"{}><title>{}</title>{}</g>'
    ).format(classes, printable(title), given, printable(title), inside)


def _box(box: DrawnBox, place: Point) -> Markup:
    x, y = place
    text = Markup("").join(
        Markup('<text x="{:.1f}" y="{:.1f}"{}>{}</text>').format(
            x + _PADDING,
            y + _LINE * (at + 1),
            Markup(' class="name"') if at < len(box.name) else Markup(""),
            printable(line),
        )
        for at, line in enumerate((*box.name, *box.lines))
    )
    width, height = _size(box)
    rectangle = Markup(
        '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="5"/>'
    ).format(x, y, width, height)
    return _picked(f"box {box.classes}", box.title, box.attributes, rectangle + text)


def _link(link: DrawnLink, route: Sequence[Point], place: Point, key: str) -> Markup:
    path = _path(route)
    wide = _THINNEST + (_THICKEST - _THINNEST) * min(max(link.weight, 0.0), 1.0)
    line = Markup(
        '<path class="hit" d="{0}"/><path class="line" d="{0}" stroke-width="{1:.1f}" '
        'marker-end="url(#arrow-{2})"/>'
    ).format(path, wide, key)
    x, y = place
    text = Markup("").join(
        Markup('<text x="{:.1f}" y="{:.1f}">{}</text>').format(
            x, y + _LABEL_STEP * at, escape(printable(text))
        )
        for at, text in enumerate(link.lines)
    )
    return _picked(f"link {link.classes}", link.title, link.attributes, line + text)


def _path(route: Sequence[Point]) -> str:
    parts = [f"M{route[0][0]:.1f} {route[0][1]:.1f}"]
    for (x0, y0), (x1, y1) in pairwise(route):
        if abs(y1 - y0) < 1:
            parts.append(f"L{x1:.1f} {y1:.1f}")
        else:
            middle = (x0 + x1) / 2
            parts.append(f"C{middle:.1f} {y0:.1f} {middle:.1f} {y1:.1f} {x1:.1f} {y1:.1f}")
    return "".join(parts)


def _label_places(links: Sequence[DrawnLink], layout: Layout) -> list[Point]:
    """Return where the first line of each label goes: above its link, before it bends, and below
    the label above it.
    """
    places: list[Point] = [(0.0, 0.0)] * len(links)
    between: dict[int, list[int]] = {}
    for at, route in enumerate(layout.routes):
        (x0, y0), (x1, y1) = _last_gap(route)
        lines = len(links[at].lines)
        places[at] = ((x0 + x1) / 2, (y0 + y1) / 2 - 7 - _LABEL_STEP * (lines - 1))
        between.setdefault(round((x0 + x1) / 40), []).append(at)
    for own in between.values():
        own.sort(key=lambda at: (places[at][1], at))
        heights = [len(links[at].lines) * _LABEL_STEP for at in own]
        least = np.cumsum([0.0, *heights[:-1]])
        wanted = np.array([places[at][1] for at in own])
        fitted = isotonic_regression(wanted - least).x + least
        for at, y in zip(own, fitted, strict=True):
            places[at] = (places[at][0], float(y))
    return places


def _last_gap(route: Sequence[Point]) -> tuple[Point, Point]:
    """Return the part of a link between its last two columns, where room is kept for its label."""
    return route[-2], route[-1]
