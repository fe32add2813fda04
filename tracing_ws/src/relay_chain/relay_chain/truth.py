# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A node's own stamps, as ground truth that is independent of any tracer."""

from __future__ import annotations

import csv
import os
import threading
from pathlib import Path

COLUMNS = ("node", "pid", "tid", "event", "seq", "t_mono_ns", "src_mono_ns")


def truth_file(
    directory: str, node: str, *, force: bool = False, suffix: str = ".csv", what: str = "stamps"
) -> Path:
    """Give the file of a node's stamps, or of `what` else it writes; the directory need not exist.

    Raises FileExistsError when it is there already and `force` is not set.
    """
    path = Path(directory) / f"{node}{suffix}"
    if path.exists() and not force:
        raise FileExistsError(
            f"Cannot write {what} to {path}: it is there already. "
            "Name another directory, or allow replacing it (--force; parameter force)."
        )
    return path


class TruthLog:
    """Rows in memory until `write`: callbacks do no I/O.

    Events: `cb_start` (first thing in a callback), `publish` (just before publishing) and `cb_end`
    (last thing). `t_mono_ns` is CLOCK_MONOTONIC then, `src_mono_ns` that of the source's publish.
    """

    def __init__(self, node: str, path: Path | None) -> None:
        """Log for a node; without a path nothing is kept or written."""
        self._node = node
        self._path = path
        self._rows: list[tuple[int, str, int, int, int]] = []

    def add(self, event: str, seq: int, t_mono_ns: int, src_mono_ns: int) -> None:
        """Note a stamp that was taken just now."""
        if self._path is None:
            return
        # A list's append is atomic: callbacks of several threads need no lock.
        self._rows.append((threading.get_native_id(), event, seq, t_mono_ns, src_mono_ns))

    def write(self) -> Path | None:
        """Write the file; returns its path, null when there is none to write."""
        if self._path is None:
            return None
        self._path.parent.mkdir(parents=True, exist_ok=True)
        pid = os.getpid()
        with self._path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows((self._node, pid, *row) for row in self._rows)
        return self._path
