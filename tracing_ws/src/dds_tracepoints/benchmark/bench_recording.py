# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What it costs the traced program that a recording can be read at any time, and what samples cost.

usage: bench_recording.py [--distro jazzy] [--rounds 9] [--seed 1] [--quick]
Prints a Markdown table: publish() and round trips of a C and a Python program, recorded with and
without the timers that flush metadata and packets, and with the waits of the program's threads for
a CPU sampled as well. In each round every setup runs once for every workload, in an order that is
shuffled. A figure is the median over the rounds, a ratio that of two such medians, with the
interval that holds 95 % of the ratios of resampled rounds; 1 lies in it where nothing was measured.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from setups import FULL, ROS2, Bench, Run, Setup, Workload
from traced_ros import Lttng, Ros

_RESAMPLES = 2000
_UNFLUSHED = {
    "ros2": replace(ROS2, name="`ros2`, no timers", timers=False),
    "full": replace(FULL, name="`full`, no timers", timers=False),
}
_FLUSHED = {"ros2": replace(ROS2, name="`ros2`"), "full": replace(FULL, name="`full`")}
_SAMPLED = {
    name: replace(setup, name=f"`{name}`, sampled", sampled=True)
    for name, setup in _FLUSHED.items()
}
_SETUPS = [group[name] for name in ("ros2", "full") for group in (_UNFLUSHED, _FLUSHED, _SAMPLED)]

Figure = Callable[[Run], float]


def workloads(quick: bool) -> list[Workload]:
    """List what is measured, with how many calls a run: each takes some periods of the timers."""
    loads = [Workload(program, "publish", 30_000) for program in ("rclpy", "rcl")]
    loads += [Workload("rclpy", "ping", 5_000), Workload("rcl", "ping", 20_000)]
    return [replace(load, count=load.count // 10) for load in loads] if quick else loads


def measured(
    bench: Bench, loads: Sequence[Workload], rounds: int, seed: int
) -> dict[tuple[Workload, Setup], list[Run]]:
    """Run everything, interleaved."""
    shuffler = random.Random(seed)
    results = defaultdict(list)
    for number in range(rounds):
        sys.stderr.write(f"round {number + 1} of {rounds}\n")
        for load in loads:
            for setup in shuffler.sample(_SETUPS, len(_SETUPS)):
                results[load, setup].append(bench.run(setup, load))
    return results


def ratio(runs: Sequence[Run], base: Sequence[Run], figure: Figure) -> str:
    """Write the ratio of two medians with the interval of whole rounds drawn again."""
    drawer = random.Random(len(runs))
    ratios = []
    for _ in range(_RESAMPLES):
        drawn = drawer.choices(range(len(runs)), k=len(runs))
        ratios.append(
            statistics.median(figure(runs[i]) for i in drawn)
            / statistics.median(figure(base[i]) for i in drawn)
        )
    ratios.sort()
    middle = statistics.median(map(figure, runs)) / statistics.median(map(figure, base))
    low, high = ratios[round(0.025 * _RESAMPLES)], ratios[round(0.975 * _RESAMPLES) - 1]
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--distro", default="jazzy")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a tenth of the calls")
    given = parser.parse_args()
    loads = workloads(given.quick)
    home = Path(tempfile.mkdtemp(prefix="dp", dir="/tmp"))
    lttng = Lttng(home)
    try:
        results = measured(Bench(Ros(given.distro), lttng), loads, given.rounds, given.seed)
    finally:
        lttng.close()
        shutil.rmtree(home)
    lines = ["| µs | recorded with | p50 | of no timers | p99 | of no timers |", "|" + "---|" * 6]
    for load in loads:
        for name in ("ros2", "full"):
            base = results[load, _UNFLUSHED[name]]
            for setup in (_UNFLUSHED[name], _FLUSHED[name], _SAMPLED[name]):
                runs = results[load, setup]
                cells = [f"{load.program}: {load.kind}", setup.name]
                for figure in (lambda run: run.p50_ns, lambda run: run.p99_ns):
                    cells.append(f"{statistics.median(map(figure, runs)) / 1000:.2f}")
                    cells.append("1" if runs is base else ratio(runs, base, figure))
                lines.append(f"| {' | '.join(cells)} |")
    taken = [run.others for runs in results.values() for run in runs]
    lines.append("")
    lines.append(
        f"{given.rounds} rounds. Other programs took {statistics.median(taken):.0%} (median run) "
        f"to {max(taken):.0%} of the CPUs."
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
