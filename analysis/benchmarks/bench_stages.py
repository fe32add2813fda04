# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which part of Strata an analysis spends its CPU time in; run by bench_analysis.py.

usage: bench_stages.py TRACE

Runs `strata analyze TRACE` in this process, and looks every 4 ms of CPU time at what runs. The time
since the last look belongs to the innermost package of Strata on the stack (a native function or a
library to the package that called it), and to `imports` while a module is imported. Prints JSON:
seconds by package, their sum, and as `start` what passed before the first look.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path
from types import FrameType

INTERVAL_S = 0.004
IMPORTS = "imports"
START = "start"
OTHER = "other"
_IMPORTER = "importlib._bootstrap"
_PACKAGE = "strata"


def stage_of(frame: FrameType | None) -> str:
    """Return the stage of a stack: `imports`, a package of Strata, or `other`."""
    found = ""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module == _IMPORTER:
            return IMPORTS
        if not found and module.startswith(f"{_PACKAGE}."):
            found = module.split(".")[1]
        frame = frame.f_back
    return found or OTHER


class Stopwatch:
    """CPU seconds by stage. A signal that comes during a native call is handled after it."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._last = 0.0

    def look(self, _: int, frame: FrameType | None) -> None:
        """Give the time since the last look to what runs."""
        now = time.process_time()
        self.seconds[stage_of(frame)] += now - self._last
        self._last = now

    def start(self) -> None:
        """Begin; what passed so far is the start of the interpreter."""
        self._last = time.process_time()
        self.seconds[START] += self._last
        signal.signal(signal.SIGPROF, self.look)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL_S, INTERVAL_S)

    def stop(self) -> None:
        """End; what passed since the last look is of no stage."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.look(0, None)


def measure(trace: str) -> dict[str, float]:
    """Analyze a trace as the command does, with its output to /dev/null; return the seconds."""
    result = os.dup(1)
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    stopwatch = Stopwatch()
    stopwatch.start()
    sys.argv = ["strata", "analyze", trace]
    try:
        from strata.cli.main import main

        main()
    except SystemExit as end:
        if end.code not in (0, None):
            raise
    finally:
        stopwatch.stop()
        sys.stdout.flush()
        os.dup2(result, 1)
    return dict(stopwatch.seconds)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(sys.argv[1])))
