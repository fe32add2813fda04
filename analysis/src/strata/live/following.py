# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A recording analyzed window by window while it goes on."""

from __future__ import annotations

from strata.errors import TraceError
from strata.live.judged import Judged, Seen, judge, see
from strata.live.known_names import KnownNames
from strata.live.tally import Tally
from strata.live.windows import Windows


class Follower:
    """Takes one window after the other; `tally` has what was counted until now.

    `names` are known from before, as of an init session.
    """

    def __init__(self, windows: Windows, names: KnownNames | None = None) -> None:
        self.windows, self.names = windows, names or KnownNames()
        self.tally = Tally()

    def step(self) -> tuple[Seen, Judged] | None:
        """Analyze the next window; null when there is none, or nothing of ROS 2 in it.

        One that cannot be read is counted. Raises LiveError, SessionError, OSError.
        """
        try:
            window = self.windows.take()
            seen = None if window is None else see(window, self.names)
        except TraceError:
            self.tally.unread += 1
            return None
        if seen is None:
            return None
        judged = judge(seen)
        self.tally.add(judged)
        self.windows.cuts.follow(self.tally.events_per_s)
        return seen, judged
