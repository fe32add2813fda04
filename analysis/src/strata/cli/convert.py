# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata convert`: the events of a trace as Parquet."""

from __future__ import annotations

from pathlib import Path

import click

from strata.cli.progress import decoding_progress
from strata.export.parquet import check_target, write_parquet
from strata.read import open_trace
from strata.read.decoder import Selection


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
        written = write_parquet(opened, target, selection, force=force)
    click.echo(
        f"Wrote {written.directory} ({written.events:,} events in {written.tables} tables, "
        f"{written.size / (1 << 20):.1f} MiB)"
    )
    for row in opened.ledger.rows():
        if row["severity"] != "info":
            click.echo(f"{row['severity']}: {row['text']}", err=True)


def default_output(trace: Path) -> Path:
    """Return `tables` in a session; a directory beside a trace that is none."""
    if (trace / "manifest.json").is_file():
        return trace / "tables"
    whole = trace.resolve()
    return trace.parent / f"{whole.name}-tables"
