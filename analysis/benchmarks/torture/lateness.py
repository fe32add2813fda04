# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the load of the machine does to anything that is due."""

from __future__ import annotations

import threading
import time

_NAP_S = 0.02


class Lateness:
    """Sleeps shortly again and again; `longest_s` is by how much a sleep was late at most."""

    def __init__(self) -> None:
        self.longest_s = 0.0
        self._ended = False
        self._thread = threading.Thread(target=self._sleep, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End it."""
        self._ended = True
        self._thread.join()

    def _sleep(self) -> None:
        while not self._ended:
            before = time.monotonic()
            time.sleep(_NAP_S)
            self.longest_s = max(self.longest_s, time.monotonic() - before - _NAP_S)
