# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What bench_read.py found, as tables for a terminal and as docs/reading-speed.md."""

from __future__ import annotations

import os
import platform
import subprocess
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from bench_processes import Cost, Row
from rich.console import Console
from rich.table import Table

# A process that takes less than a second runs this many times as often.
QUICK_FACTOR = 5
_WIDTH = 100
_MIB = 1 << 20
_UNKNOWN = "-"

Cells = list[list[str]]


@dataclass(frozen=True)
class TraceFigures:
    """Every reader's figures for one trace."""

    events: int
    bytes_in: int
    bytes_out: int
    chunks: Row
    tables: Row
    dummy: Row
    text: Row
    dicts: Row
    parquet: Row
    convert: Row
    analyze: Row

    @property
    def rows(self) -> list[Row]:
        """The readers, and then whole processes."""
        readers = [self.chunks, self.tables, self.dummy, self.text, self.dicts, self.parquet]
        return [*readers, self.convert, self.analyze]


@dataclass(frozen=True)
class Floor:
    """One stream's decoding, and the time that its bytes take through the memory alone."""

    rates: dict[str, float]
    events: int
    bytes_in: int
    bytes_out: int
    fresh_s: float
    reused_s: float

    def least_ns(self, memory: str) -> float:
        """Return ns per event to read the trace and to write the columns into such memory."""
        seconds = self.bytes_in / self.rates["read"] + self.bytes_out / self.rates[memory]
        return seconds / self.events * 1e9

    def compared(self) -> Iterator[tuple[str, float, float]]:
        """Yield name, the floor and the decoder's time, in ns per event."""
        fresh = self.fresh_s / self.events * 1e9
        reused = self.reused_s / self.events * 1e9
        yield "whole tables, fresh memory", self.least_ns("fresh"), fresh
        yield "whole tables, fresh huge pages", self.least_ns("fresh_huge"), fresh
        yield "chunks, reused memory", self.least_ns("reused"), reused

    @property
    def parts(self) -> dict[str, float]:
        """The part of each floor that the decoder reaches, by the kind of memory."""
        kinds = ("fresh", "fresh_huge", "reused")
        rows = zip(kinds, self.compared(), strict=True)
        return {kind: least / taken for kind, (_, least, taken) in rows}

    @property
    def reached(self) -> float:
        """The part of the floor that whole tables reach, in memory as every program gets it."""
        return self.parts["fresh"]


@dataclass(frozen=True)
class Large:
    """The conversion of a large trace."""

    events: int
    cost: Cost


@dataclass(frozen=True)
class Results:
    """All that one run of the benchmark measured."""

    figures: list[TraceFigures]
    floor: Floor
    large: Large | None
    rounds: int
    command: str
    date: str
    load: float


def count_label(events: int) -> str:
    """Return a number of events for people: 1 M."""
    return f"{events / 1e6:.3g} M" if events >= 1_000_000 else f"{events / 1e3:.3g} k"


READER_HEAD = ["reader", "CPU s", "reading s", "wall s", "peak MiB", "M events/s", "x dummy"]


def reader_cells(figures: TraceFigures) -> Cells:
    """Return the cells of a trace's table."""
    return [
        [
            row.label,
            f"{row.cpu_s:.3g}",
            _number(row.reading_s, "{:.3g}"),
            _number(row.wall_s, "{:.3g}"),
            _number(row.peak_bytes and row.peak_bytes / _MIB, "{:.0f}"),
            f"{row.events / row.best_s / 1e6:.3g}",
            f"{figures.dummy.best_s / row.best_s:.2g}",
        ]
        for row in figures.rows
    ]


FLOOR_HEAD = ["one stream", "floor, ns per event", "decoder, ns per event", "floor / decoder"]


def floor_cells(floor: Floor) -> Cells:
    """Return the cells of the table of the floor."""
    return [
        [name, f"{least:.1f}", f"{taken:.1f}", f"{least / taken:.2f}"]
        for name, least, taken in floor.compared()
    ]


MEMORY_HEAD = ["memory", "GB/s"]
_MEMORY = {
    "copy": "copy (read + written)",
    "read": "read",
    "reused": "write, reused",
    "fresh": "write, fresh",
    "fresh_huge": "write, fresh huge pages",
}


def memory_cells(floor: Floor) -> Cells:
    """Return the cells of the table of the memory."""
    return [[label, f"{floor.rates[name] / 1e9:.1f}"] for name, label in _MEMORY.items()]


