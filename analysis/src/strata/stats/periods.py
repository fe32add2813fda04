# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Periods, what is left of them when the nominal one is taken off, and what a grid tells of loss.

The *period* is the time between two stamps that follow each other; n stamps have n - 1. *Jitter* is
how far a period is from the nominal one, without sign. They are two things: a period of 100 ms +-
3 ms is a jitter of 3 ms.

A period that is late makes the next one early: periods that follow each other are not independent,
and the spread of their mean says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.stats.samples import Floats, Ints, Sample, checked


@dataclass(frozen=True)
class GridLosses:
    """How many points of a grid have no stamp.

    `expected` points lie between the first and the last stamp, both included; `lost` is what
    remains of them when `received` is taken off. `gaps` is the number of places where at least one
    point was passed over, and `crowded` the number of stamps that fell to the point of the one
    before: then the stamps are off the grid, and the places of the losses are not told (their
    number is). `on_grid` is the share of the periods within `tolerance_ns` of the nominal one.
    """

    expected: int
    received: int
    lost: int
    gaps: int
    crowded: int
    on_grid: float
    tolerance_ns: int

    @property
    def share(self) -> float:
        """Lost of the expected, 0..1."""
        return self.lost / self.expected


def periods(stamps_ns: npt.NDArray[np.int64]) -> Ints:
    """Return the times in ns between stamps that follow each other: one less than there are stamps.

    Raises ValueError for floats, which cannot hold a time of day in ns.
    """
    return np.diff(_stamps(stamps_ns))


def jitter(periods: Sample, nominal: float) -> Floats:
    """Return how far each period is from the nominal one, in the unit of both; never negative."""
    return np.abs(checked(periods, at_least=0) - _positive(nominal))


def grid_losses(
    stamps_ns: npt.NDArray[np.int64], nominal_ns: int, *, tolerance: float = 0.01
) -> GridLosses:
    """Count what is lost of a source that stamps by a grid of `nominal_ns`: a lidar, a camera.

    Each stamp belongs to the point of the grid that is nearest, counted from the first stamp.
    `tolerance` is a fraction of `nominal_ns`. It cannot see what is lost before the first and after
    the last stamp, and is wrong by one for each half period that the source's clock drifts over all
    stamps. A receiver's stamps are not of the grid, but of its queue. Raises
    ValueError for fewer than two stamps, stamps that go back, and more of them than points.
    """
    stamps = _stamps(stamps_ns)
    _positive(nominal_ns)
    between = np.diff(stamps)
    if len(stamps) < 2 or (between < 0).any():
        raise ValueError(
            f"Cannot fit {len(stamps)} stamps to a grid: {int((between < 0).sum())} go "
            "backwards. Give at least two, in sending order."
        )
    points = np.rint((stamps - stamps[0]) / nominal_ns).astype(np.int64)
    steps = np.diff(points)
    expected = int(points[-1]) + 1
    if expected < len(stamps):
        raise ValueError(
            f"Cannot count losses: {len(stamps)} stamps fall on {expected} points of a grid of "
            f"{nominal_ns} ns. Give the source's real period."
        )
    within = round(tolerance * nominal_ns)
    return GridLosses(
        expected=expected,
        received=len(stamps),
        lost=expected - len(stamps),
        gaps=int((steps > 1).sum()),
        crowded=int((steps == 0).sum()),
        on_grid=float((np.abs(between - nominal_ns) <= within).mean()),
        tolerance_ns=within,
    )


def _stamps(stamps_ns: npt.NDArray[np.int64]) -> Ints:
    array = np.asarray(stamps_ns)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"Cannot use stamps of type {array.dtype}: give one column of int64 ns.")
    return array.astype(np.int64, copy=False)


def _positive(nominal: float) -> float:
    if not (np.isfinite(nominal) and nominal > 0):
        raise ValueError(f"Cannot use a nominal period of {nominal}. Give one above 0.")
    return nominal
