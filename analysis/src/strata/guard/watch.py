# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Holds conditions against window after window of what is recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from strata.comparison.gates.grammar import LOSS
from strata.guard.conditions import PERIOD, TIMER, Busy, Event, Skipped
from strata.guard.durations import slow
from strata.guard.events import occurred
from strata.guard.executors import Idle, idleness, overloaded
from strata.guard.load import When
from strata.guard.losses import HopLosses, Readers, lossy
from strata.guard.measured import WindowValues
from strata.guard.occurrence import Fault, Occurrence, worst
from strata.guard.periods import Published, Publishers, uneven
from strata.guard.timers import late, skipped
from strata.live.judged import Judged, Seen

__all__ = ["Occurrence", "Watch"]


class Watch:
    """Looks at windows in their order.

    What happened counts in one of them: that in which it ended (a message that was lost: that of
    `Window.lost_ns`; a publication that did not come: that in which it was due). Its memory is
    bounded by the number of publishers and hops.
    """

    def __init__(self, conditions: Sequence[When]) -> None:
        self._conditions = tuple(conditions)
        self._publishers, self._readers = Publishers(), Readers()
        self._subjects = {when.condition.subject for when in conditions}

    def look(self, seen: Seen, judged: Judged) -> list[Occurrence]:
        """Return which conditions hold in a window: one occurrence each and subject, the worst.

        In the order of the conditions.
        """
        published = self._publishers.look(seen) if PERIOD in self._subjects else []
        losses = self._readers.look(seen, judged) if LOSS in self._subjects else []
        window = _OneWindow(seen, published, losses)
        return [
            occurrence
            for when in self._conditions
            for occurrence in worst(when, window.faults(when))
        ]


@dataclass(frozen=True)
class _OneWindow:
    """What conditions are held against; what no condition asks for is not made."""

    seen: Seen
    published: list[Published]
    losses: list[HopLosses]

    @cached_property
    def _values(self) -> WindowValues:
        return WindowValues(self.seen)

    @cached_property
    def _idle(self) -> Idle:
        return idleness(self.seen.model)

    def faults(self, when: When) -> Iterator[Fault]:
        """Yield where a condition holds."""
        condition = when.condition
        if isinstance(condition, Event):
            return occurred(condition, self.seen)
        if isinstance(condition, Busy):
            return overloaded(when, condition, self.seen, self._idle)
        if isinstance(condition, Skipped):
            return skipped(when, condition, self.seen)
        if condition.subject == LOSS:
            return lossy(when, condition, self.losses)
        if condition.subject == PERIOD:
            return uneven(when, condition, self.published, self.seen.window)
        if condition.subject == TIMER:
            return late(when, condition, self.seen)
        return slow(when, condition, self._values)
