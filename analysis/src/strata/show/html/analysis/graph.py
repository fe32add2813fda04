# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The flow of messages as graphs for the page: which box and link says what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from strata.show.graph import message_flow
from strata.show.graph.drawing import DrawnBox, DrawnLink, draw, elided, wrapped
from strata.show.graph.message_flow import Flow, Place, View
from strata.show.html.theme import MICRO
from strata.show.words.naming import common_namespace
from strata.units import format_count, format_ns, format_share

if TYPE_CHECKING:
    from strata.analysis import Analysis

_MOST_BOXES = 40
"""A system of more nodes is shown folded at first."""
_NAMED_LINKS = 12
"""With more links only those that take the most time say their latency."""
_WIDE = 1400.0
"""A graph that is wider than that names no topics on its links."""
_LONGEST_NAME = 24
_FEW_BOXES, _LONGEST_LINE = 12, 16
"""Of more boxes than these, names are broken into shorter lines."""
_HOT = 0.3
"""A box or link with at least this part of all time is drawn as hot."""


@dataclass(frozen=True)
class GraphView:
    """A drawn view; `label` is empty for one that is reached by a click on a folded box."""

    key: str
    label: str
    svg: Markup
    hidden: bool


def graph_views(analysis: Analysis) -> list[GraphView]:
    """Draw every view of the system's flow of messages; one of them is not hidden."""
    found = message_flow.views(analysis)
    first = _first(found)
    return [
        GraphView(view.key, view.label, _drawn(view, number), view.key != first)
        for number, view in enumerate(found)
    ]


def _first(found: Sequence[View]) -> str:
    """Return the view to begin with: all nodes where they are readable, else the most folded."""
    if not found:
        return ""
    if len(found[0].places) <= _MOST_BOXES:
        return found[0].key
    folded = [view for view in found if view.label]
    return min(folded, key=lambda view: abs(len(view.places) - _MOST_BOXES // 2)).key


def _drawn(view: View, number: int) -> Markup:
    namespace = common_namespace(name for place in view.places for name in place.nodes)
    prefix = f"{namespace}/"
    shares = sorted((flow.share for flow in view.flows), reverse=True)
    least = shares[_NAMED_LINKS - 1] if len(shares) > _NAMED_LINKS else 0.0
    top = max(shares, default=1.0) or 1.0
    several = len({executor for place in view.places for executor in place.executors}) > 1
    most = _LONGEST_NAME if len(view.places) <= _FEW_BOXES else _LONGEST_LINE
    boxes = [
        _box(
            place,
            prefix,
            view.flows,
            most=most,
            executor_lines=(several and place.full) or place.kind == "executor",
        )
        for place in view.places
    ]
    label = f"Flow of messages by {view.label or 'node and group'}"
    key = f"g{number}"
    drawing = draw(
        boxes, [_link(f, top, least, topics=True) for f in view.flows], label=label, key=key
    )
    if drawing.width > _WIDE:
        links = [_link(flow, top, least, topics=False) for flow in view.flows]
        drawing = draw(boxes, links, label=label, key=key)
    return drawing.svg


def _box(
    place: Place, prefix: str, flows: Sequence[Flow], *, most: int, executor_lines: bool
) -> DrawnBox:
    lines = []
    if place.kind != "node":
        lines.append(format_count(len(place.nodes), "node", "nodes"))
    if place.callback_p50_ns is not None:
        lines.append(f"callback {format_ns(place.callback_p50_ns, micro=MICRO)}")
    if place.busy is not None and executor_lines:
        name = "executor full" if place.full else "executor busy"
        lines.append(f"{name} {format_share(place.busy)}")
    inside = [hop for flow in flows if flow.target == place.key for hop in flow.hops]
    attributes = {"hops": " ".join(map(str, inside)), "share": f"{place.share:.4f}"}
    if place.kind != "node" and len(place.nodes) > 1:
        kind = "executors" if place.kind == "executor" else "namespaces"
        attributes["open"] = f"{kind}:{place.name}"
    classes = [place.kind, "hot" if place.share >= _HOT else "", "full" if place.full else ""]
    return DrawnBox(
        place.key,
        wrapped(_name(place, prefix), most),
        tuple(lines),
        _box_title(place),
        " ".join(filter(None, classes)),
        attributes,
    )


def _name(place: Place, prefix: str) -> str:
    if place.kind == "executor":
        return f"executor {place.name}"
    short = place.name.removeprefix(prefix)
    return short or place.name


def _box_title(place: Place) -> str:
    named = ", ".join(place.nodes[:4]) + (", ..." if len(place.nodes) > 4 else "")
    facts = [
        f"{place.kind} {place.name}"
        if place.kind == "node"
        else f"{place.kind} {place.name}: {named}"
    ]
    if place.callback_p50_ns is not None:
        p50, p99 = (
            format_ns(ns, micro=MICRO) for ns in (place.callback_p50_ns, place.callback_p99_ns)
        )
        facts.append(f"callbacks p50 {p50}, p99 {p99}, {format_share(place.share)} of all time")
    if place.busy is not None:
        facts.append(f"executor busy {format_share(place.busy)}")
    return "; ".join(facts)


def _link(flow: Flow, top: float, least: float, *, topics: bool) -> DrawnLink:
    p50, p99 = (format_ns(ns, micro=MICRO) for ns in (flow.p50_ns, flow.p99_ns))
    named = flow.share >= least and flow.p50_ns is not None
    topic = flow.topics[0] if len(flow.topics) == 1 else f"{len(flow.topics)} topics"
    lines = [elided(topic, _LONGEST_NAME)] if topics and named else []
    lines += [p50] if named else []
    title = (
        f"{', '.join(flow.topics[:4])}: {format_count(flow.count, 'message', 'messages')}, "
        f"p50 {p50}, p99 {p99} to the start of the callback, "
        f"{format_share(flow.share)} of all time"
    )
    if flow.lost:
        title += f"; {flow.lost:,} lost"
    return DrawnLink(
        flow.source,
        flow.target,
        tuple(lines),
        title,
        flow.share / top,
        "hot" if flow.share >= _HOT else "",
        {"hops": " ".join(map(str, flow.hops)), "share": f"{flow.share:.4f}"},
    )
