# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata convert`: the events of a trace as Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from strata.cli.progress import decoding_progress
from strata.errors import TraceError
from strata.nearest import did_you_mean
from strata.printable import printable

if TYPE_CHECKING:
    from strata.export.parquet import Written
    from strata.read import Trace


@click.command("convert")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write into this directory.  [default: `tables` in the session; NAME-tables beside "
    "a trace that is not in a session]",
)
@click.option(
    "--event",
    "events",
    multiple=True,
    metavar="EVENT",
    help="Write only this event. May be given several times.",
)
@click.option("--force", is_flag=True, help="Replace tables that were written before.")
def command(
    trace: Path,
    output: Path | None,
    events: tuple[str, ...],
    *,
    force: bool,
) -> None:
    """Write the events of TRACE as Parquet files, one per event type.

    pandas, polars, DuckDB and others read them. docs/events.md declares the columns. The tables of
    its analysis are written by `strata export --to parquet`.
    """
    from strata.export.target import check_target
    from strata.units import format_count

    target = output if output is not None else default_output(trace)
    if trace.is_dir():
        check_target(target, force=force)
    written = _write_events(trace, events, target, force=force)
    click.echo(
        f"Wrote {printable(str(written.directory))} ({written.rows:,} events in "
        f"{format_count(written.tables, 'table', 'tables')}, "
        f"{written.size / (1 << 20):.1f} MiB)"
    )


def _write_events(trace: Path, events: tuple[str, ...], target: Path, *, force: bool) -> Written:
    from strata.export.parquet import write_parquet
    from strata.read import open_trace
    from strata.read.decoder import Selection

    selection = Selection(events=frozenset(events) if events else None)
    with decoding_progress() as progress:
        opened = open_trace(trace, progress=progress)
        _require_declared(opened, events)
        written = write_parquet(opened, target, selection, force=force)
    _print_losses(opened)
    return written


def default_output(trace: Path) -> Path:
    """Return `tables` in the session that `trace` is or lies in; NAME-tables beside any other."""
    from strata.read.manifest import session_of

    session = session_of(trace)
    if session is not None:
        return session / "tables"
    # A name such as `.` has no other beside it.
    whole = trace.resolve()
    return whole.parent / f"{whole.name}-tables"


def _require_declared(trace: Trace, events: tuple[str, ...]) -> None:
    """Raise TraceError for an event that the trace cannot hold."""
    declared = trace.declared_events
    for event in events:
        if event in declared:
            continue
        near = did_you_mean(event, sorted(declared))
        raise TraceError(
            f"Cannot convert event {event!r}: it is none of the {len(declared)} that the metadata "
            f"of {trace.path} declare.{near or ' `strata info` lists the events.'}"
        )


def _print_losses(trace: Trace) -> None:
    for row in trace.findings.rows():
        if row["severity"] != "info":
            click.echo(f"{row['severity']}: {row['text']}", err=True)
    for loss in trace.losses:
        if loss.code == "unreadable_traces":
            click.echo(f"left out: {printable(loss.where)}", err=True)
