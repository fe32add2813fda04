# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a comparison: the change that matters the most, and where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strata.comparison.comparison import SIGNIFICANT, Block, Comparison, Row
from strata.comparison.difference import Estimate
from strata.comparison.places import Split, split
from strata.comparison.runs import KINDS
from strata.stats.groups import TAIL, TYPICAL
from strata.stats.shift import holm

_Z = 1.959964
"""Half the width of an interval at 95 % of a normal distribution, in standard deviations."""


@dataclass(frozen=True)
class Change:
    """How a latency changed: of which subject, at which quantile, by how much in ns.

    `at` is "p50" or "p99", or "shift" where the medians themselves are not known to differ.
    `base_ns` is that quantile of A, and `p` is corrected over all subjects. `split` says where the
    change is; null where it is not known, or where the messages of that group do not show it.
    """

    block: Block
    at: str
    estimate: Estimate
    base_ns: float
    p: float
    split: Split | None

    @property
    def slower(self) -> bool:
        """Tell whether B takes longer."""
        return self.estimate.value > 0


@dataclass(frozen=True)
class Answer:
    """What matters of a comparison.

    `median` is the largest relevant change of a typical latency, `tail` that of a p99. `slower` and
    `faster` are how many further subjects of its kind have a relevant change of the median.
    `losses` are the blocks whose lost share changed, the largest change first. `small` counts the
    differences that were found and are not relevant. `open` are subjects of the first kind that may
    differ by more than is relevant, as far as their values tell.
    """

    median: Change | None
    tail: Change | None
    slower: int
    faster: int
    losses: tuple[Block, ...]
    small: int
    open: tuple[Block, ...]

    @property
    def differs(self) -> bool:
        """Tell whether anything relevant was found."""
        return bool(self.median or self.tail or self.losses)


def answer(comparison: Comparison) -> Answer:
    """Return what matters of a comparison."""
    of_kinds = [[b for b in comparison.blocks if b.subject.kind == kind] for kind in KINDS]
    medians: list[Change] = []
    tails: list[Change] = []
    for blocks in of_kinds:
        # The slowest are those of what the typical ones are, where these changed.
        tails = tails or ([] if medians else _tails(comparison, blocks))
        medians = medians or _medians(comparison, blocks)
    losses = [block for block in comparison.blocks if block.loss and block.loss.verdict.found]
    losses.sort(key=lambda block: -abs(_share(block)))
    rows = [(block, row) for block in comparison.blocks for row in block.rows]
    small = sum(row.verdict.found and not comparison.is_relevant(block, row) for block, row in rows)
    first = next((blocks for blocks in of_kinds if blocks), [])
    return Answer(
        medians[0] if medians else None,
        tails[0] if tails else None,
        sum(change.slower for change in medians[1:]),
        sum(not change.slower for change in medians[1:]),
        tuple(losses),
        small,
        tuple(block for block in first if _may_differ(comparison, block)),
    )


def ordered_rows(comparison: Comparison) -> list[tuple[Block, Row]]:
    """Return every latency and layer with its block: relevant ones first, then by their size.

    The size is the shift of a whole latency and of a transfer, and what a layer adds to the mean.
    """
    rows = [(block, row) for block in comparison.blocks for row in block.rows]
    return sorted(
        rows, key=lambda pair: (not comparison.is_relevant(*pair), -abs(_effect_ns(*pair)))
    )


def _effect_ns(block: Block, row: Row) -> float:
    is_whole = row is block.whole or row is block.transfer
    return row.difference.shift.value if is_whole and row.difference else row.mean_ns


def _medians(comparison: Comparison, blocks: Sequence[Block]) -> list[Change]:
    """Return the relevant changes of typical latencies, the largest first."""
    found = []
    for block in blocks:
        row = block.whole
        if row.difference is None or row.a is None or row.p is None:
            continue
        if not row.verdict.found or not comparison.is_relevant(block, row):
            continue
        shift, median = row.difference.shift, row.difference.quantiles["p50"]
        agree = median.without_zero and median.value * shift.value > 0
        at, estimate = ("p50", median) if agree else ("shift", shift)
        where = _split(comparison, block, TYPICAL.key, estimate)
        found.append(Change(block, at, estimate, row.a.p50, row.p, where))
    return sorted(found, key=lambda change: -abs(change.estimate.value))


def _tails(comparison: Comparison, blocks: Sequence[Block]) -> list[Change]:
    """Return the relevant changes of p99 that are more than chance, the largest first.

    p is that of a normal distribution whose standard deviation the bootstrap's interval has on the
    side of 0, corrected over the subjects.
    """
    from scipy.stats import norm

    tested = []
    for block in blocks:
        row = block.whole
        estimate = row.difference.quantiles["p99"] if row.difference else None
        if estimate is None or estimate.low is None or estimate.high is None or row.a is None:
            continue
        towards = estimate.low if estimate.value > 0 else estimate.high
        deviation = max(abs(estimate.value - towards) / _Z, 1.0)
        tested.append((block, estimate, row.a.p99, abs(estimate.value) / deviation))
    p = [2 * float(norm.sf(z)) for *_, z in tested]
    corrected = holm(np.array(p)).tolist() if p else []
    found = [
        Change(block, "p99", estimate, base, own, _split(comparison, block, TAIL.key, estimate))
        for (block, estimate, base, _), own in zip(tested, corrected, strict=True)
        if own < SIGNIFICANT
        and estimate.without_zero
        and comparison.least.allows(estimate.value, base)
    ]
    return sorted(found, key=lambda change: -abs(change.estimate.value))


def _split(comparison: Comparison, block: Block, group: str, estimate: Estimate) -> Split | None:
    found = split(comparison.a, comparison.b, block.subject, group)
    # Where the group does not show the change, its layers do not say where it is.
    if found is None or not 0.5 <= found.difference_ns / estimate.value <= 2.0:
        return None
    return found


def _may_differ(comparison: Comparison, block: Block) -> bool:
    row = block.whole
    if row.a is None or row.difference is None:
        return True
    furthest = row.difference.shift.furthest
    return furthest is None or comparison.least.allows(furthest, row.a.p50)


def _share(block: Block) -> float:
    loss = block.loss
    return loss.difference.share.value if loss is not None and loss.difference else 0.0
