# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What bench_analysis.py found, as tables for a terminal and as docs/analysis-speed.md."""

from __future__ import annotations

from collections.abc import Sequence

from bench_analysis import (
    ANALYZE,
    DUMMY,
    HELP,
    IN_MEMORY,
    LARGE_EVENTS,
    LARGE_ROUNDS,
    PYTHON,
    QUICK_EVENTS,
    QUICK_TIMES,
    REPORT,
    Pairs,
    Ratio,
    Results,
    growth,
)
from bench_page import machine as machine_text
from bench_page import markdown_table, show, wrapped
from rich.console import Console

_MIB = 1 << 20
_WIDTH = 120
LEAST_SHARE = 0.01
"""Stages below this share in every trace are put together."""
REST = "the rest"

Cells = list[list[str]]

TRACE_HEAD = [
    "trace",
    "events",
    "dummy, CPU s",
    "analyze, CPU s",
    "of it system",
    "analyze / dummy",
    "ns per event",
    "dummy, peak MiB",
    "analyze, peak MiB",
]
RIVAL_HEAD = ["trace", "rival", "CPU s", "peak MiB", "rival / dummy", "analyze / rival"]
GROWTH_HEAD = ["command", "events", "ns per event", "in terms of the smallest", "peak MiB"]
START_HEAD = ["command", "CPU s", "in terms of python3 -c pass", "peak MiB"]
CAMPAIGN_HEAD = ["command", "cells", "CPU s", "peak MiB"]


def ratio_text(ratio: Ratio) -> str:
    """Return a ratio with its interval."""
    return f"{ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"


def _mib(size: int) -> str:
    return f"{size / _MIB:.0f}"


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.2f}"


def trace_cells(results: Results) -> Cells:
    """Return a trace's figures in each row."""
    cells = []
    for pairs in results.traces:
        assert pairs.trace
        cpu_s = pairs.cpu_s(ANALYZE)
        cells.append(
            [
                pairs.label,
                f"{pairs.trace.events:,}",
                _seconds(pairs.cpu_s(DUMMY)),
                _seconds(cpu_s),
                _seconds(pairs.system_s(ANALYZE)),
                ratio_text(pairs.ratio(ANALYZE, DUMMY)),
                f"{1e9 * cpu_s / pairs.trace.events:.0f}",
                _mib(pairs.peak_bytes(DUMMY)),
                _mib(pairs.peak_bytes(ANALYZE)),
            ]
        )
    return cells


def rival_cells(results: Results) -> Cells:
    """Return a rival's figures for a trace in each row."""
    return [
        [
            pairs.label,
            label,
            _seconds(pairs.cpu_s(label)),
            _mib(pairs.peak_bytes(label)),
            ratio_text(pairs.ratio(label, DUMMY)),
            ratio_text(pairs.ratio(ANALYZE, label)),
        ]
        for pairs in results.traces
        for label in results.against
        if label in pairs.costs
    ]


def growth_cells(results: Results) -> Cells:
    """Return the cost of an event in each size of relay chains, by the bound of memory."""
    return [
        _growth_row(results.chains[0], pairs, label)
        for label in (ANALYZE, IN_MEMORY)
        for pairs in results.chains
        if label in pairs.costs
    ]


def _growth_row(smallest: Pairs, pairs: Pairs, label: str) -> list[str]:
    assert pairs.trace
    cost = 1e9 * pairs.cpu_s(label) / pairs.trace.events
    ratio = "1" if pairs is smallest else ratio_text(growth(smallest, pairs, label))
    return [label, f"{pairs.trace.events:,}", f"{cost:.0f}", ratio, _mib(pairs.peak_bytes(label))]


def start_cells(results: Results) -> Cells:
    """Return what the command line costs that has nothing to do."""
    cells = []
    for pairs in results.starts:
        for label in (PYTHON, HELP):
            told = "1" if label == PYTHON else ratio_text(pairs.ratio(label, PYTHON))
            cells.append([label, _seconds(pairs.cpu_s(label)), told, _mib(pairs.peak_bytes(label))])
    return cells


def campaign_cells(results: Results) -> Cells:
    """Return what a campaign's report costs."""
    pairs = results.campaign
    if pairs is None:
        return []
    peak = _mib(pairs.peak_bytes(REPORT))
    return [[REPORT, f"{results.cells}", _seconds(pairs.cpu_s(REPORT)), peak]]


def stage_head(results: Results) -> list[str]:
    """Return the head of the table of stages: the traces."""
    return ["part", *results.stages]


def stage_cells(results: Results) -> Cells:
    """Return seconds and share of each stage, in the order of the time in the traces together."""
    sums = {label: sum(stages.values()) for label, stages in results.stages.items()}
    shares: dict[str, dict[str, float]] = {}
    for label, stages in results.stages.items():
        for stage, seconds in stages.items():
            shares.setdefault(stage, dict.fromkeys(sums, 0.0))[label] = seconds / sums[label]
    named = [stage for stage, found in shares.items() if max(found.values()) >= LEAST_SHARE]
    named.sort(key=lambda stage: -sum(shares[stage].values()))
    cells = [_stage_row(stage, shares[stage], sums) for stage in named]
    rest = {
        label: sum(found[label] for stage, found in shares.items() if stage not in named)
        for label in sums
    }
    return [*cells, _stage_row(REST, rest, sums), ["sum", *map(_seconds, sums.values())]]