PROMISE_HEAD = ["promise", "trace", "measured", "kept"]


def promise_cells(results: Results) -> Cells:
    """Return what the project promises, and whether it was kept in this run."""
    largest = max(results.figures, key=lambda figures: figures.events)
    smallest = min(results.figures, key=lambda figures: figures.events)
    cells = _decoding_promises(largest)
    size = count_label(results.floor.events)
    name = "decode one stream at half of the floor of fresh memory, 4 KiB pages"
    cells.append(_promise(name, size, results.floor.reached, 0.5, ""))
    cells += _process_promises(smallest)
    name = "convert 50 M in < 1 GiB"
    if results.large is None:
        cells.append([name, _UNKNOWN, "not measured", _UNKNOWN])
    else:
        size = count_label(results.large.events)
        cell = _below(name, size, results.large.cost.peak_bytes, 1024)
        # A smaller trace proves nothing.
        cells.append(cell if results.large.events >= 50_000_000 else [*cell[:3], _UNKNOWN])
    return cells


def _decoding_promises(figures: TraceFigures) -> Cells:
    size = count_label(figures.events)
    decode = figures.chunks.best_s
    ratios = [
        ("decode >= 15 x babeltrace2's dummy", figures.dummy.best_s / decode, 15),
        ("decode >= 400 x bt2 Python to dicts", figures.dicts.best_s / decode, 400),
    ]
    return [_promise(name, size, ratio, least, " x") for name, ratio, least in ratios]


def _process_promises(figures: TraceFigures) -> Cells:
    size = count_label(figures.events)
    dicts = figures.dicts.best_s
    ratios = [
        ("convert, whole >= 40 x bt2 reading", dicts / figures.convert.cpu_s, 40),
        ("analyze, whole >= 15 x bt2 reading", dicts / figures.analyze.cpu_s, 15),
    ]
    cells = [_promise(name, size, ratio, least, " x") for name, ratio, least in ratios]
    cells.append(_below("analyze in < 600 MiB", size, figures.analyze.peak_bytes or 0, 600))
    return cells


def _promise(name: str, where: str, value: float, least: float, unit: str) -> list[str]:
    shown = f"{value:.2f}" if value < 10 else f"{value:.1f}"
    return [name, where, f"{shown}{unit}", "yes" if value >= least else "no"]


def _below(name: str, where: str, size: int, most_mib: int) -> list[str]:
    return [name, where, f"{size / _MIB:.0f} MiB", "yes" if size < most_mib * _MIB else "no"]


def _number(value: float | None, form: str) -> str:
    return _UNKNOWN if value is None else form.format(value)


def large_line(large: Large) -> str:
    """Return a sentence on the large conversion."""
    cost = large.cost
    return (
        f"strata convert of {count_label(large.events)} events: {cost.cpu_s:.1f} s of CPU time,"
        f" {cost.wall_s:.1f} s, at most {cost.peak_bytes / _MIB:.0f} MiB."
    )


def print_tables(results: Results) -> None:
    """Show the tables in a terminal."""
    console = Console()
    console.width = min(_WIDTH, console.width) if console.is_terminal else _WIDTH
    for figures in results.figures:
        show(console, f"{figures.events:,} events", READER_HEAD, reader_cells(figures))
    show(console, "Memory", MEMORY_HEAD, memory_cells(results.floor))
    show(console, "Floor", FLOOR_HEAD, floor_cells(results.floor))
    if results.large is not None:
        console.print(large_line(results.large))
    show(console, "Promises", PROMISE_HEAD, promise_cells(results))


def show(console: Console, title: str, head: list[str], cells: Cells) -> None:
    """Show a table in a terminal; columns of numbers are aligned to the right."""
    table = Table(title=title, title_justify="left")
    numbers = _number_columns(cells)
    for column, name in enumerate(head):
        table.add_column(name, justify="right" if column in numbers else "left")
    for cell in cells:
        table.add_row(*cell)
    console.print(table)


def _number_columns(cells: Cells) -> set[int]:
    columns = range(len(cells[0]))
    return {column for column in columns if all(cell[column][0] in "-0123456789" for cell in cells)}


