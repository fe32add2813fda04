# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What it costs to keep announcements, and how long they take when a session starts.

usage: bench_statedump.py [--distro jazzy] [--rounds 9]
Prints Markdown tables. A C program announces timers, with libros2_statedump.so preloaded and
without, in turn; no session is there. Then real LTTng sessions start beside it. Figures are medians
over the rounds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from strata.read import open_trace

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from traced_ros import Lttng, Ros, alone  # noqa: E402

CALLS = 200_000
KEPT = (100, 1_000, 10_000, 65_536)
EVENTS = "ros2:*,ros2_statedump:*"


class Bench:
    """Runs the program of one distribution."""

    def __init__(self, ros: Ros, lttng: Lttng) -> None:
        self._ros, self._lttng = ros, lttng
        self._program = lttng.home / "announce_calls"
        library = ros.provider / "libtracetools.so"
        command = ["cc", "-O2", "-o", self._program, HERE / "announce_calls.c", library]
        subprocess.run(command, check=True)

    @contextmanager
    def running(
        self, calls: int, addresses: int, *, keeps: bool = True
    ) -> Iterator[dict[str, Any]]:
        """Run it; what it measured is there once it has announced, and it waits then."""
        own = self._ros.install / "lib/ros2_statedump/libros2_statedump.so"
        libraries = [*([own] if keeps else []), self._ros.provider / "libtracetools.so"]
        preloaded = ":".join(map(str, libraries))
        environment = {"LD_PRELOAD": preloaded}
        line = alone([self._program, str(calls), str(addresses)], environment, self._lttng)
        with subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())
            process.communicate("")

    def call(self, addresses: int, *, keeps: bool) -> dict[str, Any]:
        """Measure calls without a session."""
        with self.running(CALLS, addresses, keeps=keeps) as measured:
            return measured

    def dump_ns(self, kept: int) -> int:
        """Measure from the first to the last event of a dump."""
        with self.running(kept, kept):
            session, output = self._lttng.start(EVENTS)
            self._lttng.stop(session)
        tables = open_trace(output).tables()
        found = len(tables["ros2:rcl_timer_init"])
        if found != kept:
            raise SystemExit(f"Cannot measure: {found} of {kept} announcements are in the trace.")
        begin, end = (
            tables[f"ros2_statedump:dump_{edge}"]["timestamp"][0].as_py()
            for edge in ("begin", "end")
        )
        shutil.rmtree(output)
        return end - begin


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--distro", default="jazzy")
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="sd", dir="/tmp"))
    lttng = Lttng(home)
    try:
        bench = Bench(Ros(given.distro), lttng)
        ways = {
            "not preloaded": (1, False),
            "kept, one address again and again": (1, True),
            "kept, 10,000 addresses in turn": (10_000, True),
        }
        found: dict[str, list[float]] = {name: [] for name in ways}
        kib = []
        dumps: dict[int, list[int]] = {kept: [] for kept in KEPT}
        for _ in range(given.rounds):
            for name, (addresses, keeps) in ways.items():
                found[name].append(bench.call(addresses, keeps=keeps)["each_ns"])
            with bench.running(10_000, 10_000) as measured:
                kib.append(measured["kib"])
            for kept in KEPT:
                dumps[kept].append(bench.dump_ns(kept))
    finally:
        lttng.close()
        shutil.rmtree(home)
    sys.stdout.write("| an announcement, no session | ns |\n| --- | --- |\n")
    for name, each in found.items():
        sys.stdout.write(f"| {name} | {statistics.median(each):.1f} |\n")
    sys.stdout.write(f"\nMemory of each: {statistics.median(kib) * 1024 / 10_000:.0f} bytes.\n\n")
    sys.stdout.write("| a session starts: announcements of a process | ms |\n| --- | --- |\n")
    for kept, each in dumps.items():
        sys.stdout.write(f"| {kept:,} | {statistics.median(each) / 1e6:.2f} |\n")


if __name__ == "__main__":
    main()
