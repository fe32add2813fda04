# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the sections of the comparison page show: layers side by side, rows, losses."""

from __future__ import annotations

from dataclasses import dataclass

from strata.comparison.amounts import bounds_ns, percent, signed_ns, subject_text
from strata.comparison.answer import ordered_rows
from strata.comparison.comparison import Block, Comparison, Row, Verdict
from strata.comparison.places import Split, is_in_callback
from strata.comparison.runs import CALLBACK, CHAIN, HOP
from strata.show.html import theme
from strata.show.html.comparison.graph import FASTER, SAME, SIGNS, SLOWER, subject_key
from strata.show.html.theme import MICRO
from strata.show.words.comparison import layer_text, loss_text
from strata.symbols import shorten
from strata.units import NOTHING, format_ns, format_p


@dataclass(frozen=True)
class Segment:
    """A layer in a bar: where it begins and how wide it is, in percent of the longest bar."""

    layer: str
    slug: str
    left: float
    width: float
    title: str


@dataclass(frozen=True)
class HopBars:
    """One hop: its bars of A and B, and by how much it changed."""

    topic: str
    where: str
    callback: str
    bars: tuple[tuple[str, str, tuple[Segment, ...]], ...]
    change: str
    kind: str


@dataclass(frozen=True)
class TableRow:
    """A row of the table of differences.

    `numbers` sort the columns A, B, shift and p; null where there is none. By `key` (its subject),
    `layer_name` and `nodes` (in which the time is, or where a hop ends) a row is selected.
    """

    kind: str
    name: str
    layer: str
    a: str
    b: str
    change: str
    interval: str
    relative: str
    p: str
    verdict: str
    direction: str
    sign: str
    numbers: tuple[float | None, float | None, float, float | None]
    relevant: bool
    key: str
    layer_name: str
    nodes: tuple[str, ...]


def hop_bars(split: Split, relevant_ns: float) -> list[HopBars]:
    """Return a pair of bars for each hop, on one scale; they begin where the hop before ends."""
    longest = max(split.a_ns, split.b_ns, 1.0)
    at = {"A": 0.0, "B": 0.0}
    found = []
    for hop in dict.fromkeys(place.hop for place in split.places):
        own = [place for place in split.places if place.hop == hop]
        own.sort(key=lambda place: theme.order(place.layer))
        stop = own[0].stop
        bars = []
        for letter in "AB":
            segments = []
            begin = at[letter]
            for place in own:
                ns = place.a_ns if letter == "A" else place.b_ns
                title = f"{letter}, {place.layer}: {format_ns(ns, micro=MICRO)}"
                slug = theme.paint(place.layer).slug
                left, width = 100 * at[letter] / longest, 100 * max(ns, 0.0) / longest
                segments.append(Segment(place.layer, slug, round(left, 3), round(width, 3), title))
                at[letter] += max(ns, 0.0)
            bars.append((letter, format_ns(at[letter] - begin), tuple(segments)))
        change = sum(place.difference_ns for place in own)
        kind = SAME if abs(change) < relevant_ns else SLOWER if change > 0 else FASTER
        callback = shorten(stop.symbol) if any(is_in_callback(p.layer) for p in own) else ""
        text = f"{SIGNS.get(kind, '')} {signed_ns(change)}".strip()
        where = f"{stop.publisher} → {stop.subscription}"
        found.append(HopBars(stop.topic, where, callback, tuple(bars), text, kind))
    return found


def table_rows(comparison: Comparison) -> list[TableRow]:
    """Return all rows: relevant ones first, then by what they add to the latency."""
    numbers = {id(block): at for at, block in enumerate(comparison.blocks)}
    return [
        _table_row(comparison, block, row, numbers[id(block)])
        for block, row in ordered_rows(comparison)
    ]


def _nodes(block: Block, row: Row) -> tuple[str, ...]:
    subject = block.subject
    if row.place:
        return (row.place,)
    if subject.kind == CALLBACK:
        return (subject.node,) if subject.node else ()
    return tuple(subject.where.split(" -> ")[-1:]) if subject.kind == HOP else ()


def _table_row(comparison: Comparison, block: Block, row: Row, number: int) -> TableRow:
    found = row.difference
    ns = found.shift.value if found is not None else row.mean_ns
    relevant = comparison.is_relevant(block, row)
    direction = SAME
    if row.verdict.found or row.verdict.one_sided:
        direction = SLOWER if ns > 0 else FASTER
    subject = block.subject
    name = subject.name if subject.kind == CHAIN else subject_text(subject)
    return TableRow(
        kind=subject.kind,
        name=name.replace(" -> ", " → "),
        layer=layer_text(row),
        a=format_ns(row.a.p50) if row.a else NOTHING,
        b=format_ns(row.b.p50) if row.b else NOTHING,
        change=signed_ns(ns),
        interval=bounds_ns(found.shift) if found is not None else NOTHING,
        relative=percent(row.relative),
        p=f"{'~' if found is not None and found.is_doubtful else ''}{format_p(row.p)}",
        verdict=row.verdict.value,
        direction=direction,
        sign=SIGNS.get(direction, ""),
        numbers=(
            row.a.p50 if row.a else None,
            row.b.p50 if row.b else None,
            ns,
            row.p,
        ),
        relevant=relevant,
        key=subject_key(block, number),
        layer_name=row.layer or "",
        nodes=_nodes(block, row),
    )


@dataclass(frozen=True)
class LossLine:
    """What a hop or service lost on both sides."""

    name: str
    text: str
    kind: str
    sign: str


def loss_lines(comparison: Comparison) -> list[LossLine]:
    """Return the losses that changed, then those of what lost anything on either side."""
    lines = []
    for block in comparison.blocks:
        loss = block.loss
        if loss is None or not (loss.a.lost or loss.b.lost):
            continue
        kinds = {Verdict.LOSES_MORE: SLOWER, Verdict.LOSES_LESS: FASTER}
        kind = kinds.get(loss.verdict, SAME)
        name = f"{block.subject.kind} {subject_text(block.subject)}".replace(" -> ", " → ")
        lines.append(LossLine(name, loss_text(loss), kind, SIGNS.get(kind, "")))
    return sorted(lines, key=lambda line: line.kind == SAME)
