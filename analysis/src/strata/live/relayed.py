# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of a session that a relay daemon receives (LTTng-live)."""

from __future__ import annotations

import shutil
from pathlib import Path

from strata.live.followed import FollowedSession
from strata.live.windows import LOOK_AHEAD_NS, LOOK_BACK_NS, Window
from strata.read import open_trace


class RelayedWindows:
    """Cuts a followed session into windows, one whenever `every_ns` have passed.

    `directory` is its own, and has the trace of one window at a time. LTTng's clock counts
    nanoseconds.
    """

    def __init__(self, session: FollowedSession, directory: Path, every_ns: int) -> None:
        self._session, self._directory, self._every_ns = session, directory, every_ns
        self._since: int | None = None
        self._offset_ns: int | None = None
        self.ended = False

    def take(self) -> Window | None:
        """Return what was received since the last window; see `Windows`."""
        session = self._session
        session.poll()
        horizon = session.horizon
        if horizon is None:
            self.ended = session.ended
            return None
        until = horizon if session.ended else horizon - LOOK_AHEAD_NS
        since = self._begin() if self._since is None else self._since
        if until - since < self._every_ns and not session.ended:
            return None
        self.ended = session.ended
        window = self._cut(since, until, horizon) if until > since else None
        self._since = max(since, until)
        session.forget(self._since - LOOK_BACK_NS)
        return window

    def _begin(self) -> int:
        """Just before the first event that was received."""
        begins = [one.packets[0].begin for one in self._session.streams.values() if one.packets]
        return min(begins, default=self._session.horizon or 0) - 1

    def _cut(self, since: int, until: int, horizon: int) -> Window | None:
        shutil.rmtree(self._directory, ignore_errors=True)
        if not self._session.write(self._directory, since - LOOK_BACK_NS, horizon):
            return None
        if self._offset_ns is None:
            offsets = open_trace(self._directory).clock_offsets_ns.values()
            self._offset_ns = next(iter(offsets), 0)
        offset = self._offset_ns
        return Window(self._directory, since + offset, until + offset, self._session.discarded)
