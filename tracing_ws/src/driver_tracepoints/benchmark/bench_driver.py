# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the tracepoints and the hooks cost: nanoseconds a call.

usage: bench_driver.py
Prints a table; each figure is the least of 300 rounds of 100 calls, so that other load counts
little. Plain: nothing preloaded, no session; off: hooks preloaded, no session; recording: driver:*.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "test")]


def main() -> None:
    """Measure, with a session daemon of its own."""
    from driver_trace import INSTALL, LIBRARY, compiled, free_ports, run, trace, with_hooks
    from others import Others
    from traced_ros import Lttng

    if not LIBRARY.is_file():
        raise SystemExit(f"Cannot measure: {LIBRARY} is not built. Run make setup.")
    home = Path(tempfile.mkdtemp(prefix="rb", dir="/tmp"))
    flags = [f"-I{INSTALL}/include", f"-L{LIBRARY.parent}", f"-Wl,-rpath,{LIBRARY.parent}"]
    program = compiled(home / "calls", HERE / "calls.c", *flags, "-ldriver_tracepoints")
    lttng, others = Lttng(home), Others()
    try:
        (port,) = free_ports(1)
        line = [program, str(port)]
        columns = [
            figures(run(line, {}, lttng)),
            figures(run(line, with_hooks([port]), lttng)),
            figures(trace(lttng, line, with_hooks([port]))[0]),
        ]
        told = others.sentence()
    finally:
        lttng.close()
        shutil.rmtree(home)
    lines = [f"{'ns per call':<32}{'plain':>10}{'off':>10}{'recording':>12}"]
    for name in columns[0]:
        plain, off, recording = (column[name] for column in columns)
        lines.append(f"{name:<32}{plain:>10.1f}{off:>10.1f}{recording:>12.1f}")
    lines.append(told)
    sys.stdout.write("\n".join(lines) + "\n")


def figures(printed: str) -> dict[str, float]:
    """Return what a run printed, by name."""
    rows = (line.split("\t") for line in printed.splitlines())
    return {name: float(ns) for name, ns in rows}


if __name__ == "__main__":
    try:
        main()
    except subprocess.SubprocessError as error:
        raise SystemExit(f"Cannot measure: {error}") from error
