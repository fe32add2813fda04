# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The path of a message through application, ROS 2, DDS and operating system, with our probes.

Only the layers that the campaign has are drawn, and the probes at which they begin and end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from strata.schema import layers
from strata.schema.checkpoints import CHECKPOINTS, END, RMW_PUBLISH, SERIALIZE_BEGIN, START, Side
from strata.schema.layer import JOINED
from strata.show.html import theme
from strata.study.report_contents import StampPlace


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
class Stamp:
    """A stamp that nodes take themselves: its place in the drawing, its name, and in words where.

    The lines of `label` are drawn; one without has its place from another one.

    `mode` is the stamp mode; empty for a stamp that is taken there in every mode. `cells` names the
    cells of that mode, by study.
    """

    name: str
    mode: str
    x: int
    y: int
    text_x: int
    label: tuple[str, ...]
    doc: str
    cells: str = ""


@dataclass(frozen=True)
class Flow:
    """The drawing: its bands, legs, probes and stamps. `has_driver` draws the sensor, too."""

    bands: tuple[tuple[str, int, int], ...]
    legs: tuple[Leg, ...]
    probes: tuple[Probe, ...]
    has_driver: bool
    has_hold: bool
    summary: str
    stamps: tuple[Stamp, ...] = ()


BANDS = (
    ("Application", 36, 96),
    ("ROS 2", 96, 226),
    ("DDS", 226, 372),
    ("Operating system", 372, 434),
    ("NIC / sensor", 434, 486),
)
_SENSOR, _LEFT, _RIGHT, _FAR = 176, 380, 660, 880

_BESIDE = 24
"""Of a stamp, beside the probe at which it is taken."""
_AT_SENSOR, _AT_DRIVER = 470, 92

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


def flow(
    present: Iterable[str], stamps: Mapping[str, Sequence[StampPlace]] | None = None
) -> Flow | None:
    """Return the drawing of these layers; null when there is none of a message's own.

    `stamps` are those of each study, by its name: where its nodes take stamps themselves.
    """
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
        stamps=_stamps(stamps or {}),
    )


def _stamps(studies: Mapping[str, Sequence[StampPlace]]) -> tuple[Stamp, ...]:
    """Return msg_stamp in each stamp mode, and recv_stamp; none where no study has a mode."""
    cells: dict[tuple[str, str, bool], list[str]] = {}
    for study, places in studies.items():
        for place in places:
            told = f"{study}: {', '.join(place.levels)}" if place.levels else f"all of {study}"
            cells.setdefault((place.mode, place.where, place.at_sensor), []).append(told)
    if not cells:
        return ()
    out = []
    for at_sensor, y in ((True, _AT_SENSOR), (False, _AT_DRIVER)):
        modes = [(mode, text) for mode, text, of_sensor in cells if of_sensor == at_sensor]
        named = ", ".join(dict.fromkeys(mode for mode, _ in modes))
        # Beside the driver there is little space.
        label = (f"msg_stamp: {named}",) if at_sensor else ("msg_stamp:", named)
        out += [
            Stamp(
                "msg_stamp",
                mode,
                _SENSOR + _BESIDE,
                y,
                _SENSOR + _BESIDE + 16,
                label if at == 0 else (),
                text,
                "; ".join(cells[mode, text, at_sensor]),
            )
            for at, (mode, text) in enumerate(modes)
        ]
    callback = _PROBES[START.name]
    return (
        *out,
        Stamp(
            "recv_stamp",
            "",
            callback.x + _BESIDE,
            callback.y,
            callback.x + _BESIDE + 16,
            ("recv_stamp",),
            "perf_node, as its callback begins, by the host's clock; in every stamp mode",
        ),
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
