# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata analyze`: where did the time go?"""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from strata.cli.chain import chain_option, declared_links, links_option, parse_chain
from strata.cli.output import (
    check_output,
    format_option,
    output_options,
    write_csv,
    write_json,
    write_output,
)
from strata.cli.progress import decoding_progress, make_results
from strata.cli.quantiles import quantiles_option
from strata.cli.selection import processes_option
from strata.schema.tables import TABLES

if TYPE_CHECKING:
    from strata.analysis import Analysis

_TABLE_NAMES = [table.name for table in TABLES]


@click.command("analyze")
@click.argument("trace", type=click.Path(path_type=Path))
@format_option(["table", "json", "csv"], "json (docs/json.md) and csv for machines")
@click.option(
    "--table",
    "table_name",
    type=click.Choice(_TABLE_NAMES),
    help="With csv: print this declared table (docs/data-model.md) instead of the summary.",
)
@output_options
@chain_option
@links_option
@processes_option
@quantiles_option
@click.option("--all", "everything", is_flag=True, help="Show internal topics and every remark.")
def command(
    trace: Path,
    form: str,
    table_name: str | None,
    output: Path | None,
    chain: str | None,
    links_path: Path | None,
    quantiles: tuple[float, ...],
    *,
    all_processes: bool,
    force: bool,
    everything: bool,
) -> None:
    """Show in which layer the time of TRACE went.

    TRACE is a session of `strata record`, or any directory that `ros2 trace` or `lttng` wrote.
    """
    from strata import analyze

    if table_name and form != "csv":
        raise click.UsageError("--table needs --format csv")
    check_output(output, force=force)
    topics = parse_chain(chain) if chain is not None else None
    links = declared_links(links_path)
    with decoding_progress() as progress:
        analysis = analyze(
            trace,
            links=links,
            chain=topics,
            progress=progress,
            all_processes=all_processes,
            quantiles=quantiles,
        )
        make_results(analysis, table_name)
    write_output(
        output, lambda file: _write(analysis, form, table_name, file, everything=everything)
    )


def _write(
    analysis: Analysis, form: str, table_name: str | None, file: IO[str], *, everything: bool
) -> None:
    # Each form has modules of its own, of which the others have no need.
    if form == "table":
        from strata.cli.console import make_console
        from strata.show.terminal.analysis import print_analysis

        print_analysis(analysis, make_console(file), everything=everything)
    elif form == "json":
        from strata.show.document.analysis import document

        write_json(document(analysis), file)
    elif table_name:
        rows = analysis.rows(table_name)
        write_csv(rows.table.names, rows.lines(), file)
    else:
        from strata.show.document.rectangle import COLUMNS, rectangle

        write_csv(COLUMNS, rectangle(analysis), file)
