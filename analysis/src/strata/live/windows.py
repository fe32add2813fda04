# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a recording is analyzed in while it goes on: windows of time, one after the other.

Each is a small trace of its own, which begins before the time that is counted and ends after it:

    |--- LOOK_BACK ---|--- counted ---|--- LOOK_AHEAD ---|
                   since            until             horizon

Something is counted in the window that has its end: a message with its take, a chain with its last
callback. Its begin has to be in the trace, so one that took longer than `LOOK_BACK_NS` is not
followed; and how it goes on has to be seen, so nothing is judged before `LOOK_AHEAD_NS` has passed.
Whether a message was lost is judged later than the rest, `LOST_AFTER_NS` after its window.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

LOOK_BACK_NS = 2_000_000_000
LOOK_AHEAD_NS = 500_000_000
LOST_AFTER_NS = 1_500_000_000


@dataclass(frozen=True)
class Window:
    """A trace, and the part of its time that is counted: after `since_ns`, up to `until_ns`.

    In ns since the epoch. `discarded` is how many events the recording lost to full buffers since
    it began. `unseen_ns` is the time from `since_ns` on of which events were overwritten before
    they were read. After the `last` one nothing follows.
    """

    trace: Path
    since_ns: int
    until_ns: int
    discarded: int
    unseen_ns: int = 0
    last: bool = False

    @property
    def span_ns(self) -> int:
        """How long the part is that is counted."""
        return self.until_ns - self.since_ns

    @property
    def losses_ns(self) -> tuple[int, int]:
        """The time within which messages were published that are now received, or lost."""
        until_ns = self.until_ns if self.last else self.until_ns - LOST_AFTER_NS
        return self.since_ns - LOST_AFTER_NS, until_ns


class Windows(Protocol):
    """Where windows come from."""

    ended: bool
    """Nothing more will come."""

    def take(self) -> Window | None:
        """Return the next window, null while there is none.

        Its trace stays until the next call. Raises LiveError, OSError.
        """
