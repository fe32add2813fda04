# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m strata.scenario.busy PERCENT WORKERS MEMORY_MIB POLICY [CPUS]`: load until SIGTERM.

Each worker is busy for PERCENT of every period of 10 ms, on an absolute schedule: what one period
lacks, because others had the CPU, is not made up for. One more worker writes to MEMORY_MIB of
memory, a byte a page, again and again. POLICY `idle` is SCHED_IDLE: every normal thread takes
the CPU from such a worker at once, but the CPU does not sleep. At the end, the workers' CPU time
without that one's is written to stdout, as JSON. Imports the standard library only.
"""

from __future__ import annotations

import json
import mmap
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial

from strata.scenario.place import end_with_parent

_PERIOD_NS = 10_000_000


def spin(percent: float) -> None:
    """Keep a CPU busy for a part of every period, for ever."""
    busy_ns = round(_PERIOD_NS * percent / 100)
    begin = time.monotonic_ns()
    while True:
        now = time.monotonic_ns()
        begin += (now - begin) // _PERIOD_NS * _PERIOD_NS
        # By the CPU time: a worker that is kept from the CPU is not busy then.
        until, used = begin + _PERIOD_NS, time.thread_time_ns()
        while time.thread_time_ns() - used < busy_ns and time.monotonic_ns() < until:
            pass
        begin = until
        left = until - time.monotonic_ns()
        if left > 0:
            time.sleep(left / 1e9)


def touch(mebibytes: int) -> None:
    """Write to every page of some memory, for ever."""
    memory = mmap.mmap(-1, mebibytes << 20)
    ones = b"\1" * (len(memory) // mmap.PAGESIZE)
    while True:
        memory[:: mmap.PAGESIZE] = ones


def main(percent: float, workers: int, mebibytes: int, policy: str, cpus: list[int]) -> int:
    """Start the workers, wait for SIGTERM or SIGINT, end them."""
    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    if policy == "idle":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    if cpus:
        os.sched_setaffinity(0, cpus)
    children = []
    jobs: list[Callable[[], None]] = [partial(spin, percent)] * (workers if percent else 0)
    if mebibytes:
        jobs.append(partial(touch, mebibytes))
    parent = os.getpid()
    for job in jobs:
        child = os.fork()
        if not child:
            end_with_parent(parent)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ends)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            job()
        children.append(child)
    signal.sigwait(ends)
    for child in children:
        os.kill(child, signal.SIGTERM)
    ended = [os.wait4(child, 0)[2] for child in children]
    counted = ended[:workers] if percent else []
    spent = sum(usage.ru_utime + usage.ru_stime for usage in counted)
    sys.stdout.write(json.dumps({"workers_cpu_s": round(spent, 3)}) + "\n")
    return 0


if __name__ == "__main__":
    listed = [int(cpu) for cpu in sys.argv[5].split(",")] if len(sys.argv) > 5 else []
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], listed))
