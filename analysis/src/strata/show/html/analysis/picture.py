# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The chain as a picture: nodes and topics top down, time from left to right on one scale.

A row is a node (what the message waited for inside it) or a topic (the way from one node to the
next). Every row begins where the one above ends: durations are means over a group of messages, so
they add up to the mean latency of that group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strata.schema.layers import DRIVER_LAYERS, EXECUTOR_WAIT, IN_NODE
from strata.show.html import theme
from strata.show.html.names import Name
from strata.show.html.theme import MICRO
from strata.stats import groups
from strata.symbols import shorten
from strata.units import format_ns, format_share, format_tick

if TYPE_CHECKING:
    import pandas as pd

    from strata.analysis import Analysis

_IN_DRIVER = tuple(layer.name for layer in DRIVER_LAYERS)
_IN_NODE = tuple(layer.name for layer in IN_NODE)
_TICKS = 5
_WORTH_NAMING = 0.05
"""A callback that was waited for is named when it took this share of the whole latency."""


@dataclass(frozen=True)
class Segment:
    """One layer in a row; `left` and `width` are percent of the time axis."""

    layer: str
    slug: str
    left: float
    width: float
    text: str
    title: str


@dataclass(frozen=True)
class Row:
    """A node or a topic of the chain; `total` is empty where the message spent no time."""

    kind: str
    name: str
    detail: Name | None
    total: str
    share: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Tick:
    """A mark of the time axis at `left` percent."""

    left: float
    text: str


@dataclass(frozen=True)
class View:
    """The picture of one group of messages."""

    key: str
    label: str
    count: int
    total: str
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]

    @property
    def summary(self) -> str:
        """The picture in words, for those who cannot see it."""
        rows = "; ".join(f"{row.kind} {row.name} {row.total}" for row in self.rows if row.total)
        return f"{self.label}: {self.total} in all. {rows}."


@dataclass(frozen=True)
class _Part:
    """A layer of a hop with its mean duration over the group."""

    hop: int
    layer: str
    mean_ns: float
    behind: Name | None = None

    @property
    def in_node(self) -> bool:
        return self.layer in _IN_NODE


@dataclass(frozen=True)
class _Stop:
    """Names along one hop."""

    topic: str
    publisher: str
    subscriber: str
    symbol: str
    source: str


def views(analysis: Analysis, chain_id: int) -> list[View]:
    """Draw the chain once for each group of messages; no views for a chain of no messages."""
    instances = analysis.chain_instances
    instances = instances[instances["chain_id"] == chain_id]
    segments = analysis.chain_segments
    segments = segments[segments["chain_id"] == chain_id]
    if instances.empty or segments.empty:
        return []
    stops = _stops(analysis, segments)
    return [_view(analysis, group, instances, segments, stops) for group in groups.GROUPS]


def nice_ticks(end_ns: float, count: int = _TICKS) -> list[float]:
    """Return about `count` round durations from 0 to `end_ns`, both in nanoseconds."""
    if end_ns <= 0:
        return [0.0]
    rough = end_ns / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    return [step * at for at in range(math.floor(end_ns / step * (1 + 1e-12)) + 1)]


def _view(
    analysis: Analysis,
    group: groups.Group,
    instances: pd.DataFrame,
    segments: pd.DataFrame,
    stops: dict[int, _Stop],
) -> View:
    chosen = groups.members(instances, group)
    inside = segments[segments["chain_instance_id"].isin(chosen["chain_instance_id"])]
    total = float(chosen["latency_ns"].mean())
    parts = _parts(inside, len(chosen), _blockers(analysis, inside, len(chosen)))
    return View(
        key=group.key,
        label=group.label,
        count=len(chosen),
        total=format_ns(total, micro=MICRO),
        rows=tuple(_rows(parts, stops, total)),
        ticks=tuple(
            Tick(_percent(at, total), format_tick(at, micro=MICRO)) for at in nice_ticks(total)
        ),
    )


def _parts(segments: pd.DataFrame, count: int, blockers: dict[int, Name]) -> list[_Part]:
    """Mean duration of each layer of each hop, in the order of the chain.

    A message that lacks a layer spent no time in it: the sum is divided by all `count` messages.
    `blockers` says of a hop what its messages waited behind.
    """
    grouped = segments.groupby(["hop", "layer"], sort=False)
    sums = grouped.agg(duration=("duration_ns", "sum"), position=("position", "min"))
    sums = sums.reset_index().sort_values(["position", "hop"], kind="stable")
    return [
        _Part(
            int(hop),
            str(layer),
            float(duration) / count,
            blockers.get(int(hop)) if EXECUTOR_WAIT.name in str(layer) else None,
        )
        for hop, layer, duration in zip(sums["hop"], sums["layer"], sums["duration"], strict=True)
    ]


