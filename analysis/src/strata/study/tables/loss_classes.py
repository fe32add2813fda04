# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Classes of loss, and up to which level a loss stays in one: both by what the loss is at most.

Few messages cannot show that a loss is small: 0 lost of 110 is 2.7 % at most (95 %, one-sided,
Clopper and Pearson), which is moderate and not excellent.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from strata.stats.shares import CONFIDENCE, count_to_tell, share_at_least, share_at_most

CLASSES = ((0.1, "excellent"), (1.0, "good"), (5.0, "moderate"))
"""Classes of loss in percent: below the bound; `severe` above all. 5 % itself is moderate."""
SEVERE = "severe"
TOO_FEW = "too few messages"
"""In place of `severe` where the loss that was seen is below all bounds: it may be, or not."""


@dataclass(frozen=True)
class Loss:
    """What was lost of the messages of which either is known, and what the loss is at most."""

    lost: int
    of: int

    @property
    def percent(self) -> float | None:
        """The share that was lost, in percent; null where nothing was counted."""
        return 100.0 * self.lost / self.of if self.of else None

    @property
    def at_most(self) -> float | None:
        """The upper bound of the loss in percent; null where nothing was counted."""
        share = share_at_most(self.lost, self.of)
        return None if share is None else 100.0 * share

    @property
    def at_least(self) -> float | None:
        """The lower bound of the loss in percent; null where nothing was counted."""
        share = share_at_least(self.lost, self.of)
        return None if share is None else 100.0 * share

    def is_below(self, bound: float) -> bool | None:
        """Tell whether the loss is below a bound (%); null where the messages do not decide."""
        if self.at_most is None or self.at_least is None:
            return None
        return True if self.at_most < bound else False if self.at_least >= bound else None

    @property
    def class_name(self) -> str | None:
        """The class of what the loss is at most; null where nothing was counted."""
        seen, upper = loss_class(self.percent), loss_class(self.at_most)
        return TOO_FEW if upper == SEVERE and seen != SEVERE else upper

    @property
    def to_tell(self) -> int | None:
        """How many messages decide the class of the observed loss; null where these do."""
        if self.percent is None or self.class_name == loss_class(self.percent):
            return None
        bound = next(bound for bound, name in CLASSES if name == loss_class(self.percent))
        return count_to_tell(self.percent / 100.0, bound / 100.0)


def loss_class(percent: float | None) -> str | None:
    """Name the class of a loss in percent, of those that gscam_stress made; null for none."""
    if percent is None:
        return None
    for bound, name in CLASSES:
        if percent < bound or (percent == bound and name == CLASSES[-1][1]):
            return name
    return SEVERE


@dataclass(frozen=True)
class Boundary:
    """Up to which level a loss stays below a bound, of levels by growing data rate.

    A loss is taken not to fall while the data rate grows. So a level of which the messages do not
    decide is below the bound when one of a higher data rate is.

    `up_to`: the highest that is below, before `next_out` and before the first that its source did
    not reach; null for none. `next_out`: the first that is not below; null where none is.
    `undecided`: those before `next_out` of which the messages do not decide. `not_reached`: those
    before `next_out` whose source fell short of its rate. `seen_up_to`: it and all before it are
    below by the loss that was seen alone, and were reached.
    """

    up_to: str | None
    next_out: str | None
    undecided: tuple[str, ...]
    seen_up_to: str | None
    not_reached: tuple[str, ...] = ()


def boundary_of(losses: Mapping[str, Loss], bound: float, short: Collection[str] = ()) -> Boundary:
    """Find the boundary of a loss in percent; `short` are levels whose source fell short.

    A level that lost too much although its source fell short is not below the bound: at the rate
    that was asked for it would lose no less. One that lost little says nothing of that rate.
    """
    known = {level: loss for level, loss in losses.items() if loss.percent is not None}
    below = {level: loss.is_below(bound) for level, loss in known.items()}
    out = next((level for level, decided in below.items() if decided is False), None)
    before = list(itertools.takewhile(lambda level: level != out, losses))
    reached = list(itertools.takewhile(lambda level: level not in short, losses))
    counted = [level for level in reached if level in known]
    seen = itertools.takewhile(lambda level: (known[level].percent or 0.0) < bound, counted)
    return Boundary(
        up_to=_last([level for level in reached if level in before and below.get(level)]),
        next_out=out,
        undecided=tuple(
            level
            for level in before
            if level in known and below[level] is None and level not in short
        ),
        seen_up_to=_last(list(seen)),
        not_reached=tuple(level for level in before if level in short),
    )


def _last(levels: Sequence[str]) -> str | None:
    return levels[-1] if levels else None


def class_notes() -> tuple[str, ...]:
    """Say what the classes are, and how many messages it takes to tell each when none is lost."""
    counts = ", ".join(
        f"{count_to_tell(0.0, bound / 100.0):,} for {name}" for bound, name in CLASSES
    )
    return (
        "Classes: excellent below 0.1 %, good to 1, moderate to 5, severe above. A class is of "
        f"what the loss is at most ({100 * CONFIDENCE:g} %, one-sided, Clopper and Pearson; as if "
        "each message were lost independently).",
        f"Number of messages without any loss that is needed for a class: {counts}; with fewer, "
        f"the class is '{TOO_FEW}'.",
    )
