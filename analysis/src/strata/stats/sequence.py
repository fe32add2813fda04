# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is lost, by the numbers that the sender gave its messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class SequenceLosses:
    """What happened to the messages that a sender numbered.

    `expected` is how many it sent, `received` how many different ones came, `lost` the rest.
    `duplicates` came again. `reordered` came after one with a larger number, and are not lost (RFC
    4737, "Packet Reordering Metrics", section 3.3). `gaps` is the number of runs of lost numbers:
    few gaps for many losses are bursts.
    """

    expected: int
    received: int
    lost: int
    duplicates: int
    reordered: int
    gaps: int

    @property
    def share(self) -> float:
        """Lost of the expected, 0..1; 0 where nothing was expected."""
        return self.lost / self.expected if self.expected else 0.0


def losses(
    numbers: npt.NDArray[np.int64], first: int | None = None, last: int | None = None
) -> SequenceLosses:
    """Count losses by the numbers received, in the order in which they came.

    `first` and `last` are what the sender sent, both included. Without them the smallest and the
    largest number received stand for them: then what was lost at either end is not seen. Numbers
    that wrap around have to be unwrapped before. Raises ValueError for numbers outside of what was
    sent, and for no numbers without `first` and `last`.
    """
    came = np.asarray(numbers)
    if came.ndim != 1 or (len(came) and not np.issubdtype(came.dtype, np.integer)):
        raise ValueError(f"Cannot count numbers of type {came.dtype}: give one column of integers.")
    came = came.astype(np.int64, copy=False)
    if not len(came) and (first is None or last is None):
        raise ValueError(
            "Cannot count losses: no number was received. Give the numbers that were sent."
        )
    begin = int(came.min()) if first is None else first
    end = int(came.max()) if last is None else last
    strange = int(((came < begin) | (came > end)).sum())
    if strange or end < begin - 1:
        raise ValueError(
            f"Cannot count losses: {strange} numbers are outside of {begin}..{end}. Give the "
            "first and the last that were sent."
        )
    different, at = np.unique(came, return_index=True)
    # Of a number that came twice, only the first time is in or out of order.
    in_order = came[np.sort(at)]
    largest = np.maximum.accumulate(in_order)
    ends = np.concatenate([[begin - 1], different, [end + 1]])
    return SequenceLosses(
        expected=end - begin + 1,
        received=len(different),
        lost=end - begin + 1 - len(different),
        duplicates=len(came) - len(different),
        reordered=int((in_order < largest).sum()),
        gaps=int((np.diff(ends) > 1).sum()),
    )
