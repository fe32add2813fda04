# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a recording without a command waits for: a signal, or the end of its time."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

from strata.record.command import LONGEST_S, End, Watcher, held


class Attached:
    """Takes the place of a `Command`: nothing is started, so nothing has to be ended.

    `over` tells that there is nothing more to wait for, as nothing is recorded any more.
    """

    pid: int | None = None

    def __init__(self, over: Callable[[], bool]) -> None:
        self._over = over

    def wait(self, *watchers: Watcher, limit_s: float | None = None) -> End:
        """Wait for one of the held signals, or for `limit_s`; the watchers look meanwhile."""
        limit = None if limit_s is None else time.monotonic() + limit_s
        while True:
            for watcher in watchers:
                watcher.look()
            if self._over():
                return End(0, None)
            if limit is not None and time.monotonic() >= limit:
                return End(0, None, timed_out=True)
            left = LONGEST_S if limit is None else max(0.0, limit - time.monotonic())
            patience = min([left, *(one.patience_s for one in watchers)])
            arrived = signal.sigtimedwait(held(), patience)
            if arrived is not None and arrived.si_signo != signal.SIGCHLD:
                return End(0, None, forwarded=signal.Signals(arrived.si_signo).name)

    def kill(self) -> None:
        """Do nothing: the processes that are recorded are not ours."""
