# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What an analysis costs, whole processes, beside babeltrace2's dummy sink on the same traces.

usage: bench_analysis.py [--events N ...] [--only PART ...] [--against COMMAND ...] [--write PAGE]

CPU time (user and system) and peak memory of `strata analyze` and of its rivals, pair by pair: in
each round every program runs on every trace, next to each other and in turns, so that load of other
programs falls on both. A figure is the median of the rounds; a ratio is the median of the ratios of
the pairs, with the interval in which the true median lies in 9 of 10 such runs, or of all pairs
where they are too few for that (under 5).
"""

from __future__ import annotations

import math
import resource
import shlex
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import click
from bench_processes import HERE, STRATA, Cost, run
from load_traces import Trace, Traces

sys.path.insert(0, str(HERE.parents[1] / "tracing_ws/src"))

from others import Others

DUMMY = "babeltrace2, dummy sink"
ANALYZE = "strata analyze"
IN_MEMORY = "strata analyze, rows in memory"
PYTHON = "python3 -c pass"
HELP = "strata --help"
REPORT = "strata campaign report"
PARTS = ("chains", "executor", "reference", "start", "campaign", "stages")
CONFIDENCE = 0.9
QUICK_EVENTS = 200_000
"""Traces of fewer events are measured QUICK_TIMES as often: load of others counts more there."""
QUICK_TIMES = 3
LARGE_EVENTS = 20_000_000
"""Traces of more events are measured in the first LARGE_ROUNDS rounds only, without rivals."""
LARGE_ROUNDS = 2


@dataclass(frozen=True)
class Program:
    """A command that is measured; {trace} in it is the trace's directory."""

    label: str
    command: tuple[str, ...]

    def run(self, trace: Path | None) -> Cost:
        """Run it once."""
        return run([part.replace("{trace}", str(trace)) for part in self.command])


