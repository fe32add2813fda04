# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One side of a comparison: one run, or several of the same thing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.comparison.losses import Loss
from strata.comparison.parts import Cut, Part, common_cut
from strata.comparison.runs import KINDS, Measured, Run, Subject

Ints = npt.NDArray[np.int64]

TRANSFER = "transfer"
"""Of a hop: from publish, or from the arrival of a driver's data, to callback_start."""


@dataclass(frozen=True)
class Side:
    """The runs of a side, in their order; `name` is what the side is called."""

    name: str
    runs: tuple[Run, ...]

    def subjects(self) -> list[Subject]:
        """Return what any run has: chains, hops, services, callbacks."""
        every = dict.fromkeys(subject for run in self.runs for subject in run.measured)
        return sorted(every, key=lambda subject: KINDS.index(subject.kind))

    def measured(self, subject: Subject) -> list[Measured]:
        """Return a subject in the runs that have it."""
        return [run.measured[subject] for run in self.runs if subject in run.measured]

    def values(self, subject: Subject, layer: Cut | str | None = None) -> list[Ints]:
        """Return durations in ns, an array for each run that has any.

        Of the whole latency, of TRANSFER, or of a layer.
        """
        runs = [_values(one, layer) for one in self.measured(subject)]
        return [values for values in runs if len(values)]

    def losses(self, subject: Subject) -> list[Loss]:
        """Return what was lost, for each run that tells."""
        return [
            Loss(one.published, one.lost, one.unknown)
            for one in self.measured(subject)
            if one.published is not None and one.lost is not None
        ]

    def unseen(self, subject: Subject) -> tuple[int, int]:
        """Return of how many messages the trace does not show what became of them; and of all."""
        own = self.measured(subject)
        unseen = sum(one.unseen for one in own)
        return unseen, unseen + sum(len(one.latency) for one in own)

    def parts(self, subject: Subject) -> tuple[Counter[Part], int]:
        """Return how many messages have each part, and of how many."""
        counts: Counter[Part] = Counter()
        total = 0
        for one in self.measured(subject):
            counts.update(one.counts())
            total += len(one.latency)
        return counts, total


def _values(measured: Measured, layer: Cut | str | None) -> Ints:
    if layer is None:
        return measured.latency
    if isinstance(layer, Cut):
        return measured.of(layer.parts)
    return np.empty(0, np.int64) if measured.transfer is None else measured.transfer


def cut_of(a: Side, b: Side, subject: Subject) -> list[Cut]:
    """Return the layers of a subject that both sides can be cut into."""
    (first, of_a), (second, of_b) = a.parts(subject), b.parts(subject)
    return common_cut(first, second, (of_a, of_b))
