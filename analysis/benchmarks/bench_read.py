# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How fast traces are read: Strata, babeltrace2, its Python bindings, and the memory's limit.

usage: bench_read.py [--events N ...] [--trace DIR ...] [--large N] [--write PAGE]
Records traces with record_load.py (or takes recorded ones) and measures every reader in a process
of its own, the best of some rounds by CPU time, so that other load counts little.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click
from bench_page import QUICK_FACTOR, Floor, Large, Results, TraceFigures, markdown, print_tables
from bench_processes import STRATA, Cost, Row, best, row, run, run_reader, scaled
from record_load import record

DICTS = "bt2 Python to dicts"


@dataclass(frozen=True)
class Bench:
    """Where the benchmark writes, and how often it measures."""

    directory: Path
    rounds: int

    def repeat(self, measure: Callable[[], Cost]) -> Cost:
        """Return the best of some runs: of more where a run is short and other load counts much."""
        costs = [measure()]
        rounds = self.rounds * QUICK_FACTOR if costs[0].cpu_s < 1 else self.rounds
        costs += [measure() for _ in range(rounds - 1)]
        return best(costs)

    def repeat_reader(self, name: str, trace: Path) -> Cost:
        """Return the best run of a reader of bench_readers.py."""
        return self.repeat(lambda: run_reader(name, trace))

    def repeat_command(self, *command: str | Path) -> Cost:
        """Return the best run of a command."""
        return self.repeat(lambda: run(command))

    @contextmanager
    def recorded(self, events: int) -> Iterator[Path]:
        """Record a trace without losses, and remove it afterwards."""
        directory = self.directory / f"load_{events}"
        # A rate at which a busy machine loses nothing comes last.
        for rate in (50_000, 25_000, 10_000):
            note(f"recording {events:,} events")
            recording = record(directory, [f"--events={events}", f"--rate={rate}"])
            if not recording.discarded:
                break
            shutil.rmtree(directory)
        else:
            raise click.ClickException(f"Cannot record {events:,} events without losing some.")
        try:
            yield directory
        finally:
            shutil.rmtree(directory)

    def convert(self, trace: Path) -> Cost:
        """Convert a trace to Parquet, into a directory that is removed."""
        target = self.directory / "tables"
        try:
            return run([STRATA, "convert", trace, "-o", target])
        finally:
            shutil.rmtree(target, ignore_errors=True)

    def measure_parquet(self, trace: Path) -> Cost:
        """Read the tables back that a conversion wrote."""
        target = self.directory / "tables"
        try:
            run([STRATA, "convert", trace, "-o", target])
            return self.repeat_reader("parquet", target)
        finally:
            shutil.rmtree(target, ignore_errors=True)

    def measure_dicts(self, trace: Path) -> Row:
        """Measure bt2's Python, once: it is slow."""
        note(f"reading {trace.name}: {DICTS}")
        cost = run_reader("dicts", trace)
        return row(DICTS, int(cost.printed["events"]), cost)

    def measure(self, trace: Path, dicts: Row) -> TraceFigures:
        """Measure all readers of a trace; `dicts` may have been measured on another one."""
        note(f"reading {trace.name}: Strata")
        chunks = self.repeat_reader("chunks", trace)
        tables = self.repeat_reader("tables", trace)
        events = int(tables.printed["events"])
        note(f"reading {trace.name}: babeltrace2")
        dummy = self.repeat_command("babeltrace2", trace, "-o", "dummy")
        text = run(["babeltrace2", trace])
        if dicts.events != events:
            dicts = scaled(f"{DICTS} (scaled from {dicts.events:,})", events, dicts)
        parquet = self.measure_parquet(trace)
        note(f"reading {trace.name}: whole processes")
        convert = self.repeat(lambda: self.convert(trace))
        analyze = self.repeat_command(STRATA, "analyze", trace)
        return TraceFigures(
            events=events,
            bytes_in=int(tables.printed["bytes_in"]),
            bytes_out=int(tables.printed["bytes_out"]),
            chunks=row("Strata, columns in chunks", events, chunks),
            tables=row("Strata, whole tables", events, tables),
            dummy=row("babeltrace2, dummy sink", events, dummy),
            text=row("babeltrace2, text to /dev/null", events, text),
            dicts=dicts,
            parquet=row("pyarrow, the tables as Parquet", events, parquet),
            convert=row("strata convert (Parquet)", events, convert),
            analyze=row("strata analyze", events, analyze),
        )

    def measure_floor(self, trace: Path) -> Floor:
        """Compare decoding one stream with moving its bytes through the memory."""
        note("reading one stream, and the memory")
        single = self.directory / "one_stream"
        single_stream(trace, single)
        rates = run_reader("memory", single).printed
        # Fresh memory is that of a process that has just begun.
        tables = self.repeat_reader("tables", single).printed
        again = self.repeat_reader("again", single).printed
        shutil.rmtree(single)
        return Floor(
            rates=rates,
            events=int(tables["events"]),
            bytes_in=int(tables["bytes_in"]),
            bytes_out=int(tables["bytes_out"]),
            fresh_s=tables["cpu_s"],
            reused_s=again["cpu_s"],
        )

    def measure_large(self, events: int) -> Large:
        """Convert a large trace once."""
        with self.recorded(events) as trace:
            note(f"converting {events:,} events")
            return Large(events, self.convert(trace))


