# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Slices that may overlap, on tracks on which they nest strictly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from strata.export.perfetto.packets import NO_DETAILS, Details, PacketWriter


@dataclass(frozen=True)
class Slice:
    """A slice [begin, end] in ns since the epoch, and those inside it, in order and apart."""

    begin_ns: int
    end_ns: int
    name: str
    category: str
    details: Details = NO_DETAILS
    inside: tuple[Slice, ...] = field(default=())


class Lanes:
    """Sibling tracks of one group: each slice goes on the first where it fits.

    With `nested`, a slice may lie in one that was begun before it, as a publish in its callback;
    otherwise each is beside the others, as messages in flight are.
    """

    def __init__(
        self, packets: PacketWriter, new_track: Callable[[int], int], *, nested: bool
    ) -> None:
        """Take what writes packets, and what makes the track of a number, from 0, when needed."""
        self._packets, self._new_track, self._nested = packets, new_track, nested
        self._tracks: list[int] = []
        self._ends: list[list[int]] = []

    def write(self, slices: Iterable[Slice]) -> None:
        """Write slices given in the order of their begin, of equal ones the longest first."""
        for one in slices:
            self._open(one)
        for track, ends in zip(self._tracks, self._ends, strict=True):
            while ends:
                self._packets.end(track, ends.pop())

    def _open(self, one: Slice) -> None:
        at = next((at for at in range(len(self._tracks)) if self._fits(at, one)), None)
        if at is None:
            at = len(self._tracks)
            self._tracks.append(self._new_track(at))
            self._ends.append([])
        self._begin(self._tracks[at], one)
        self._ends[at].append(one.end_ns)

    def _fits(self, at: int, one: Slice) -> bool:
        ends = self._ends[at]
        while ends and ends[-1] <= one.begin_ns:
            self._packets.end(self._tracks[at], ends.pop())
        return not ends or (self._nested and one.end_ns <= ends[-1])

    def _begin(self, track: int, one: Slice) -> None:
        self._packets.begin(track, one.begin_ns, one.name, one.category, one.details)
        for part in one.inside:
            self._begin(track, part)
            self._packets.end(track, part.end_ns)
