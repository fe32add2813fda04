# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The waits of recorded threads for a CPU, sampled beside the trace (thread_sampler.py)."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strata.record import thread_sampler
from strata.record.directory import THREAD_CPU

INTERVAL_MS = 100
_PATIENCE_S = 5.0
_OWN = Path("/proc/self/task")


def why_not() -> str | None:
    """Say why the kernel does not tell of threads' waits for a CPU; null when it does."""
    place = _OWN / str(os.getpid()) / "schedstat"
    try:
        figures = place.read_text().split()
    except OSError as error:
        return f"{place}: {error.strerror}"
    # A thread that runs has had a time slice, unless nothing is counted (kernel.sched_schedstats).
    if len(figures) != 3 or figures[2] == "0":
        return f"{place} says {' '.join(figures)!r}: the kernel does not count time slices"
    if not place.with_name("children").exists():
        return f"{place.with_name('children')}: missing, so children cannot be found"
    return None


class ThreadSampling:
    """The sampler's process; nothing of it fails a recording, `as_json` says what went wrong."""

    def __init__(self, directory: Path, environment: Mapping[str, str]) -> None:
        self._place = directory / THREAD_CPU
        self._why_not = why_not()
        self._process: subprocess.Popen[bytes] | None = None
        self._followed = False
        if self._why_not is None:
            self._start(environment)

    def _start(self, environment: Mapping[str, str]) -> None:
        reading, self._writing = os.pipe()
        script = [str(thread_sampler.__file__), str(reading), str(self._place), str(INTERVAL_MS)]
        try:
            self._place.mkdir(exist_ok=True)
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", *script],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(reading,),
                # Out of reach of the terminal's signals and of a kill of our process group.
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._writing)
            self._why_not = str(error)
        finally:
            os.close(reading)

    def follow(self, pid: int) -> None:
        """Begin to sample the threads of a process and of all that descend from it, too."""
        if self._process is not None:
            self._followed = True
            with contextlib.suppress(OSError):
                os.write(self._writing, f"{pid}\n".encode())

    def stop(self) -> None:
        """Take the last sample and end the process."""
        if self._process is None:
            return
        os.close(self._writing)
        try:
            status = self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._process = None
        if status != 0:
            self._why_not = f"the sampler ended with status {status}"
        elif not self._followed:
            self._why_not = "there was no traced process"

    def as_json(self, directory: Path | None) -> dict[str, Any]:
        """Give what the manifest says of it; `directory` is where the recording is by now."""
        files = (directory or self._place.parent) / THREAD_CPU
        recorded = (files / thread_sampler.SAMPLES).is_file()
        return {
            "recorded": recorded,
            "interval_ms": INTERVAL_MS if recorded else None,
            "why_not": self._why_not,
        }
