# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""All comparisons of two sides, with p corrected for how many they are, and verdicts in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from strata.comparison.difference import Difference, difference
from strata.comparison.losses import Loss, LossDifference, loss_difference, whole
from strata.comparison.parts import Cut, Part
from strata.comparison.runs import HOP, KINDS, Subject
from strata.comparison.sides import TRANSFER, Side, cut_of
from strata.errors import ComparisonError
from strata.stats.intervals import fraction_of
from strata.stats.relevance import DEFAULT, Least
from strata.stats.shift import holm

if TYPE_CHECKING:
    import pandas

Ints = npt.NDArray[np.int64]

SIGNIFICANT = 0.05
"""Corrected p below which a difference is said to be found."""
SEED = 1
_NAMED = 3


class Verdict(Enum):
    """What a comparison found. Never "the same": a difference may be too small to be found."""

    FASTER = "faster"
    SLOWER = "slower"
    LOSES_LESS = "loses less"
    LOSES_MORE = "loses more"
    NONE_FOUND = "no difference found"
    ONLY_A = "only in A"
    ONLY_B = "only in B"
    TOO_FEW = "too few values"

    @property
    def found(self) -> bool:
        """Tell whether it says that the sides differ."""
        return self in (Verdict.FASTER, Verdict.SLOWER, Verdict.LOSES_LESS, Verdict.LOSES_MORE)

    @property
    def one_sided(self) -> bool:
        """Tell whether only one side has it."""
        return self in (Verdict.ONLY_A, Verdict.ONLY_B)


@dataclass(frozen=True)
class Figures:
    """One side of a comparison, over all its runs; durations in ns.

    `sum_ns` is whole: over the sum of its messages (`of`, those without the layer included) it is
    the part that a layer has of the mean latency. `layers` names what a merged layer is made of.
    `quantiles` are those that the user chose, by name.
    """

    runs: int
    count: int
    of: int
    sum_ns: int
    p50: float
    p99: float
    layers: tuple[str, ...] = ()
    quantiles: Mapping[str, float] = field(default_factory=dict)

    def quantile(self, name: str) -> float:
        """Return one that the user chose, p50 or p99."""
        usual = {"p50": self.p50, "p99": self.p99}
        return self.quantiles[name] if name in self.quantiles else usual[name]

    @property
    def part_of_mean(self) -> float:
        """Of the mean latency of the subject."""
        return self.sum_ns / self.of


@dataclass(frozen=True)
class Row:
    """A latency, or one layer of it (`layer`; null for the whole), on both sides.

    A side is null where it does not have it. `p` is corrected (Holm) and null without a test.
    """

    layer: str | None
    place: str
    a: Figures | None
    b: Figures | None
    difference: Difference | None
    p: float | None = None
    verdict: Verdict = Verdict.NONE_FOUND

    @property
    def mean_ns(self) -> float:
        """What it adds to the mean latency in B less what it adds in A, absence being 0."""
        return sum(
            sign * figures.part_of_mean
            for sign, figures in ((1, self.b), (-1, self.a))
            if figures is not None
        )

    @property
    def relative(self) -> float | None:
        """The shift over the median of A; null without either."""
        if self.difference is None or self.a is None or not self.a.p50:
            return None
        return self.difference.shift.value / self.a.p50


@dataclass(frozen=True)
class LossRow:
    """Losses of a subject on both sides."""

    a: Loss
    b: Loss
    difference: LossDifference | None
    p: float | None = None
    verdict: Verdict = Verdict.NONE_FOUND


