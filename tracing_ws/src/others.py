# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How much of the machine other programs take: a figure is worth little while they take much."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

MOST = 0.08
_LOOK_S = 0.3
_PATIENCE_S = 6.0


class Others:
    """Watches all CPUs from its making on."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._busy_s = busy_s()
        self._own_s = own_s()

    def sentence(self) -> str:
        """Say what share of the CPUs others took: figures beside load are marked as such."""
        return f"Other programs took {self.share():.0%} of the CPUs meanwhile."

    def share(self) -> float:
        """Return the share of the CPUs' time that was neither idle nor spent by our children.

        A virtual machine's stolen time counts; so does that of LTTng's daemons, which is small.
        """
        taken = busy_s() - self._busy_s - (own_s() - self._own_s)
        return max(taken, 0.0) / (time.monotonic() - self._begin) / (os.cpu_count() or 1)


def busy_s() -> float:
    """Return the seconds that all CPUs together were not idle."""
    first = Path("/proc/stat").read_text().splitlines()[0]
    user, nice, system, _, _, irq, softirq, steal = map(int, first.split()[1:9])
    ticks = user + nice + system + irq + softirq + steal
    return ticks / os.sysconf("SC_CLK_TCK")


def own_s() -> float:
    """Return the seconds of CPU time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def wait_for_quiet() -> None:
    """Wait until others take little, but not for ever."""
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        others = Others()
        time.sleep(_LOOK_S)
        if others.share() <= MOST:
            return
