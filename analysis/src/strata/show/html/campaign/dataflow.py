# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The path of a message through application, ROS 2, DDS and operating system, with our probes.

Only the layers that the campaign has are drawn, and the probes at which they begin and end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from strata.schema import layers
from strata.schema.checkpoints import CHECKPOINTS, END, RMW_PUBLISH, SERIALIZE_BEGIN, Side
from strata.schema.layer import JOINED
from strata.show.html import theme


@dataclass(frozen=True)
class Probe:
    """A trace event on the path of a message: where it is in the drawing, and what it is."""

    name: str
    x: int
    y: int
    doc: str
    number: int = 0


@dataclass(frozen=True)
class Leg:
    """A layer in the drawing: a line from one probe to another, and the place of its name."""

    layer: str
    fill: str
    points: str
    text_x: int
    text_y: int
    anchor: str
    merged: bool


@dataclass(frozen=True)
class Flow:
    """The drawing: its bands, legs and probes. `has_driver` draws the sensor, too."""

    bands: tuple[tuple[str, int, int], ...]
    legs: tuple[Leg, ...]
    probes: tuple[Probe, ...]
    has_driver: bool
    has_hold: bool
    summary: str


BANDS = (
    ("Application", 36, 96),
    ("ROS 2", 96, 226),
    ("DDS", 226, 372),
    ("Operating system", 372, 434),
    ("NIC / sensor", 434, 486),
)
_SENSOR, _LEFT, _RIGHT, _FAR = 176, 380, 660, 880

_X = {Side.SENSOR: _SENSOR, Side.SENDER: _LEFT, Side.READER: _RIGHT}

_PROBES = {
    point.name: Probe(
        point.name, _FAR if point is END else _X[point.side], point.height, point.shown
    )
    for point in CHECKPOINTS
    if point.height is not None
}
_ORDER = list(_PROBES)
_SPANS = {
    layer.name: (layer.begin.name, layer.end.name)
    for layer in (*layers.BASIC_LAYERS, layers.MIDDLEWARE)
    if layer.begin and layer.end and {layer.begin.name, layer.end.name} <= _PROBES.keys()
}
_BEFORE = (RMW_PUBLISH.name, SERIALIZE_BEGIN.name)
_BOTTOM = 404


def flow(present: Iterable[str]) -> Flow | None:
    """Return the drawing of these layers; null when there is none of a message's own."""
    spans = {name: span for name in present if (span := _span(name))}
    drawn: dict[str, tuple[str, str]] = {}
    # The time before serialize_begin is of the layer dds write, too.
    covered = {_BEFORE} if layers.DDS_WRITE.name in spans else set()
    for name, span in sorted(spans.items(), key=lambda item: _length(item[1])):
        steps = set(_steps(span))
        if not steps <= covered:
            drawn[name] = span
            covered |= steps
    if not drawn:
        return None
    used = [name for name in _ORDER if any(name in span for span in drawn.values())]
    numbered = [
        Probe(probe.name, probe.x, probe.y, probe.doc, at)
        for at, probe in enumerate((_PROBES[name] for name in used), start=1)
    ]
    legs = [_leg(name, drawn[name]) for name in sorted(drawn, key=theme.order)]
    if set(_BEFORE) <= set(used) and layers.DDS_WRITE.name in drawn:
        legs.append(replace(_leg(layers.DDS_WRITE.name, _BEFORE), text_x=-100))
    return Flow(
        bands=BANDS,
        legs=tuple(legs),
        probes=tuple(numbered),
        has_driver=any("read" in span for span in drawn.values()),
        has_hold=layers.HOLD.name in set(present),
        summary="The path of a message: " + ", ".join(dict.fromkeys(leg.layer for leg in legs)),
    )


def _span(name: str) -> tuple[str, str] | None:
    """Return the probes at which a layer begins and ends; a merged one spans its parts."""
    if name in _SPANS:
        return _SPANS[name]
    parts = [_SPANS.get(part) for part in name.split(JOINED)]
    if JOINED not in name or None in parts:
        return None
    ends = [part for part in parts if part is not None]
    begin = "rmw_publish" if ends[0][0].startswith("serialize") else ends[0][0]
    return begin, ends[-1][1]


def _steps(span: tuple[str, str]) -> list[tuple[str, str]]:
    first, last = (_ORDER.index(end) for end in span)
    return [(_ORDER[at], _ORDER[at + 1]) for at in range(first, last)]


def _length(span: tuple[str, str]) -> int:
    return _ORDER.index(span[1]) - _ORDER.index(span[0])


def _leg(name: str, span: tuple[str, str]) -> Leg:
    begin, end = (_PROBES[probe] for probe in span)
    points = [(begin.x, begin.y)]
    if begin.x == _LEFT and end.x == _RIGHT:
        points += [(_LEFT, _BOTTOM), (_RIGHT, _BOTTOM)]
    elif begin.x == _RIGHT and end.x > _RIGHT:
        points.append((_RIGHT, end.y))
    points.append((end.x, end.y))
    paint = theme.paint(name)
    x, y, anchor = _label(begin, end)
    text = " ".join(f"{px},{py}" for px, py in points)
    return Leg(name, paint.fill, text, x, y, anchor, paint.merged)


def _label(begin: Probe, end: Probe) -> tuple[int, int, str]:
    """Return where the name of a layer stands: outside of the two sides, above flat lines."""
    if begin.x == _LEFT and end.x == _RIGHT:
        return (_LEFT + _RIGHT) // 2, _BOTTOM - 10, "middle"
    if begin.y == end.y:
        return (begin.x + end.x) // 2, begin.y - 10, "middle"
    if begin.x == _RIGHT and end.x > _RIGHT:
        return (_RIGHT + end.x) // 2, end.y - 10, "middle"
    middle = (begin.y + end.y) // 2 + 4
    return (begin.x + 20, middle, "start")
