# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM as something to wait for, instead of an exception anywhere."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable

SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})
DONE_BUT_HANGING = signal.SIGALRM
"""What ends a process that was done (`end_in_time`)."""
_PR_SET_PDEATHSIG = 1
_LEAVE_S = 5


def hold_signals() -> None:
    """Keep the signals pending in this thread, and in the threads and processes it starts.

    Call it before anything starts a thread: a signal goes to any thread that does not hold it.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def wait_signal(seconds: float) -> int | None:
    """Wait for a held signal; its number, null when none came in time."""
    got = signal.sigtimedwait(SIGNALS, seconds)
    return got.si_signo if got else None


def when_signalled(act: Callable[[int], None]) -> None:
    """Call `act` with the number of the first held signal, on a thread of its own."""

    def wait() -> None:
        act(signal.sigwait(SIGNALS))

    threading.Thread(target=wait, name="signals", daemon=True).start()


def end_with(parent: int) -> None:
    """Have the kernel send SIGTERM to this process when its parent, of that id, ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


def end_in_time() -> None:
    """Have the kernel end this process, which has nothing more to do, if it does not end by itself.

    Fast DDS 2.14 may wait for itself forever where a participant ends while it is told of the end
    of another (DomainParticipant::set_listener, MyRTPSParticipantListener::onReaderDiscovery).
    """
    signal.signal(DONE_BUT_HANGING, signal.SIG_DFL)
    signal.alarm(_LEAVE_S)
