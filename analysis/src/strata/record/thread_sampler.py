# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A small process beside a recording: reads how long each thread ran and waited for a CPU.

Run as a script, without site packages: `thread_sampler.py FD DIRECTORY INTERVAL_MS`. FD is the
reading end of a pipe whose writing end only the recorder holds: each line is a process id to follow
from then on, of which the first starts it; the end of the pipe ends it, after a last sample. So it
never outlives the recorder, and what it wrote until then is whole lines.

Of these processes and all that descend from them, while they live, `/proc/PID/task/TID/schedstat`
is read at the interval: ns on a CPU, ns in the queue of one, and time slices. A process that was
found once is followed when its parent ends before it.

* `threads.csv`: thread,pid,tid,vpid,vtid,process,name. `thread` is a dense number; a later row of
  the same number replaces the earlier one (threads get their names after they begin). `vpid` and
  `vtid` are the ids within the innermost pid namespace, which LTTng's contexts of those names are.
* `samples.csv`: thread,monotonic_ns,read_ns,cpu_ns,wait_ns,slices. The three figures are the
  kernel's, since the thread began; they were read between `monotonic_ns` and `monotonic_ns` +
  `read_ns`. A thread has a row only where a figure changed. The sampler's own thread is number 0:
  its figures change with every sample, so its rows are the instants of all samples, and its own
  cost; within a sample its row is read first. When a sample costs more than its part of a CPU
  (`LARGEST_COST`), the next one comes later.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import select
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

THREADS, SAMPLES = "threads.csv", "samples.csv"
THREADS_HEAD = "thread,pid,tid,vpid,vtid,process,name"
SAMPLES_HEAD = "thread,monotonic_ns,read_ns,cpu_ns,wait_ns,slices"
LARGEST_COST = 0.02
"""Part of a CPU that sampling may take before it is done less often."""
_ALL_EVERY = 10
"""Samples after which the children of every thread are looked for, not of those alone that ran."""
_TRIES = 3
_SLOW_NS = 1_000_000
"""A figure whose reading took longer is read again: it would not be known of when it is."""
_NAMED_AFTER = 2
"""Samples after which a thread is looked at again for its name."""


@dataclass
class _Thread:
    number: int
    tid: int
    place: str
    descriptor: int
    last: bytes = b""
    seen: int = 0
    row: str = ""


