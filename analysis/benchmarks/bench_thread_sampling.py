# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What sampling of threads' waits for a CPU costs beside a recording (record/thread_sampler.py).

usage: bench_thread_sampling.py

Processes with threads that sleep, or wake up 100 times a second; the sampler's own row in its file
tells what it ran.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import pandas as pd

from strata.read.thread_cpu import SAMPLER, read_thread_cpu
from strata.record.thread_cpu import ThreadSampling

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tracing_ws/src"))

from others import Others

SECONDS = 6
_PROGRAM = """
import sys, threading, time
count, rate, seconds = map(int, sys.argv[1:])
def run():
    for _ in range(max(rate, 1) * seconds):
        time.sleep(1 / max(rate, 1))
[threading.Thread(target=run).start() for _ in range(count)]
"""


def main() -> None:
    """Print a row for each setup, and what other programs took of the CPUs meanwhile."""
    others = Others()
    click.echo(
        "| threads | wakes of each a second | ms of CPU a sample | of a CPU | interval, ms |"
    )
    click.echo("| --- | --- | --- | --- | --- |")
    for count, rate in [(20, 0), (100, 0), (100, 100), (400, 0)]:
        with tempfile.TemporaryDirectory() as place:
            sampling = ThreadSampling(Path(place), os.environ)
            line = [sys.executable, "-c", _PROGRAM, *map(str, (count, rate, SECONDS))]
            process = subprocess.Popen(line)
            sampling.follow(process.pid)
            process.wait()
            sampling.stop()
            found = read_thread_cpu(Path(place))
        if found is None:
            sys.exit("nothing was sampled: see strata.record.thread_cpu.why_not()")
        rows = pd.DataFrame(found.samples)
        # The first ones find the threads.
        own = rows[rows["thread"] == SAMPLER].iloc[5:]
        ran = own["cpu_ns"].iloc[-1] - own["cpu_ns"].iloc[0]
        elapsed = own["monotonic_ns"].iloc[-1] - own["monotonic_ns"].iloc[0]
        each, interval = ran / (len(own) - 1) / 1e6, elapsed / (len(own) - 1) / 1e6
        click.echo(f"| {count} | {rate} | {each:.2f} | {ran / elapsed:.2%} | {interval:.0f} |")
    click.echo(f"\n{others.sentence()}")


if __name__ == "__main__":
    main()
