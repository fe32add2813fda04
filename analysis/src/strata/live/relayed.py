# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of a session that a relay daemon receives (LTTng-live)."""

from __future__ import annotations

import shutil
from pathlib import Path

from strata.live.followed import FollowedSession
from strata.live.windows import EVERY_NS, LOOK_AHEAD_NS, MOST_BACK_NS, Cuts, Window
from strata.read import open_trace

_POLL_S = 0.2


class RelayedWindows:
    """Cuts a followed session into windows, one whenever `every_ns` have passed.

    `directory` is its own, and has the trace of one window at a time. LTTng's clock counts
    nanoseconds.
    """

    wait_s = _POLL_S

    def __init__(self, session: FollowedSession, directory: Path, every_ns: int = EVERY_NS) -> None:
        self._session, self._directory, self._every_ns = session, directory, every_ns
        self._offset_ns: int | None = None
        self.cuts = Cuts()
        self.ended = False

    def take(self) -> Window | None:
        """Return what was received since the last window; see `Windows`."""
        session, cuts = self._session, self.cuts
        session.poll()
        horizon = session.horizon
        if horizon is None or not self._begin(horizon):
            self.ended = session.ended
            return None
        assert self._offset_ns is not None and cuts.since_ns is not None
        until_ns = horizon + self._offset_ns - (0 if session.ended else LOOK_AHEAD_NS)
        if until_ns - cuts.since_ns < self._every_ns and not session.ended:
            return None
        self.ended = session.ended
        back = cuts.begin_ns - self._offset_ns
        if until_ns <= cuts.since_ns or not self._write(back, horizon):
            return None
        cut = cuts.cut(self._directory, until_ns, discarded=session.discarded, last=session.ended)
        session.forget(min(until_ns - MOST_BACK_NS, cuts.begin_ns) - self._offset_ns)
        return cut

    def _begin(self, horizon: int) -> bool:
        """Begin just before the first event that was received; false while there is none."""
        if self._offset_ns is not None:
            return True
        begins = [one.packets[0].begin for one in self._session.streams.values() if one.packets]
        if not begins or not self._write(min(begins), horizon):
            return False
        self._offset_ns = next(iter(open_trace(self._directory).clock_offsets_ns.values()), 0)
        self.cuts.begin(min(begins) + self._offset_ns)
        return True

    def _write(self, since: int, until: int) -> bool:
        shutil.rmtree(self._directory, ignore_errors=True)
        return self._session.write(self._directory, since, until)
