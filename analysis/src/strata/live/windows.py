# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a recording is analyzed in while it goes on: windows of time, one after the other.

Each is a small trace of its own, which begins before the time that is counted and ends after it:

    |--- LOOK_BACK ---|--- counted ---|--- LOOK_AHEAD ---|
                   since            until             horizon

Something is counted in the window that has its end: a message with its take, a chain with its last
callback. Its begin has to be in the trace, so one that took longer than a window looks back is not
followed; and how it goes on has to be seen, so nothing is judged before `LOOK_AHEAD_NS` has passed.
Whether a message was lost is judged later than the rest, when it is nearly as old as a window looks
back.

The whole trace is analyzed for each window, so how far it looks back follows the rate of events.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

EVERY_NS = 1_400_000_000
LOOK_AHEAD_NS = 300_000_000
LEAST_BACK_NS, MOST_BACK_NS = 1_000_000_000, 5_000_000_000
_EVENTS_BACK = 60_000
"""How many events a window looks back at, within these bounds."""
_NEARLY_NS = 500_000_000


@dataclass(frozen=True)
class Window:
    """A trace, and the part of its time that is counted: after `since_ns`, up to `until_ns`.

    In ns since the epoch. What is before `begin_ns` is left out. `lost_ns` is the same of the
    publications of which is counted how many were lost. `discarded` is how many events the
    recording lost to full buffers since it began. `unseen_ns` is the time from `since_ns` on of
    which events were overwritten before they were read.
    """

    trace: Path
    since_ns: int
    until_ns: int
    lost_ns: tuple[int, int]
    begin_ns: int | None = None
    discarded: int = 0
    unseen_ns: int = 0

    @property
    def span_ns(self) -> int:
        """How long the part is that is counted."""
        return self.until_ns - self.since_ns


class Cuts:
    """Where one window ends, the next one begins; how far each looks back.

    `least_back_ns` is how far it does at any rate of events.
    """

    def __init__(self, least_back_ns: int = LEAST_BACK_NS) -> None:
        self._least_ns = least_back_ns
        self.back_ns = max(least_back_ns, MOST_BACK_NS)
        self.first_ns: int | None = None
        """When the first event was, null before it was seen."""
        self.since_ns: int | None = None
        self._lost_since_ns = 0

    def begin(self, first_ns: int) -> None:
        """Begin before the first event, unless there was a window before."""
        if self.since_ns is None:
            self.first_ns = first_ns
            self.since_ns = self._lost_since_ns = first_ns - 1

    @property
    def begin_ns(self) -> int:
        """Where the next window begins: before what it counts, of losses too."""
        assert self.since_ns is not None
        return min(self.since_ns - self.back_ns, self._lost_since_ns - _NEARLY_NS)

    def cut(
        self,
        trace: Path,
        until_ns: int,
        *,
        discarded: int = 0,
        unseen_ns: int = 0,
        last: bool = False,
    ) -> Window:
        """Return the next window. After the `last` one nothing follows, so all is judged."""
        assert self.since_ns is not None
        begin_ns = self.begin_ns
        after_ns = 0 if last else self.back_ns - _NEARLY_NS
        lost_until_ns = max(self._lost_since_ns, until_ns - after_ns)
        lost_ns = (self._lost_since_ns, lost_until_ns)
        window = Window(trace, self.since_ns, until_ns, lost_ns, begin_ns, discarded, unseen_ns)
        self.since_ns, self._lost_since_ns = until_ns, lost_until_ns
        return window

    def follow(self, events_per_s: float) -> None:
        """Choose how far the next window looks back, by the rate of events."""
        wanted_ns = int(_EVENTS_BACK * 1e9 / max(events_per_s, 1.0))
        self.back_ns = max(self._least_ns, min(MOST_BACK_NS, wanted_ns))


class Windows(Protocol):
    """Where windows come from."""

    cuts: Cuts

    @property
    def ended(self) -> bool:
        """Nothing more will come."""

    @property
    def wait_s(self) -> float:
        """How long it is until the next window."""

    def take(self) -> Window | None:
        """Return the next window, null while there is none.

        Its trace stays until the next call. Raises TraceError, LiveError, SessionError, OSError.
        """
