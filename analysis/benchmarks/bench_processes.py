# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a process cost, and what bench_read.py and bench_analysis.py measured of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

HERE = Path(__file__).resolve().parent
STRATA = str(Path(sys.prefix) / "bin/strata")


@dataclass(frozen=True)
class Cost:
    """CPU time (user and system), wall time and peak memory of a process, and its JSON.

    `system_s` is the part of the CPU time that the kernel took, mostly for first-touch pages.
    """

    cpu_s: float
    wall_s: float
    peak_bytes: int
    printed: dict[str, float] = field(default_factory=dict)
    system_s: float = 0.0


@dataclass(frozen=True)
class Row:
    """A reader's figures for one trace; null where they are not known."""

    label: str
    events: int
    cpu_s: float
    reading_s: float | None
    wall_s: float | None
    peak_bytes: int | None

    @property
    def best_s(self) -> float:
        """CPU time of reading alone where the process tells it, of the process otherwise."""
        return self.cpu_s if self.reading_s is None else self.reading_s

    @property
    def ns_an_event(self) -> float:
        """Nanoseconds of CPU time an event."""
        return self.best_s / self.events * 1e9


def run(command: Sequence[str | Path], *, keep_output: bool = False) -> Cost:
    """Run a command and return its cost; its standard output is JSON, or goes to /dev/null.

    A process inherits the peak memory of the one that started it, so this one has to stay small:
    neither NumPy nor pyarrow may be imported here.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output if keep_output else subprocess.DEVNULL,
            stderr=errors,
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            line = " ".join(map(str, command))
            raise click.ClickException(f"{line} failed:\n{errors.read().decode().strip()}")
        printed = json.loads(output.read()) if keep_output else {}
    cpu_s = usage.ru_utime + usage.ru_stime
    return Cost(cpu_s, wall_s, usage.ru_maxrss << 10, printed, usage.ru_stime)


def run_reader(name: str, trace: Path) -> Cost:
    """Run a reader of bench_readers.py."""
    return run([sys.executable, HERE / "bench_readers.py", name, trace], keep_output=True)


def best(costs: Sequence[Cost]) -> Cost:
    """Return the run that took the least CPU time, with the least reading time of any."""
    least = min(costs, key=lambda cost: cost.cpu_s)
    if "cpu_s" not in least.printed:
        return least
    reading = min(cost.printed["cpu_s"] for cost in costs)
    return Cost(least.cpu_s, least.wall_s, least.peak_bytes, {**least.printed, "cpu_s": reading})


def row(label: str, events: int, cost: Cost) -> Row:
    """Name a cost."""
    reading = cost.printed.get("cpu_s")
    return Row(label, events, cost.cpu_s, reading, cost.wall_s, cost.peak_bytes)


def scaled(label: str, events: int, measured: Row) -> Row:
    """Give what more events would cost at the same CPU time an event."""
    factor = events / measured.events
    reading = None if measured.reading_s is None else measured.reading_s * factor
    return Row(label, events, measured.cpu_s * factor, reading, None, None)