def _stage_row(name: str, shares: dict[str, float], sums: dict[str, float]) -> list[str]:
    return [
        name,
        *(f"{_seconds(share * sums[label])} ({share:.0%})" for label, share in shares.items()),
    ]


def sections(results: Results) -> list[tuple[str, str, Sequence[str], Cells]]:
    """Return title, text, head and cells of each table that has any."""
    found = [
        ("Beside babeltrace2", _TRACES, TRACE_HEAD, trace_cells(results)),
        ("Beside others", _RIVALS, RIVAL_HEAD, rival_cells(results)),
        ("As traces grow", _GROWTH, GROWTH_HEAD, growth_cells(results)),
        ("Nothing to do", _START, START_HEAD, start_cells(results)),
        ("A campaign", _CAMPAIGN, CAMPAIGN_HEAD, campaign_cells(results)),
    ]
    if results.stages:
        found.append(("Where the time goes", _STAGES, stage_head(results), stage_cells(results)))
    return [section for section in found if section[3]]


def print_tables(results: Results) -> None:
    """Show the tables in a terminal."""
    console = Console()
    console.width = max(_WIDTH, console.width)
    for title, _, head, cells in sections(results):
        show(console, title, list(head), cells)
    console.print(others_line(results))


def others_line(results: Results) -> str:
    """Say what other programs took, and below what peak nothing is known."""
    return (
        f"Other programs took {results.others:.0%} of the CPUs meanwhile. Peaks below"
        f" {_mib(results.own_peak_bytes)} MiB are not seen: that is the memory of the benchmark."
    )


def markdown(results: Results) -> str:
    """Return docs/analysis-speed.md."""
    parts = [introduction(results.command, results.rounds)]
    parts.append(f"{machine_text()} {results.date}. {others_line(results)}")
    for title, text, head, cells in sections(results):
        parts += [f"## {title}", text, markdown_table(list(head), cells)]
    return "\n\n".join(wrapped(part) for part in parts) + "\n"


def introduction(command: str, rounds: int) -> str:
    """Return the page before what depends on the machine."""
    return wrapped(
        _INTRODUCTION.format(
            command=command,
            rounds=rounds,
            quick_events=f"{QUICK_EVENTS:,}",
            quick_times=QUICK_TIMES,
            large_events=f"{LARGE_EVENTS:,}",
            large_rounds=LARGE_ROUNDS,
        )
    )


_INTRODUCTION = """\
<!-- Generated by analysis/benchmarks/bench_analysis.py. Do not edit. -->

# What an analysis costs

`make bench` measures your machine; trust ratios more than figures. This page is of one run of:

    python {command} --write docs/analysis-speed.md

Every figure is of a whole process, with its start, imports and output (to /dev/null): CPU time
(user and system) and peak resident memory. In each of {rounds} rounds every program runs on every
trace, one next to the other and in turns, so that load of other programs falls on both; on traces
of fewer than {quick_events} events {quick_times} times a round, on those of more than
{large_events} in {large_rounds} rounds only, and neither rivals nor stages. CPU time is the median,
memory the most of all runs. A ratio is the median of the pairs' ratios, and in brackets is the
interval in which the true median lies in 9 of 10 such runs (of all pairs where they are fewer than
5)."""

_TRACES = """\
*dummy* is `babeltrace2 -o dummy`, which decodes every event, orders them by time and drops them.
*of it system* is the kernel's part, mostly for pages of memory that are touched first.
*relay chains* are dense with messages: four threads, each a chain of three relays
(`analysis/benchmarks/chain_load.c`). *spinning executor* is a MultiThreadedExecutor of four threads
of which one spins while a callback excludes others that are ready
(`analysis/benchmarks/executor_load.c`): almost all events are waits that found nothing to run. Both
are recorded by LTTng from programs that emit what rclcpp emits. *reference system* and *small
chain* are the samples `ref_multi_full` and `ros2trace_chain` of the tests."""

_RIVALS = """\
Other programs that read the same traces, given by `--against`. Where the last column is above 1,
Strata takes more."""

_GROWTH = """\
What `strata analyze` costs on relay chains of some sizes. The smallest has much of the start in it.
Rows beyond 512 MiB are written to a file (`docs/engine.md`, Memory), which costs time in the
kernel; *rows in memory* has the bound that `--memory` gave: where the peak is below it, nothing is
written."""

_START = "What every command costs before it does anything."

_CAMPAIGN = """\
The page of the campaign `relay` with many repetitions. Each cell has the session of the sample
`cell_relay`, which was measured before; one run."""

_STAGES = """\
CPU time of `strata analyze` by the package of Strata that runs (`src/strata/...`), seen every
4 ms, in a run of its own: native functions and libraries count for the package that calls them.
*start* is the interpreter, *imports* are those of all modules, wherever they come from."""