@dataclass
class Progress:
    """What was measured so far; bt2's Python reads the smallest trace only."""

    figures: list[TraceFigures] = field(default_factory=list)
    dicts: Row | None = None
    floor: Floor | None = None

    def add(self, bench: Bench, trace: Path) -> None:
        """Measure a trace, and the floor with it: that of the last, the largest one, counts."""
        if self.dicts is None:
            self.dicts = bench.measure_dicts(trace)
        self.figures.append(bench.measure(trace, self.dicts))
        self.floor = bench.measure_floor(trace)


def note(text: str) -> None:
    """Tell what goes on."""
    click.echo(f"{text} ...", err=True)


def single_stream(trace: Path, target: Path) -> None:
    """Make a trace of the largest stream file of another one."""
    metadata = next(trace.rglob("metadata"), None)
    if metadata is None:
        raise click.ClickException(f"{trace} holds no trace.")
    files = [path for path in metadata.parent.iterdir() if path.is_file() and path != metadata]
    target.mkdir()
    for path in (metadata, max(files, key=lambda path: path.stat().st_size)):
        try:
            os.link(path, target / path.name)
        except OSError:
            shutil.copy(path, target)


def trace_size(trace: Path) -> int:
    """Return the bytes of all files of a trace."""
    return sum(path.stat().st_size for path in trace.rglob("*") if path.is_file())


def measure_all(
    bench: Bench, events: Sequence[int], traces: Sequence[Path], large: int | None, command: str
) -> Results:
    """Measure everything, the smallest trace first."""
    load = os.getloadavg()[0]
    progress = Progress()
    for trace in sorted(traces, key=trace_size):
        progress.add(bench, trace)
    for count in sorted(events):
        with bench.recorded(count) as trace:
            progress.add(bench, trace)
    assert progress.floor is not None
    return Results(
        figures=progress.figures,
        floor=progress.floor,
        large=bench.measure_large(large) if large else None,
        rounds=bench.rounds,
        command=command,
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        load=load,
    )


def command_line(
    events: Sequence[int], traces: Sequence[Path], large: int | None, rounds: int
) -> str:
    """Return the command that measures the same; where given traces are is not told."""
    parts = [f"--events {count}" for count in events]
    parts += ["--trace DIR" for _ in traces]
    parts += [f"--large {large}"] if large else []
    return " ".join(["analysis/benchmarks/bench_read.py", *parts, f"--rounds {rounds}"])


@click.command()
@click.option("--events", type=click.IntRange(10_000), multiple=True, help="Record this many.")
@click.option(
    "--trace",
    "traces",
    type=click.Path(path_type=Path, exists=True, file_okay=False, resolve_path=True),
    multiple=True,
    help="Read this trace (of record_load.py) too; without --events only this.",
)
@click.option("--large", type=click.IntRange(10_000), help="Also convert a trace of this size.")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--write", "page", type=click.Path(path_type=Path), help="Write a Markdown page.")
def main(
    events: tuple[int, ...],
    traces: tuple[Path, ...],
    large: int | None,
    rounds: int,
    page: Path | None,
) -> None:
    """Measure how fast traces are read."""
    if shutil.which("babeltrace2") is None:
        raise click.ClickException("babeltrace2 not found. Run make setup.")
    if not events and not traces:
        events = (1_000_000, 10_000_000)
    with tempfile.TemporaryDirectory(prefix="strata_read_") as directory:
        bench = Bench(Path(directory), rounds)
        command = command_line(events, traces, large, rounds)
        results = measure_all(bench, events, traces, large, command)
    print_tables(results)
    if page is not None:
        page.write_text(markdown(results), encoding="utf-8")
        click.echo(f"Wrote {page}")


if __name__ == "__main__":
    main()
