# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""CPU time and memory of the processes of a run, written down at equal times, as CSV.

A row has the process's name, the time since the run's begin, the CPU time that the process and its
descendants have used, what they have in memory, and their threads. Sources: /proc/PID/stat and
/proc/stat, whose CPU times go in ticks of the kernel, mostly 10 ms. Imports the standard library
only.
"""

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.scenario.zenoh_pools import ZenohPools

COLUMNS = ("process", "t_ns", "cpu_user_ns", "cpu_system_ns", "rss_bytes", "threads")
MACHINE = "machine"
"""The name of the rows of the whole machine."""

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Use:
    """CPU time in ns, resident memory in bytes, threads."""

    user_ns: int
    system_ns: int
    rss_bytes: int
    threads: int

    def __add__(self, other: Use) -> Use:
        return Use(
            self.user_ns + other.user_ns,
            self.system_ns + other.system_ns,
            self.rss_bytes + other.rss_bytes,
            self.threads + other.threads,
        )


def every_process() -> set[int]:
    """List the processes of the machine, or of this container."""
    with os.scandir("/proc") as entries:
        return {int(entry.name) for entry in entries if entry.name.isdigit()}


def family(pid: int) -> list[int]:
    """List a process and its living descendants; empty when it is not there."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        children = _children(pid)
        found.append(pid)
        for child in children:
            found += family(child)
    return found


def use_of(pids: Iterable[int]) -> Use | None:
    """Return what processes use together; null when none of them is there.

    The CPU time has that of ended descendants whose parent waited for them. Memory that several of
    them share counts for each.
    """
    total: Use | None = None
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            own = _own_use(pid)
            total = total + own if total else own
    return total


def _own_use(pid: int) -> Use:
    # The name stands in brackets and may have blanks; the third field comes after it.
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    user, system, waited_user, waited_system = map(int, fields[11:15])
    return Use(
        (user + waited_user) * _TICK_NS,
        (system + waited_system) * _TICK_NS,
        int(fields[21]) * _PAGE,
        int(fields[17]),
    )


def _children(pid: int) -> list[int]:
    # Each thread has children of its own. Kernels without CONFIG_PROC_CHILDREN tell of none.
    found: list[int] = []
    with os.scandir(f"/proc/{pid}/task") as tasks:
        for task in tasks:
            with contextlib.suppress(OSError):
                found += map(int, _read(f"{task.path}/children").split())
    return found


def use_of_machine() -> Use:
    """Return what all of the machine uses: CPU time since its start, memory not available, threads.

    Time of interrupts is system time; time that a hypervisor took away is neither.
    """
    user, nice, system, _, _, irq, softirq = map(int, _first_line("/proc/stat").split()[1:8])
    memory = dict(line.split(":", 1) for line in _read("/proc/meminfo").splitlines())
    used = _kib(memory["MemTotal"]) - _kib(memory["MemAvailable"])
    threads = int(_first_line("/proc/loadavg").split()[3].split("/")[1])
    return Use((user + nice) * _TICK_NS, (system + irq + softirq) * _TICK_NS, used, threads)


def _read(path: str) -> str:
    # Without the layers of `open`: a look reads some hundred files, which are short.
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(file, 1 << 14):
            parts.append(part)
    finally:
        os.close(file)
    return b"".join(parts).decode(errors="replace")


def _first_line(path: str) -> str:
    return _read(path).partition("\n")[0]


def _kib(text: str) -> int:
    return int(text.split()[0]) * 1024


def usage_document(usage: resource.struct_rusage) -> dict[str, int]:
    """Describe what a process used that has ended and was waited for, with what it waited for."""
    return {
        "cpu_user_ns": round(usage.ru_utime * 1e6) * 1000,
        "cpu_system_ns": round(usage.ru_stime * 1e6) * 1000,
        "rss_max_bytes": usage.ru_maxrss * 1024,
        "voluntary_switches": usage.ru_nvcsw,
        "involuntary_switches": usage.ru_nivcsw,
        "minor_faults": usage.ru_minflt,
        "major_faults": usage.ru_majflt,
    }


class Sampler:
    """Writes the rows of a run; the machine's CPU time counts from its begin."""

    def __init__(self, path: Path, every_s: float) -> None:
        self._every_s = every_s
        self._every_ns = round(every_s * 1e9)
        self._begun_ns = time.monotonic_ns()
        self._due_ns = self._begun_ns
        self._machine = use_of_machine()
        self._samples = 0
        self._cost_ns = 0
        self._pools = ZenohPools()
        self._file = path.open("w", encoding="utf-8")
        self._file.write(",".join(COLUMNS) + "\n")

    def left_s(self) -> float:
        """Give the time until the next sample is due, in seconds; 0 when it is."""
        return max(0.0, (self._due_ns - time.monotonic_ns()) / 1e9)

    def sample(self, processes: Iterable[tuple[str, list[int]]], *, now: bool = False) -> None:
        """Write a row for the machine and each process, of a name and its family, if it is due."""
        begin, cost = time.monotonic_ns(), time.thread_time_ns()
        if begin < self._due_ns and not now:
            return
        # A sample that comes late moves no other.
        while self._due_ns <= begin:
            self._due_ns += self._every_ns
        busy = use_of_machine()
        busy += Use(-self._machine.user_ns, -self._machine.system_ns, 0, 0)
        rows = [self._row(MACHINE, busy)]
        every: list[int] = []
        for name, pids in processes:
            every += pids
            use = use_of(pids)
            if use:
                rows.append(self._row(name, use))
        self._file.write("".join(rows))
        self._file.flush()
        self._pools.look(every)
        self._samples += 1
        self._cost_ns += time.thread_time_ns() - cost

    def _row(self, name: str, use: Use) -> str:
        since = time.monotonic_ns() - self._begun_ns
        values = (use.user_ns, use.system_ns, use.rss_bytes, use.threads)
        return f"{name},{since},{','.join(map(str, values))}\n"

    def end(self) -> dict[str, Any]:
        """Close the file; tell how many samples there are, and the CPU time that they took."""
        self._file.close()
        return {
            "every_s": self._every_s,
            "begun_monotonic_ns": self._begun_ns,
            "samples": self._samples,
            "cost_ns": self._cost_ns,
            "zenoh_pools": self._pools.as_json(),
        }
