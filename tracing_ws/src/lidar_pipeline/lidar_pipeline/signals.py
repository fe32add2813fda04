# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM as something to wait for, instead of an exception anywhere."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})


def hold_signals() -> None:
    """Keep the signals pending in this thread and those it starts; call it before any starts."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def when_signalled(act: Callable[[], None]) -> None:
    """Call `act` at the first held signal, on a thread of its own."""

    def wait() -> None:
        signal.sigwait(SIGNALS)
        act()

    threading.Thread(target=wait, name="signals", daemon=True).start()
