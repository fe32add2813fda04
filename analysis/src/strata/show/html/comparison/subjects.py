# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the page can show of one chain, hop, service or callback: how its quantiles moved, and its
layers on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from strata.comparison.amounts import subject_text
from strata.comparison.answer import Answer
from strata.comparison.comparison import SEED, Block, Comparison
from strata.comparison.difference import Estimate, difference
from strata.comparison.places import Split, split
from strata.comparison.runs import CHAIN, HOP
from strata.comparison.sides import Side
from strata.show.html import theme
from strata.show.html.comparison.graph import subject_key
from strata.show.html.comparison.sections import HopBars, hop_bars
from strata.show.html.figures.shift import ShiftCurve, shift_curve
from strata.show.html.templates import with_micro
from strata.show.words.comparison import group_text, verdict_text
from strata.stats.groups import TYPICAL

QUANTILES = ("p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99")
_MOST_MESSAGES = 24_000
"""Intervals of all QUANTILES take seconds where messages depend on each other: so they are made for
the subjects that changed the most, while these have together no more messages than this. The
others have the quantiles of the comparison itself."""
_MOST_LAYERS = 40
"""Subjects whose layers are on the page."""


@dataclass(frozen=True)
class ShownSubject:
    """A subject of both sides. `curve` is null where it has too few values for an interval.

    `bars` are its layers, hop by hop, of the messages that `group` names; empty where its messages
    are not cut.
    """

    key: str
    name: str
    found: str
    curve: ShiftCurve | None
    bars: list[HopBars]
    group: str
    layers: list[str]

    @property
    def document(self) -> dict[str, object]:
        """What the page's script needs of it."""
        curve = None if self.curve is None else asdict(self.curve)
        return {"name": self.name, "found": self.found, "curve": curve}


def shown_subjects(comparison: Comparison, found: Answer) -> list[ShownSubject]:
    """Return all subjects of both sides: the answer's first, then those that changed the most."""
    left = _MOST_MESSAGES
    shown = []
    for place, (number, block) in enumerate(_ordered(comparison, found)):
        count = sum(len(run) for side in _sides(comparison) for run in side.values(block.subject))
        every = place == 0 or count <= left
        left -= count if every else 0
        cut = _split(comparison, found, block) if place < _MOST_LAYERS else None
        bars = hop_bars(cut, _least_ns(comparison, block)) if cut is not None else []
        subject = block.subject
        shown.append(
            ShownSubject(
                key=subject_key(block, number),
                name=f"{subject.kind} {subject_text(subject)}".replace(" -> ", " → "),
                found=with_micro(verdict_text(block.whole)),
                curve=_curve(comparison, block, every=every),
                bars=bars,
                group=_sentence(group_text(cut)) if cut is not None else "",
                layers=sorted({one.layer for one in cut.places}, key=theme.order) if cut else [],
            )
        )
    return shown


def _ordered(comparison: Comparison, found: Answer) -> Iterator[tuple[int, Block]]:
    change = found.median or found.tail
    blocks = list(enumerate(comparison.blocks))
    first = [(at, block) for at, block in blocks if change and block is change.block]
    relevant = [item for item in blocks if comparison.is_relevant(item[1], item[1].whole)]
    seen = set()
    for at, block in (*first, *relevant, *blocks):
        if at not in seen:
            seen.add(at)
            yield at, block


def _sides(comparison: Comparison) -> tuple[Side, Side]:
    return comparison.a, comparison.b


def _curve(comparison: Comparison, block: Block, *, every: bool) -> ShiftCurve | None:
    if block.whole.difference is None:
        return None
    moved = block.whole.difference.quantiles
    if every:
        values = [side.values(block.subject) for side in _sides(comparison)]
        found = difference(*values, seed=SEED, quantiles=QUANTILES)
        if found is not None:
            moved = {name: found.quantiles[name] for name in QUANTILES}
    return shift_curve(_ascending(moved))


def _ascending(moved: dict[str, Estimate]) -> dict[str, Estimate]:
    return dict(sorted(moved.items(), key=lambda item: float(item[0][1:])))


def _split(comparison: Comparison, found: Answer, block: Block) -> Split | None:
    change = found.median or found.tail
    if change is not None and change.block is block:
        return change.split
    if block.subject.kind not in (CHAIN, HOP):
        return None
    return split(comparison.a, comparison.b, block.subject, TYPICAL.key)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _least_ns(comparison: Comparison, block: Block) -> float:
    return comparison.least.bound_ns(block.whole.a.p50 if block.whole.a is not None else 0.0)
