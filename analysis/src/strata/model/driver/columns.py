# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What drivers read as columns of what layers need of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, Ints
from strata.model.driver.losses import DriverLosses
from strata.model.driver.sources import Objects

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class DriverFrames:
    """One row a frame; `NONE` is null. `thread` is the one that read what completed it."""

    source: Ints
    number: Ints
    first_arrival_ns: Ints
    arrival_ns: Ints
    read_ns: Ints
    thread: Ints
    boundary_ns: Ints
    ready_ns: Ints
    packets: Ints
    missing: Ints
    dropped: Ints
    publications: Ints

    def __len__(self) -> int:
        return len(self.source)

    @property
    def sweep_ns(self) -> Ints:
        """From the arrival of the first packet to that of the last, or `NONE`."""
        return _between(self.first_arrival_ns, self.arrival_ns)

    @property
    def conversion_ns(self) -> Ints:
        """From when its driver had it whole until it was in a message, or `NONE`."""
        whole_ns = np.where(self.boundary_ns != NONE, self.boundary_ns, self.read_ns)
        return _between(whole_ns, self.ready_ns)


@dataclass(frozen=True)
class MadeOf:
    """What each publication was made of: a row of the frames, or `NONE`.

    `inferred`: by what its thread read last. `caused`: another message started the execution that
    it was made in; known of those that have a frame.
    """

    frame: Ints
    inferred: Flags
    caused: Flags


@dataclass(frozen=True)
class DriverSources:
    """One row a source; None and `NONE` are null.

    `place` says where its data come from, `reads` how often it was read, `bytes` how much.
    """

    process: Ints
    number: Ints
    kind: Objects
    name: Objects
    address: Objects
    place: Objects
    reads: Ints
    bytes: Ints

    def __len__(self) -> int:
        return len(self.number)


@dataclass(frozen=True)
class DriverReads:
    """Packets and buffers: the source, and how long each lay in its queue, or `NONE`."""

    source: Ints
    queue_ns: Ints


@dataclass(frozen=True)
class DriverColumns:
    """All that drivers did, and of which frame each publication was made."""

    sources: DriverSources
    reads: DriverReads
    frames: DriverFrames
    made_of: MadeOf
    losses: DriverLosses


def _between(begin_ns: Ints, end_ns: Ints) -> Ints:
    known = (begin_ns != NONE) & (end_ns != NONE) & (end_ns >= begin_ns)
    return np.where(known, end_ns - begin_ns, NONE)
