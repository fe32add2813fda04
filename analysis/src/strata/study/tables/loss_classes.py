# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Classes of loss, and up to which level a loss stays in one: both by what the loss is at most.

Few messages cannot show that a loss is small: 0 lost of 110 is 2.7 % at most (95 %, one-sided,
Clopper and Pearson), which is moderate and not excellent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from strata.stats.shares import CONFIDENCE, count_to_tell, share_at_most

CLASSES = ((0.1, "excellent"), (1.0, "good"), (5.0, "moderate"))
"""Classes of loss in percent: below the bound; `severe` above all. 5 % itself is moderate."""
SEVERE = "severe"
TOO_FEW = "too few messages"
"""In place of `severe` where the loss that was seen is below all bounds: it may be, or not."""
NOWHERE = "nowhere"


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
    def class_name(self) -> str | None:
        """The class of what the loss is at most; null where nothing was counted."""
        seen, upper = loss_class(self.percent), loss_class(self.at_most)
        return TOO_FEW if upper == SEVERE and seen != SEVERE else upper

    @property
    def to_tell(self) -> int | None:
        """How many messages tell the class of the loss that was seen, if it stays; null if told."""
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


def up_to(losses: Mapping[str, Loss], bound: float) -> str:
    """Return the last level before which, and at which, the loss is known to be below `bound` (%).

    `NOWHERE` where the first level lost more already, `TOO_FEW` where its messages do not tell.
    """
    last = None
    for level, loss in losses.items():
        if loss.percent is None or loss.at_most is None or loss.at_most >= bound:
            is_less = loss.percent is None or loss.percent < bound
            return last or (TOO_FEW if is_less else NOWHERE)
        last = level
    return last or NOWHERE


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
        "the class is '{TOO_FEW}'.",
    )