def machine() -> str:
    """Describe the machine and the programs, in a sentence each."""
    model = "unknown CPU"
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    kernel = ".".join(platform.release().split(".")[:2])
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    found = subprocess.run(["babeltrace2", "--version"], capture_output=True, text=True).stdout
    babeltrace = found.splitlines()[0].split()[1] if found else "unknown"
    return (
        f"{model}, {os.cpu_count()} cores, {system}, Linux {kernel}. babeltrace2 {babeltrace},"
        f" Python {platform.python_version()}, pyarrow {version('pyarrow')},"
        f" NumPy {version('numpy')}."
    )


def markdown(results: Results) -> str:
    """Return docs/reading-speed.md."""
    parts = [
        _INTRODUCTION.format(machine=machine(), date=results.date, load=results.load),
        f"    python {results.command} --write docs/reading-speed.md",
        "## Promises",
        _PROMISES,
        markdown_table(PROMISE_HEAD, promise_cells(results)),
    ]
    parts += [
        "## Readers",
        _READERS.format(rounds=results.rounds, more=results.rounds * QUICK_FACTOR),
    ]
    for figures in results.figures:
        size = f"{figures.bytes_in / _MIB:.0f} MiB of events, {figures.bytes_out / _MIB:.0f} MiB"
        parts += [
            f"### {figures.events:,} events ({size} of columns)",
            markdown_table(READER_HEAD, reader_cells(figures)),
        ]
    if results.large is not None:
        parts += ["## A large trace", large_line(results.large)]
    floor = results.floor
    parts += [
        "## The floor",
        _FLOOR.format(
            events=floor.events,
            bytes_in=floor.bytes_in / floor.events,
            bytes_out=floor.bytes_out / floor.events,
        ),
        markdown_table(MEMORY_HEAD, memory_cells(floor)),
        markdown_table(FLOOR_HEAD, floor_cells(floor)),
        _FAR.format(**floor.parts),
    ]
    return "\n\n".join(wrapped(part) for part in parts) + "\n"


def wrapped(part: str) -> str:
    """Wrap paragraphs, now that the figures are in them; leave tables and code alone."""
    return "\n\n".join(
        text if text.startswith(("|", " ", "#", "<")) else textwrap.fill(text, _WIDTH)
        for text in part.split("\n\n")
    )


def markdown_table(head: list[str], cells: Cells) -> str:
    """Return a table in Markdown."""
    numbers = _number_columns(cells)
    rule = ["---:" if column in numbers else "---" for column in range(len(head))]
    lines = [" | ".join(line) for line in (head, rule, *cells)]
    return "\n".join(f"| {line} |" for line in lines)


_INTRODUCTION = """\
# Reading speed

How fast traces are read. `make bench` measures your machine; `bench_read.py --write` wrote this
page. Trust ratios more than figures.

{machine} {date}; the load average was {load:.1f} before. Every figure is of one run of:"""

_READERS = """\
Each reader ran in a process of its own; the run with the least CPU time (user and system) of
{rounds} counts, of {more} where a run took less than a second; babeltrace2's text and bt2's
Python ran once. "CPU" is the whole process, "reading" is what the process counts for reading
alone, the least of all runs, without starting Python and imports. Events a second and the ratio
to babeltrace2's dummy sink are by "reading", else by "CPU". The peak is resident memory. bt2's
dicts (name, time, contexts, payload; a list with one per event) are measured on the smallest trace;
"scaled" is its CPU time per event times the events."""

_PROMISES = """\
"Decode" is `Trace.chunks`, to columns in chunks, on the largest trace. "One stream" is decoded to
whole tables, and compared with the slowest of the three floors below, fresh memory in pages of
4 KiB. Decoding and bt2 are compared by the CPU time of reading alone; whole processes, on the
smallest trace, by all their CPU time, with the start of Python and its imports."""

_FLOOR = """\
No reader that makes these columns is faster than the memory: the trace's bytes have to be read
(here already in memory) and the columns' written. Compared on one stream file, {events:,} events
of {bytes_in:.1f} bytes, {bytes_out:.1f} in columns. Fresh memory comes from the kernel with its
first use, in pages of 4 KiB, or 2 MiB where a program asks for them; reused memory the process
had already."""

_FAR = """\
The decoder comes near the floor only where the kernel's work for fresh pages of 4 KiB is most of
it ({fresh:.2f}). Against huge pages ({fresh_huge:.2f}) and against reused memory
({reused:.2f}) it is far from the floor: there its own work takes the time, not the memory."""