@dataclass
class Pairs:
    """What some programs cost that ran in turns, round by round.

    `times` is how often they run in a round, `rounds` how many rounds there are at most. `trace` is
    null where they read none.
    """

    programs: Sequence[Program]
    trace: Trace | None = None
    times: int = 1
    rounds: int | None = None
    costs: dict[str, list[Cost]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name what is measured."""
        return self.trace.label if self.trace else self.programs[-1].label

    def run_round(self, number: int) -> None:
        """Run each program; another one begins each time."""
        if self.rounds is not None and number >= self.rounds:
            return
        note(f"round {number + 1}: {self.label}")
        for turn in range(number * self.times, (number + 1) * self.times):
            first = turn % len(self.programs)
            for program in (*self.programs[first:], *self.programs[:first]):
                cost = program.run(self.trace.directory if self.trace else None)
                self.costs.setdefault(program.label, []).append(cost)

    def cpu_s(self, label: str) -> float:
        """Return the median of the CPU time."""
        return statistics.median(cost.cpu_s for cost in self.costs[label])

    def system_s(self, label: str) -> float:
        """Return the median of the kernel's part of it."""
        return statistics.median(cost.system_s for cost in self.costs[label])

    def peak_bytes(self, label: str) -> int:
        """Return the largest peak memory of all runs."""
        return max(cost.peak_bytes for cost in self.costs[label])

    def ratio(self, label: str, to: str) -> Ratio:
        """Return the CPU time of a program, in terms of another's."""
        pairs = zip(self.costs[label], self.costs[to], strict=True)
        return median_ratio([mine.cpu_s / theirs.cpu_s for mine, theirs in pairs])


@dataclass(frozen=True)
class Ratio:
    """A median, and the interval around it."""

    median: float
    low: float
    high: float


def median_ratio(ratios: Sequence[float]) -> Ratio:
    """Return the median of ratios, with the narrowest interval of two of them for CONFIDENCE.

    Of n values the true median lies outside of the k-th lowest and highest with the probability
    that fewer than k of n coins show heads, twice. All values where even that is too likely.
    """
    ordered = sorted(ratios)
    count, outside, k = len(ordered), 0.0, 0
    while k < count // 2:
        outside += 2 * math.comb(count, k) / 2**count
        if outside > 1 - CONFIDENCE:
            break
        k += 1
    k = max(k, 1)
    return Ratio(statistics.median(ordered), ordered[k - 1], ordered[-k])


@dataclass
class Results:
    """All that one run of the benchmark measured.

    `chains`, `traces` (chains among them) and `small` are traces; `starts` and `campaign` none.
    `stages` are seconds by stage, by a trace's label. `others` is the share of the CPUs' time that
    other programs took; `own_peak_bytes` is this process's memory, which every program inherits as
    its least peak.
    """

    command: str
    date: str
    rounds: int
    against: Sequence[str] = ()
    traces: list[Pairs] = field(default_factory=list)
    starts: list[Pairs] = field(default_factory=list)
    campaign: Pairs | None = None
    cells: int = 0
    stages: dict[str, dict[str, float]] = field(default_factory=dict)
    others: float = 0.0
    own_peak_bytes: int = 0

    @property
    def chains(self) -> list[Pairs]:
        """The traces of relay chains, the smallest first."""
        found = [pairs for pairs in self.traces if pairs.trace and pairs.trace.is_chains]
        return sorted(found, key=lambda pairs: pairs.trace.events if pairs.trace else 0)

    @property
    def all_pairs(self) -> list[Pairs]:
        """All that is measured in rounds."""
        return [*self.traces, *self.starts, *([self.campaign] if self.campaign else [])]


def growth(small: Pairs, large: Pairs, label: str) -> Ratio:
    """Return what an event costs in a large trace, in terms of a small one, round by round."""
    assert small.trace and large.trace
    factor = small.trace.events / large.trace.events
    pairs = zip(small.costs[label], large.costs[label], strict=False)
    return median_ratio([more.cpu_s / less.cpu_s * factor for less, more in pairs])


def note(text: str) -> None:
    """Say what goes on."""
    click.echo(f"{text} ...", err=True)


def parse_rival(text: str) -> Program:
    """Read NAME=COMMAND, or a command that is named after its program."""
    name, equals, command = text.partition("=")
    if not equals or " " in name or "/" in name:
        name, command = "", text
    parts = tuple(shlex.split(command))
    if not any("{trace}" in part for part in parts):
        raise click.ClickException(f"Cannot measure `{text}`: it has no {{trace}} in it.")
    if shutil.which(parts[0]) is None:
        raise click.ClickException(f"Cannot measure `{text}`: {parts[0]} is not found.")
    return Program(name or Path(parts[0]).name, parts)


def of_trace(trace: Trace, rivals: Sequence[Program], memory: str | None = None) -> Pairs:
    """Return what is measured of a trace, also with a bound of memory for its rows."""
    is_large = trace.events > LARGE_EVENTS
    programs = [
        Program(DUMMY, ("babeltrace2", "-o", "dummy", "{trace}")),
        Program(ANALYZE, (STRATA, "analyze", "{trace}")),
        *(() if is_large else rivals),
    ]
    if memory:
        bounded = ("env", f"STRATA_MEMORY={memory}", STRATA, "analyze", "{trace}")
        programs.append(Program(IN_MEMORY, bounded))
    times = QUICK_TIMES if trace.events < QUICK_EVENTS else 1
    return Pairs(programs, trace, times, LARGE_ROUNDS if is_large else None)


def of_start() -> Pairs:
    """Return what is measured of the command line that has nothing to do."""
    python = Program(PYTHON, (sys.executable, "-c", "pass"))
    return Pairs([python, Program(HELP, (STRATA, "--help"))], times=QUICK_TIMES)


def of_campaign(place: Path, least: int) -> tuple[Pairs, int]:
    """Make a campaign; return what is measured of its report, and how many cells it has."""
    note(f"making a campaign of {least} cells")
    made = place / "campaign"
    run([sys.executable, HERE / "campaign_load.py", "--cells", str(least), "-o", made])
    report = (STRATA, "campaign", "report", str(made), "-o", str(place / "report.html"), "--force")
    cells = sum(1 for _ in (made / "cells").rglob("cell.json"))
    return Pairs([Program(REPORT, report)], rounds=1), cells


def measure_stages(results: Results) -> None:
    """Measure once in which part of Strata the time goes, but of traces that take minutes."""
    for pairs in results.traces:
        assert pairs.trace
        if pairs.trace.events > LARGE_EVENTS:
            continue
        note(f"stages: {pairs.label}")
        command = [sys.executable, HERE / "bench_stages.py", pairs.trace.directory]
        results.stages[pairs.label] = run(command, keep_output=True).printed


def command_line(options: dict[str, object]) -> str:
    """Return the command that measures the same; where traces and rivals are is not said."""
    given = [
        f"--{name} {one}"
        for name, value in options.items()
        if value is not None
        for one in (value if isinstance(value, tuple) else (value,))
    ]
    return " ".join(["analysis/benchmarks/bench_analysis.py", *given])


@click.command(help=__doc__, context_settings={"max_content_width": 100})
@click.option("--events", multiple=True, type=click.IntRange(10_000), help="Of relay chains.")
@click.option("--executor-events", type=click.IntRange(10_000), default=7_000_000)
@click.option("--memory", help="Measure relay chains with this bound (STRATA_MEMORY), too.")
@click.option("--cells", type=click.IntRange(1), default=700, help="Of the campaign.")
@click.option("--only", multiple=True, type=click.Choice(PARTS), help="Measure these parts only.")
@click.option("--traces", type=click.Path(path_type=Path), help="Traces that are there are used.")
@click.option("--keep", is_flag=True, help="Record traces that are missing into --traces.")
@click.option("--against", multiple=True, help="[NAME=]COMMAND with {trace} in it; timed, too.")
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--write", type=click.Path(path_type=Path), help="Write a page there, in Markdown.")
def main(
    events: tuple[int, ...],
    executor_events: int,
    memory: str | None,
    cells: int,
    only: tuple[str, ...],
    traces: Path | None,
    against: tuple[str, ...],
    rounds: int,
    write: Path | None,
    *,
    keep: bool,
) -> None:
    """Measure, print and write."""
    if shutil.which("babeltrace2") is None:
        raise click.ClickException("babeltrace2 not found. Run make setup.")
    if keep and traces is None:
        raise click.UsageError("--keep needs --traces.")
    rivals = [parse_rival(text) for text in against]
    sizes = sorted(events) or [1_000_000, 10_000_000]
    parts = set(only or PARTS)
    options: dict[str, object] = {"events": tuple(sizes), "executor-events": executor_events}
    options |= {"memory": memory, "cells": cells, "only": only, "rounds": rounds}
    results = Results(
        command=command_line(options),
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        rounds=rounds,
        against=[program.label for program in rivals],
    )
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench_analysis_")))
        known = Traces(place, traces, keep=keep, note=note)
        if "chains" in parts:
            results.traces += [of_trace(known.chains(count), rivals, memory) for count in sizes]
        if "executor" in parts:
            results.traces.append(of_trace(known.executor(executor_events), rivals))
        if "reference" in parts:
            results.traces.append(
                of_trace(known.sample("ref_multi_full", "reference system"), rivals)
            )
        if "start" in parts:
            results.traces.append(of_trace(known.sample("ros2trace_chain", "small chain"), []))
            results.starts.append(of_start())
        if "campaign" in parts:
            results.campaign, results.cells = of_campaign(place, cells)
        others = Others()
        for number in range(rounds):
            for pairs in results.all_pairs:
                pairs.run_round(number)
        results.others = others.share()
        results.own_peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        if "stages" in parts:
            measure_stages(results)
    # It imports Rich, and a process inherits the peak memory of the one that started it.
    from bench_analysis_page import markdown, print_tables

    print_tables(results)
    if write is not None:
        write.write_text(markdown(results), encoding="utf-8")
        click.echo(f"Wrote {write}", err=True)


if __name__ == "__main__":
    main()
