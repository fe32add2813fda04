# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Scheduling policy, CPUs and memory of a process, set before its program is executed.

`python -m strata.scenario.place [--fifo PRIORITY] [--cpus 0,1] [--lock-memory] -- PROGRAM ...`
Policy and CPUs pass over to the program. Locked memory does not: a library that the program
preloads (package memory_lock) locks it there. Imports the standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LIBRARY = "lib/memory_lock/libmemory_lock.so"
_PR_SET_PDEATHSIG = 1
_RT_RUNTIME = "/sys/fs/cgroup/cpu/cpu.rt_runtime_us"


@dataclass(frozen=True)
class Placement:
    """How a process is scheduled; `fifo` 0 is the usual policy, no `cpus` any of them."""

    fifo: int = 0
    cpus: tuple[int, ...] = ()
    lock_memory: bool = False

    @property
    def usual(self) -> bool:
        """Tell that nothing is asked for."""
        return not (self.fifo or self.cpus or self.lock_memory)

    def apply(self) -> None:
        """Set policy and CPUs of this process; memory is the program's own to lock.

        Raises OSError when the system refuses.
        """
        if self.cpus:
            os.sched_setaffinity(0, self.cpus)
        if self.fifo:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(self.fifo))

    def words(self) -> list[str]:
        """Give the options of this module's command line."""
        return [
            *(["--fifo", str(self.fifo)] if self.fifo else []),
            *(["--cpus", ",".join(map(str, self.cpus))] if self.cpus else []),
            *(["--lock-memory"] if self.lock_memory else []),
        ]

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Give the variables of a program, `base` with what makes it lock its memory.

        Raises LookupError when the library for that is not built.
        """
        if not self.lock_memory:
            return dict(base)
        library = lock_library(base)
        if library is None:
            raise LookupError(
                f"no {_LIBRARY} on AMENT_PREFIX_PATH: the package memory_lock is not built"
            )
        preloads = [str(library), *base.get("LD_PRELOAD", "").split(":")]
        return {**base, "LD_PRELOAD": ":".join(filter(None, preloads))}


def lock_library(base: Mapping[str, str]) -> Path | None:
    """Find the library that locks a process's memory; null when it is not built."""
    prefixes = base.get("AMENT_PREFIX_PATH", "").split(":")
    found = (Path(prefix) / _LIBRARY for prefix in prefixes if prefix)
    return next((path for path in found if path.is_file()), None)


def refused(placement: Placement) -> str | None:
    """Try a placement in a process of its own; say why the system refuses it, null when not."""
    if placement.cpus:
        usable = os.sched_getaffinity(0)
        missing = sorted(set(placement.cpus) - usable)
        if missing:
            there = ", ".join(map(str, sorted(usable)))
            return f"CPU {missing[0]} is not usable here (usable: {there})"
    if placement.fifo and (error := _tried(placement)):
        return f"SCHED_FIFO {placement.fifo} is refused: {os.strerror(error)} ({_may_schedule()})"
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    if placement.lock_memory and limit != resource.RLIM_INFINITY and not _capable(14):
        return f"locking memory is limited to {limit} bytes (RLIMIT_MEMLOCK; no CAP_IPC_LOCK)"
    return None


def _tried(placement: Placement) -> int:
    """Apply it in a child; the number of the error, 0 for none."""
    child = os.fork()
    if not child:
        try:
            placement.apply()
        except OSError as error:
            os._exit(error.errno or 255)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _may_schedule() -> str:
    facts = [f"RLIMIT_RTPRIO is {resource.getrlimit(resource.RLIMIT_RTPRIO)[0]}"]
    facts.append(f"{'has' if _capable(23) else 'no'} CAP_SYS_NICE")
    with contextlib.suppress(OSError):
        facts.append(f"cpu.rt_runtime_us is {Path(_RT_RUNTIME).read_text().strip()}")
    return ", ".join(facts)


def _capable(number: int) -> bool:
    return bool(int(_status("self", "CapEff"), 16) >> number & 1)


def _status(pid: int | str, key: str) -> str:
    """Read a value of a process's status; 0 where it has none of that name."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((line.split()[1] for line in lines if line.startswith(f"{key}:")), "0")


def end_with_parent(parent: int) -> None:
    """Have the kernel send SIGTERM to this process when its parent, of that id, ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def describe(pid: int) -> dict[str, Any]:
    """Return how a running process is scheduled; `locked_bytes` is what it has locked."""
    policies = {os.SCHED_OTHER: "other", os.SCHED_FIFO: "fifo", os.SCHED_RR: "rr"}
    policy = os.sched_getscheduler(pid)
    return {
        "policy": policies.get(policy, str(policy)),
        "priority": os.sched_getparam(pid).sched_priority,
        "cpus": sorted(os.sched_getaffinity(pid)),
        "locked_bytes": int(_status(pid, "VmLck")) * 1024,
    }


def main(words: Sequence[str]) -> int:
    """Apply the options of a command line and execute the program after `--`."""
    split = list(words).index("--")
    own, command = list(words[:split]), list(words[split + 1 :])
    fifo = int(own[own.index("--fifo") + 1]) if "--fifo" in own else 0
    cpus = own[own.index("--cpus") + 1].split(",") if "--cpus" in own else []
    placement = Placement(fifo, tuple(map(int, cpus)), "--lock-memory" in own)
    try:
        placement.apply()
        os.execvpe(command[0], command, placement.environment(os.environ))
    except (OSError, LookupError) as error:
        why = refused(placement) or error
        sys.stderr.write(
            f"Cannot place {command[0]}: {why}. Run it without that, or get the privilege.\n"
        )
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