def _blockers(analysis: Analysis, segments: pd.DataFrame, count: int) -> dict[int, Name]:
    """Name, for each hop, the callback that its messages waited behind the longest."""
    hops = segments[["hop", "message_id"]].drop_duplicates()
    waited = hops.merge(analysis.executor_blockers, on="message_id")
    summed = waited.groupby(["hop", "callback_id", "work"])["duration_ns"].sum().reset_index()
    longest = summed.sort_values("duration_ns", ascending=False).drop_duplicates("hop")
    least = _WORTH_NAMING * float(segments["duration_ns"].sum())
    callbacks = analysis.callbacks.set_index("callback_id")
    named = {}
    for row in longest[longest["duration_ns"] >= least].to_dict("records"):
        symbol, trigger = callbacks.loc[row["callback_id"], ["symbol", "trigger"]]
        waits = f"{format_ns(row['duration_ns'] / count, micro=MICRO)} behind"
        of = f" [{trigger}]" if isinstance(trigger, str) else ""
        if row["work"] == "take":
            waits = f"{waits} takes for"
        named[int(row["hop"])] = Name(f"{waits} {shorten(symbol)}{of}", f"{waits} {symbol}{of}")
    return named


def _rows(parts: list[_Part], stops: dict[int, _Stop], total: float) -> list[Row]:
    first = parts[0]
    rows = [] if first.in_node else [Row("node", stops[first.hop].publisher, None, "", "", ())]
    begin = 0.0
    for group in _runs(parts):
        rows.append(_row(group, stops, begin, total))
        begin += sum(part.mean_ns for part in group)
    if not parts[-1].in_node:
        rows.append(Row("node", stops[parts[-1].hop].subscriber, None, "", "", ()))
    return rows


def _runs(parts: list[_Part]) -> list[list[_Part]]:
    """Cut the chain into rows: a node's layers or a topic's, as they follow one another."""
    runs: list[list[_Part]] = []
    for part in parts:
        last = runs[-1][-1] if runs else None
        if last and last.in_node == part.in_node and (part.in_node or last.hop == part.hop):
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs


def _row(parts: list[_Part], stops: dict[int, _Stop], begin: float, total: float) -> Row:
    first = parts[0]
    name, detail = _names(parts, stops)
    segments = []
    at = begin
    for part in parts:
        segments.append(_segment(part, name, at, total))
        at += part.mean_ns
    spent = at - begin
    return Row(
        kind="node" if first.in_node else "topic",
        name=name,
        detail=detail,
        total=format_ns(spent, micro=MICRO),
        share=format_share(spent / total if total else 0.0),
        segments=tuple(segments),
    )


def _names(parts: list[_Part], stops: dict[int, _Stop]) -> tuple[str, Name | None]:
    """Name of the row, and the callback that ran there or that it waited behind.

    What lies inside a node lies in the one that took the message of its hop, but for its driver.
    """
    part = parts[0]
    stop = stops[part.hop]
    if part.layer in _IN_DRIVER:
        return stop.publisher, Name(stop.source, stop.source)
    if not part.in_node:
        return stop.topic, next((part.behind for part in parts if part.behind), None)
    return stop.subscriber, Name(shorten(stop.symbol), stop.symbol) if stop.symbol else None


def _segment(part: _Part, where: str, begin: float, total: float) -> Segment:
    text = format_ns(part.mean_ns, micro=MICRO)
    share = part.mean_ns / total if total else 0.0
    return Segment(
        layer=part.layer,
        slug=theme.paint(part.layer).slug,
        left=_percent(begin, total),
        width=_percent(part.mean_ns, total),
        text=text,
        title=f"{part.layer}, {where}: {text}, {format_share(share)} of the latency",
    )


def _percent(value: float, total: float) -> float:
    return round(100 * value / total, 4) if total > 0 else 0.0


def _stops(analysis: Analysis, segments: pd.DataFrame) -> dict[int, _Stop]:
    """Names of every hop, read from the first message that went over it."""
    firsts = segments.drop_duplicates("hop")[["hop", "message_id"]]
    named = firsts.merge(analysis.messages, on="message_id", how="left")
    ran = analysis.callbacks
    symbols = dict(zip(ran["callback_id"], ran["symbol"].astype(str), strict=True))
    return {
        int(row["hop"]): _Stop(
            topic=str(row["topic"]),
            publisher=str(row["publisher_node"]),
            subscriber=str(row["subscription_node"]),
            symbol=symbols.get(row["callback_id"], ""),
            source=str(row["driver_source"]),
        )
        for row in named.to_dict("records")
    }
