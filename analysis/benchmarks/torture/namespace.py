# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Namespaces of a trial: no process, session or shared memory outside of them can be touched.

In a pid namespace of its own a trial can kill only what it started, sees all that it left, and
whatever it left ends with it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

_INSIDE = Path(__file__).parent / "programs/inside.sh"
REAPED = "reaped.txt"


def inside(command: Sequence[str]) -> list[str]:
    """Give the command line that runs a command in new namespaces, as process 1 of them."""
    new = ["--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    return ["unshare", *new, "sh", str(_INSIDE), *command]


def why_not() -> str | None:
    """Say why no namespaces can be made here; null when they can.

    It needs root: LTTng's daemon does not start where root is another user's name for itself.
    """
    done = subprocess.run(inside(["true"]), capture_output=True, text=True, check=False)
    return (done.stderr.strip() or f"status {done.returncode}") if done.returncode else None


def reap_until_end_of(child: int, place: Path) -> int:
    """Be process 1: collect whatever ends, and return the status of `child` once it has.

    Each process that was left to us is noted as `PID STATUS` in the file `REAPED` of `place`, with
    a status as `os.waitstatus_to_exitcode` gives it.
    """
    with (place / REAPED).open("w") as noted:
        while True:
            pid, status = os.waitpid(-1, 0)
            code = os.waitstatus_to_exitcode(status)
            if pid == child:
                return code
            noted.write(f"{pid} {code}\n")
            noted.flush()


def reaped(place: Path) -> dict[int, int]:
    """Read how the processes ended whose parent had ended before them."""
    with contextlib.suppress(OSError):
        lines = (place / REAPED).read_text().splitlines()
        return {int(pid): int(code) for pid, code in (line.split() for line in lines)}
    return {}