class Sampler:
    """Follows the threads of process trees, whose roots are given to `follow`."""

    def __init__(self, directory: Path) -> None:
        self._threads_file = _opened(directory / THREADS, THREADS_HEAD)
        self._samples_file = _opened(directory / SAMPLES, SAMPLES_HEAD)
        self._processes: dict[int, dict[int, _Thread]] = {}
        self._count = 0
        self._samples = 0
        own = os.getpid()
        self._own = self._begin(own, own)

    def follow(self, pid: int) -> None:
        """Follow a process from the next sample on; one that is followed already stays so."""
        self._processes.setdefault(pid, {})

    def sample(self) -> None:
        """Read every thread once, and write what changed."""
        rows: list[str] = []
        identities: list[str] = []
        everyone = self._samples % _ALL_EVERY == 0
        self._samples += 1
        self._read_own(rows, identities)
        waiting = list(self._processes)
        # Of processes that are found meanwhile, too.
        while waiting:
            pid = waiting.pop()
            threads = self._threads_of(pid)
            if threads is None:
                continue
            for thread in list(threads.values()):
                ran = self._read(thread, rows)
                if ran is None:
                    self._end(threads.pop(thread.tid))
                    continue
                if thread.seen in (0, _NAMED_AFTER):
                    identities += self._identity(thread, pid)
                thread.seen += ran
                if ran or everyone:
                    for child in _children(thread.place):
                        if child not in self._processes:
                            self._processes[child] = {}
                            waiting.append(child)
        _write(self._threads_file, identities)
        _write(self._samples_file, rows)

    def _read_own(self, rows: list[str], identities: list[str]) -> None:
        """Add the sampler's row: whatever is read later in this sample, is read after it."""
        if self._own is None:
            return
        if not self._own.seen:
            identities += self._identity(self._own, os.getpid())
        self._own.seen += 1
        self._own.last = b""
        self._read(self._own, rows)

    def _threads_of(self, pid: int) -> dict[int, _Thread] | None:
        """Return the threads of a process that are there now; null when it is gone."""
        known = self._processes[pid]
        try:
            tids = {int(name) for name in os.listdir(f"/proc/{pid}/task")}  # noqa: PTH208
        except OSError:
            for thread in known.values():
                self._end(thread)
            del self._processes[pid]
            return None
        for tid in known.keys() - tids:
            self._end(known.pop(tid))
        for tid in tids - known.keys():
            new = self._begin(pid, tid)
            if new is not None:
                known[tid] = new
        return known

    def _begin(self, pid: int, tid: int) -> _Thread | None:
        place = f"/proc/{pid}/task/{tid}"
        try:
            descriptor = os.open(f"{place}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        thread = _Thread(self._count, tid, place, descriptor)
        self._count += 1
        return thread

    def _end(self, thread: _Thread) -> None:
        os.close(thread.descriptor)

    def _read(self, thread: _Thread, rows: list[str]) -> bool | None:
        """Add a row when a figure of a thread changed; null when the thread is gone."""
        for _ in range(_TRIES):
            before = time.monotonic_ns()
            try:
                figures = os.pread(thread.descriptor, 128, 0)
            except OSError:
                return None
            took = time.monotonic_ns() - before
            if took < _SLOW_NS:
                break
        if figures == thread.last:
            return False
        thread.last = figures
        text = figures.decode().strip().replace(" ", ",")
        rows.append(f"{thread.number},{before},{took},{text}\n")
        return True

    def _identity(self, thread: _Thread, pid: int) -> Iterator[str]:
        """Give the row of a thread, when it is not the one that was written before."""
        row = f"{thread.number},{pid},{thread.tid},{_identity(thread.place, pid)}\n"
        if row != thread.row:
            thread.row = row
            yield row


def _identity(place: str, pid: int) -> str:
    """Return vpid, vtid, and the names of process and thread; empty for what is not known."""
    found = {}
    with contextlib.suppress(OSError), open(f"{place}/status", encoding="utf-8") as file:  # noqa: PTH123
        for line in file:
            key, _, value = line.partition(":")
            if key in ("NStgid", "NSpid", "Tgid", "Pid", "Name"):
                found[key] = value.strip()
    vpid = found.get("NStgid", found.get("Tgid", "")).split("\t")[-1]
    vtid = found.get("NSpid", found.get("Pid", "")).split("\t")[-1]
    process = ""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/comm", encoding="utf-8") as file:  # noqa: PTH123
        process = file.read().strip()
    return f"{vpid},{vtid},{_plain(process)},{_plain(found.get('Name', ''))}"


def _plain(name: str) -> str:
    """Make a name one field of a line."""
    return re.sub(r"[^\x20-\x7e]|[,\"]", "_", name)


def _children(place: str) -> list[int]:
    try:
        with open(f"{place}/children", "rb") as file:  # noqa: PTH123
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


def _opened(path: Path, head: str) -> int:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
    os.write(descriptor, f"{head}\n".encode())
    return descriptor


def _write(descriptor: int, rows: Iterable[str]) -> None:
    text = "".join(rows).encode()
    while text:
        text = text[os.write(descriptor, text) :]


def _more_descriptors() -> None:
    """Allow a descriptor for each thread of a large system."""
    with contextlib.suppress(OSError, ValueError):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class _Roots:
    """The process ids that the recorder writes into the pipe."""

    def __init__(self, reading: int) -> None:
        self._reading = reading
        self._rest = b""

    def read(self) -> list[int] | None:
        """Wait for more of them; null at the end of the pipe."""
        text = os.read(self._reading, 4096)
        if not text:
            return None
        *lines, self._rest = (self._rest + text).split(b"\n")
        return [int(line) for line in lines if line.strip()]

    def wait_until(self, due: float) -> bool:
        """Return whether there is something to read before an instant of CLOCK_MONOTONIC."""
        patience = max(0.0, due - time.monotonic())
        return bool(select.select([self._reading], [], [], patience)[0])


def run(reading: int, directory: Path, interval_s: float) -> None:
    """Sample until the pipe ends."""
    roots = _Roots(reading)
    pids = roots.read()
    if pids is None:
        return
    _more_descriptors()
    sampler = Sampler(directory)
    due, usual = time.monotonic(), 0.0
    while True:
        for pid in pids:
            sampler.follow(pid)
        before = time.thread_time()
        sampler.sample()
        cost = time.thread_time() - before
        # A single dear one, such as the first, is no reason to wait.
        due = max(due + max(interval_s, min(cost, usual) / LARGEST_COST), time.monotonic())
        usual = cost
        pids = []
        while roots.wait_until(due):
            more = roots.read()
            if more is None:
                sampler.sample()
                return
            pids += more


if __name__ == "__main__":
    run(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) / 1000)
