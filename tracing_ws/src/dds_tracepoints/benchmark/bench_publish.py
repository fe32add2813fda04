# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What tracing costs a publisher and a round trip: p50, and its ratio to the untraced program's.

usage: bench_publish.py [--distro jazzy]... [--rounds 7] [--seed 1] [--only PART] [--quick]
Prints Markdown tables. In each round every setup runs once for every workload, in an order that is
shuffled; a run during which other programs took much of the machine is repeated. A figure is the
median over the rounds of each round's p50, a ratio that of two such medians, with the interval
that holds 95 % of the ratios of resampled rounds. What is recorded goes to real LTTng sessions, set
up as `strata record` does, with a session daemon of their own.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from setups import FULL, LOADED, PROVIDER, RCLPY, ROS2, STOCK, Bench, Run, Setup, Workload
from traced_ros import Lttng, Ros, distros

PUBLISH_LIMIT = 2.0
ROUND_TRIP_LIMIT = 1.1
_RESAMPLES = 2000

Results = dict[tuple[Workload, Setup], list[Run]]


def workloads(quick: bool) -> list[Workload]:
    """List what is measured, with how many calls a run."""
    loads = [Workload(program, "publish", 30_000) for program in ("rclpy", "rcl")]
    loads += [Workload(program, "heard", 1_000) for program in ("rclpy", "rcl")]
    loads += [Workload("rclpy", "ping", 3_000, transport) for transport in ("shm", "udp")]
    loads += [Workload("rclpy", "ping", 3_000, shared=True)]
    # More: until the buffers were full once, writing to a new page of them costs a page fault.
    loads += [Workload("rcl", "ping", 15_000), Workload("rcl", "ping", 15_000, shared=True)]
    return [replace(load, count=load.count // 10) for load in loads] if quick else loads


def measured(bench: Bench, loads: list[Workload], rounds: int, seed: int) -> Results:
    """Run everything, interleaved."""
    shuffler = random.Random(seed)
    results: Results = defaultdict(list)
    for number in range(rounds):
        sys.stderr.write(f"{bench.ros.distro}: round {number + 1} of {rounds}\n")
        for workload in loads:
            setups = workload.setups
            shuffler.shuffle(setups)
            for setup in setups:
                results[workload, setup].append(bench.run(setup, workload))
    return dict(results)


# --- figures -------------------------------------------------------------------------------------


def measured_loads(results: Results) -> list[Workload]:
    """List the workloads that were run, in order."""
    return list(dict.fromkeys(load for load, _ in results))


def in_short(results: Results) -> list[Workload]:
    """Leave out workloads whose events are those of another."""
    loads = measured_loads(results)
    return [load for load in loads if load.transport == "shm" and not load.shared]


def p50_of(runs: Sequence[Run]) -> float:
    """Return the median of the rounds' p50, in nanoseconds."""
    return statistics.median(run.p50_ns for run in runs)


def interval(runs: Sequence[Run], stock: Sequence[Run], seed: int) -> tuple[float, float]:
    """Return where 95 % of the ratios lie when whole rounds are drawn again."""
    drawer = random.Random(seed)
    rounds = range(len(runs))
    ratios = []
    for _ in range(_RESAMPLES):
        drawn = drawer.choices(rounds, k=len(runs))
        ratios.append(p50_of([runs[i] for i in drawn]) / p50_of([stock[i] for i in drawn]))
    ratios.sort()
    return ratios[round(0.025 * _RESAMPLES)], ratios[round(0.975 * _RESAMPLES) - 1]


def ratio_cell(results: Results, workload: Workload, setup: Setup) -> str:
    """Write a ratio to stock with its interval."""
    if setup is STOCK:
        return "1"
    runs, stock = results[workload, setup], results[workload, STOCK]
    low, high = interval(runs, stock, seed=len(runs))
    return f"{p50_of(runs) / p50_of(stock):.2f} ({low:.2f} to {high:.2f})"


# --- tables --------------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def times_table(distro: str, results: Results, kind: str) -> str:
    """Write p50 and ratio by setup for a kind of workload, with and without Python."""
    loads = [load for load in measured_loads(results) if load.kind == kind]
    head = [f"{distro.capitalize()}: {kind}, µs"]
    for load in loads:
        head += [load.program, "of stock"]
    rows = []
    for setup in loads[0].setups:
        row = [setup.name]
        for load in loads:
            runs = results.get((load, setup))
            row.append(f"{p50_of(runs) / 1000:.2f}" if runs else "")
            row.append(ratio_cell(results, load, setup) if runs else "")
        rows.append(row)
    return table(head, rows)


def disk_table(distro: str, results: Results) -> str:
    """Write events and bytes a message for every recording."""
    head = [f"{distro.capitalize()}: per message", "events", "bytes", "ns per event"]
    recorded = [
        (load, setup)
        for load in in_short(results)
        for setup in (ROS2, FULL, RCLPY)
        if (load, setup) in results
    ]
    return table(head, [disk_row(results, load, setup) for load, setup in recorded])


def disk_row(results: Results, load: Workload, setup: Setup) -> list[str]:
    """Write one recording's row."""
    runs = results[load, setup]
    events = statistics.median(sum(run.events.values()) / run.messages for run in runs)
    size = statistics.median(run.trace_bytes / run.messages for run in runs)
    cells = [f"{load.program} {load.kind}, {setup.name}"]
    cells += [f"{events / load.legs:.1f}", f"{size / load.legs:.0f}"]
    if load.name != "publish":
        # Events of other threads are not all in the measured time.
        return [*cells, ""]
    added = p50_of(runs) - p50_of(results[load, LOADED if setup.hooks else PROVIDER])
    return [*cells, f"{added / events:.0f}"]


def events_line(results: Results, load: Workload) -> str:
    """Name the events of a message with everything on."""
    run = results[load, FULL][0]
    often = {name: count / run.messages / load.legs for name, count in run.events.items()}
    named = ", ".join(
        f"{name} {count:.1f}" for name, count in sorted(often.items()) if count > 0.05
    )
    return f"Events of a message, {load.program} {load.kind}: {named}."


def verdict(results: Results, load: Workload) -> str:
    """Tell whether the limit is kept with all on."""
    limit = ROUND_TRIP_LIMIT if load.name == "ping" else PUBLISH_LIMIT
    ratio = p50_of(results[load, FULL]) / p50_of(results[load, STOCK])
    kept = "kept" if ratio <= limit else "exceeded"
    return f"{load.program} {load.kind}: {ratio:.2f}; limit {limit}: {kept}."


def report(distro: str, results: Results) -> str:
    """Write everything about a distribution."""
    loads = measured_loads(results)
    clocks = {load.program: runs[0].clock_ns for (load, _), runs in results.items()}
    costs = ", ".join(f"{program} {cost:.0f} ns" for program, cost in clocks.items())
    taken = [run.others for runs in results.values() for run in runs]
    quiet = f"{statistics.median(taken):.0%} (median run) to {max(taken):.0%}"
    kinds = dict.fromkeys(load.kind for load in loads)
    parts = [times_table(distro, results, kind) for kind in kinds]
    parts += [disk_table(distro, results), f"Reading the clock (subtracted): {costs}."]
    parts += [f"Other programs took {quiet} of the CPUs.\n"]
    parts += [events_line(results, load) for load in in_short(results) if load.program == "rcl"]
    return "\n".join([*parts, "", *(verdict(results, load) for load in loads), ""])


def main() -> None:
    """Measure each distribution in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--distro", action="append", help="default: all that are built")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of a workload's name, as rcl-ping-udp")
    parser.add_argument("--quick", action="store_true", help="a tenth of the calls")
    given = parser.parse_args()
    loads = [
        load
        for load in workloads(given.quick)
        if given.only in f"{load.program}-{load.name}-{load.transport}{'-shared' * load.shared}"
    ]
    for distro in given.distro or distros():
        home = Path(tempfile.mkdtemp(prefix="dp", dir="/tmp"))
        lttng = Lttng(home)
        try:
            results = measured(Bench(Ros(distro), lttng), loads, given.rounds, given.seed)
        finally:
            lttng.close()
            shutil.rmtree(home)
        sys.stdout.write(report(distro, results) + "\n")


if __name__ == "__main__":
    main()
