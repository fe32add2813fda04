# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata convert`: the events of a trace as Parquet."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

import click

from strata.cli.progress import decoding_progress
from strata.errors import TraceError
from strata.export.parquet import write_parquet
from strata.export.target import check_target
from strata.printable import printable
from strata.read import Trace, open_trace
from strata.read.decoder import Selection
from strata.read.manifest import session_of
from strata.units import format_count


@click.command("convert")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write into this directory; without it, `tables` in the session, or NAME-tables beside "
    "a trace that is no session.",
)
@click.option("--event", "events", multiple=True, help="Only this event; may be given again.")
@click.option("--force", is_flag=True, help="Replace tables that were written before.")
def command(trace: Path, output: Path | None, events: tuple[str, ...], *, force: bool) -> None:
    """Write the events of TRACE as Parquet files, one an event type.

    pandas, polars, DuckDB and others read them. docs/data-model.md declares the columns.
    """
    target = output if output is not None else default_output(trace)
    if trace.is_dir():
        check_target(target, force=force)
    selection = Selection(events=frozenset(events) if events else None)
    with decoding_progress() as progress:
        opened = open_trace(trace, progress=progress)
        _require_declared(opened, events)
        written = write_parquet(opened, target, selection, force=force)
    _print_losses(opened)
    click.echo(
        f"Wrote {printable(str(written.directory))} ({written.events:,} events in "
        f"{format_count(written.tables, 'table', 'tables')}, "
        f"{written.size / (1 << 20):.1f} MiB)"
    )


def default_output(trace: Path) -> Path:
    """Return `tables` in the session that `trace` is or lies in; NAME-tables beside any other."""
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
        near = get_close_matches(event, sorted(declared), n=3) or [
            name for name in sorted(declared) if event and event.lower() in name.lower()
        ]
        step = (
            f"Did you mean {' or '.join(near[:3])}?" if near else "`strata info` lists the events."
        )
        raise TraceError(
            f"Cannot convert event {event!r}: it is none of the {len(declared)} that the metadata "
            f"of {trace.path} declare. {step}"
        )


def _print_losses(trace: Trace) -> None:
    for row in trace.ledger.rows():
        if row["severity"] != "info":
            click.echo(f"{row['severity']}: {row['text']}", err=True)
    for loss in trace.losses:
        if loss.code == "unreadable_traces":
            click.echo(f"left out: {printable(loss.where)}", err=True)
