# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A node's own stamps, as ground truth that is independent of any tracer."""

from __future__ import annotations

import csv
import os
import threading
from pathlib import Path

COLUMNS = ("node", "pid", "tid", "event", "seq", "t_mono_ns", "src_mono_ns")


class TruthLog:
    """Rows in memory until `write`: callbacks do no I/O.

    Events: `cb_start` (first thing in a callback), `publish` (just before publishing) and `cb_end`
    (last thing). `t_mono_ns` is CLOCK_MONOTONIC then, `src_mono_ns` that of the source's publish.
    """

    def __init__(self, node: str, directory: str) -> None:
        """Log for a node; an empty directory means that nothing is written."""
        self._node = node
        self._directory = directory
        self._rows: list[tuple[int, str, int, int, int]] = []

    def add(self, event: str, seq: int, t_mono_ns: int, src_mono_ns: int) -> None:
        """Note a stamp that was taken just now."""
        # A list's append is atomic: callbacks of several threads need no lock.
        self._rows.append((threading.get_native_id(), event, seq, t_mono_ns, src_mono_ns))

    def write(self) -> None:
        """Write `<directory>/<node>.csv`."""
        if not self._directory:
            return
        place = Path(self._directory)
        place.mkdir(parents=True, exist_ok=True)
        with (place / f"{self._node}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            for tid, event, seq, t_mono_ns, src_mono_ns in self._rows:
                writer.writerow((self._node, os.getpid(), tid, event, seq, t_mono_ns, src_mono_ns))