@dataclass(frozen=True)
class Block:
    """A subject that both sides have: its whole latency, its layers, and its losses.

    `transfer` is of hops. The sums of the layers are the sum of the whole, on each side.
    """

    subject: Subject
    whole: Row
    transfer: Row | None
    layers: tuple[Row, ...]
    loss: LossRow | None

    @property
    def rows(self) -> tuple[Row, ...]:
        """The whole, the transfer and the layers."""
        return (self.whole, *((self.transfer,) if self.transfer else ()), *self.layers)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Everything that was compared. `only_a` and `only_b` are what only one side has.

    `tests` is how many p values were corrected together. `quantiles` are the names of those that
    the user chose, and `least` is the least relevant difference.
    """

    a: Side
    b: Side
    blocks: tuple[Block, ...]
    only_a: tuple[Subject, ...]
    only_b: tuple[Subject, ...]
    tests: int
    quantiles: tuple[str, ...] = ()
    least: Least = DEFAULT

    def __repr__(self) -> str:
        """Return the answer in sentences."""
        return "\n".join(self.sentences())

    def _repr_html_(self) -> str:
        """Return the answer and the relevant rows for a notebook."""
        from strata.comparison.frame import relevant_html

        first, *others = (escape(text) for text in self.sentences())
        return f"<p><strong>{first}</strong> {' '.join(others)}</p>{relevant_html(self)}"

    def sentences(self) -> list[str]:
        """Return the answer: what changed the most and where, then what else there is to say."""
        from strata.comparison import answer, sentences

        found = answer.answer(self)
        texts = (
            sentences.headline(self, found),
            *sentences.further(self, found),
            sentences.small_text(self, found),
        )
        return [text for text in texts if text]

    def rows(self) -> pandas.DataFrame:
        """Return what was compared as a data frame, one row per latency and layer.

        `kind`, `name` and `where` say of what; `layer` is null for the whole latency, and
        "transfer" for a hop up to callback_start. Times are ns: `a_p50_ns`, `b_p99_ns` ... of the
        sides, `shift_ns` the median of all differences B - A with its interval at 95 %
        (`shift_low_ns`, `shift_high_ns`), `shift_p50_ns` (of whole latencies) and `shift_p99_ns`
        the differences of quantiles, `difference_mean_ns` what it adds to the mean latency. `p` is
        corrected over all rows; null where nothing was tested. `relevant`: it differs by as much as
        matters.
        """
        from strata.comparison.frame import rows_frame

        return rows_frame(self)

    def is_relevant(self, block: Block, row: Row) -> bool:
        """Tell whether a row differs by as much as matters in the latency of its block.

        The whole and the transfer by their shift, a layer by what it adds to the mean latency of
        all messages. What only one side has is relevant by the same rule.
        """
        whole = block.whole.a
        if whole is None or not (row.verdict.found or row.verdict.one_sided):
            return False
        is_layer = row is not block.whole and row is not block.transfer
        by_shift = row.difference is not None and not is_layer
        ns = row.difference.shift.value if row.difference and by_shift else row.mean_ns
        return self.least.allows(ns, whole.p50)

    @property
    def runs_are_the_unit(self) -> bool:
        """Tell whether the differences between runs are in the intervals."""
        return len(self.a.runs) > 1 or len(self.b.runs) > 1


def compare_sides(
    a: Side,
    b: Side,
    *,
    wanted: Callable[[Subject], bool] = lambda subject: not subject.internal,
    quantiles: Sequence[str] = (),
    least: Least = DEFAULT,
    progress: Callable[[], None] = lambda: None,
) -> Comparison:
    """Compare everything that both sides have and that is `wanted`; the largest shifts first.

    `quantiles` are the names (`p99.9`) of those that the user chose: their values and differences
    are in the result, too. `least` is the least relevant difference. Where the sides have nothing
    in common there are no blocks (see `require_common`).
    """
    of_a, of_b = (
        [subject for subject in side.subjects() if wanted(subject) and side.values(subject)]
        for side in (a, b)
    )
    in_a, in_b = set(of_a), set(of_b)
    both = [subject for subject in of_a if subject in in_b]
    blocks = []
    for subject in both:
        blocks.append(_block(a, b, subject, quantiles))
        progress()
    blocks, tests = _judged(blocks)
    blocks.sort(key=lambda block: (KINDS.index(block.subject.kind), -_size(block.whole)))
    return Comparison(
        a,
        b,
        tuple(blocks),
        tuple(subject for subject in of_a if subject not in in_b),
        tuple(subject for subject in of_b if subject not in in_a),
        tests,
        tuple(quantiles),
        least,
    )


def require_common(comparison: Comparison) -> None:
    """Raise ComparisonError, which names what each side has, where nothing was compared."""
    if comparison.blocks:
        return
    a, b = comparison.a, comparison.b
    raise ComparisonError(
        f"Cannot compare {a.name} with {b.name}: they have no chain, hop, service or callback in "
        f"common. A has {_named(comparison.only_a)}; B has {_named(comparison.only_b)}. Give two "
        "runs of the same nodes and topics."
    )


def _named(subjects: Sequence[Subject]) -> str:
    """Name what a side has of the first kind that it has, the first few."""
    if not subjects:
        return "none"
    kind = subjects[0].kind
    alike = [subject for subject in subjects if subject.kind == kind]
    shown = ", ".join(subject.name for subject in alike[:_NAMED])
    more = f" and {len(alike) - _NAMED} more" if len(alike) > _NAMED else ""
    return f"the {kind}{'s' if len(alike) > 1 else ''} {shown}{more}"


def _block(a: Side, b: Side, subject: Subject, quantiles: Sequence[str]) -> Block:
    row = partial(_row, a, b, subject, quantiles)
    layers = [row(cut) for cut in cut_of(a, b, subject)]
    layers.sort(key=lambda row: -abs(row.mean_ns))
    return Block(
        subject,
        row(None),
        row(TRANSFER) if subject.kind == HOP else None,
        tuple(layers),
        _loss(a, b, subject),
    )


def _row(
    a: Side, b: Side, subject: Subject, quantiles: Sequence[str], layer: Cut | str | None
) -> Row:
    values = [side.values(subject, layer) for side in (a, b)]
    parts = layer.parts if isinstance(layer, Cut) else frozenset()
    figures = [
        _figures(own, side, subject, parts, quantiles)
        for own, side in zip(values, (a, b), strict=True)
    ]
    name = layer.layer if isinstance(layer, Cut) else layer
    place = layer.place if isinstance(layer, Cut) else ""
    # Of a whole latency the medians' own difference is in the answer.
    asked = (*quantiles, *(("p50",) if layer is None else ()))
    found = difference(*values, seed=SEED, quantiles=asked) if all(values) else None
    return Row(name, place, figures[0], figures[1], found)


def _figures(
    values: Sequence[Ints],
    side: Side,
    subject: Subject,
    parts: frozenset[Part],
    quantiles: Sequence[str],
) -> Figures | None:
    if not values:
        return None
    every = np.concatenate(values)
    counts, total = side.parts(subject)
    own = sorted(part for part in parts if part in counts)
    p50, p99 = np.quantile(every, [0.5, 0.99])
    names = tuple(dict.fromkeys(part.layer for part in own))
    of = total if parts else len(every)
    chosen = {name: float(np.quantile(every, fraction_of(name) or 0.0)) for name in quantiles}
    total_ns = int(every.sum())
    return Figures(len(values), len(every), of, total_ns, float(p50), float(p99), names, chosen)


def _loss(a: Side, b: Side, subject: Subject) -> LossRow | None:
    of_a, of_b = a.losses(subject), b.losses(subject)
    if not of_a or not of_b:
        return None
    return LossRow(whole(of_a), whole(of_b), loss_difference(of_a, of_b))


def _judged(blocks: Sequence[Block]) -> tuple[list[Block], int]:
    """Correct all p together, and give every row its verdict."""
    p = [found.p for block in blocks for found in _tested(block)]
    corrected: Iterator[float] = iter([float(value) for value in holm(np.array(p))] if p else [])
    return [_with_p(block, corrected) for block in blocks], len(p)


def _tested(block: Block) -> Iterator[Difference | LossDifference]:
    found = [row.difference for row in block.rows]
    yield from (one for one in found if one is not None)
    if block.loss is not None and block.loss.difference is not None:
        yield block.loss.difference


def _with_p(block: Block, corrected: Iterator[float]) -> Block:
    """Take the corrected p in the order of `_tested`."""
    first, *rest = [_judge(row, corrected) for row in block.rows]
    transfer = rest.pop(0) if block.transfer else None
    loss = block.loss
    if loss is not None and loss.difference is not None:
        p = next(corrected)
        differs = p < SIGNIFICANT and loss.difference.share.without_zero
        more = loss.difference.share.value > 0
        verdict = Verdict.LOSES_MORE if more else Verdict.LOSES_LESS
        loss = replace(loss, p=p, verdict=verdict if differs else Verdict.NONE_FOUND)
    return replace(block, whole=first, transfer=transfer, layers=tuple(rest), loss=loss)


def _judge(row: Row, corrected: Iterator[float]) -> Row:
    if row.difference is None:
        missing = Verdict.ONLY_B if row.a is None else Verdict.ONLY_A
        both = row.a is not None and row.b is not None
        return replace(row, verdict=Verdict.TOO_FEW if both else missing)
    p = next(corrected)
    if p >= SIGNIFICANT or not row.difference.shift.without_zero:
        return replace(row, p=p)
    slower = row.difference.shift.value > 0
    return replace(row, p=p, verdict=Verdict.SLOWER if slower else Verdict.FASTER)


def _size(row: Row) -> float:
    return abs(row.difference.shift.value) if row.difference else -1.0
