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
from strata.cli.program import called_as
from strata.cli.progress import decoding_progress, make_results
from strata.cli.quantiles import quantiles_option
from strata.cli.selection import processes_option
from strata.printable import path_text
from strata.schema.tables import TABLES
from strata.show.words.commands import Commands
from strata.show.words.sections import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from strata.analysis import Analysis


def section_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for each section."""
    for name, section in reversed(SECTIONS.items()):
        command = click.option(f"--{name}", name, is_flag=True, help=section.help)(command)
    return command


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
@section_options
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Every section, with every chain and with internal topics.",
)
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
    **chosen: bool,
) -> None:
    """Show in which layer the time of TRACE went, on one screen.

    Options such as --layers and --hops print sections below it, in full; several can be combined.
    TRACE is a session of `strata record`, or any directory that `ros2 trace` or `lttng` wrote.
    """
    from strata import analyze

    if form != "table" and any(chosen.values()):
        raise click.UsageError("sections such as --layers are of --format table")
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
    commands = Commands(
        path_text(trace),
        path_text(links_path) if links_path is not None else None,
        all_processes,
        called_as(),
    )
    sections = [name for name, asked in chosen.items() if asked]

    def write(file: IO[str]) -> None:
        if form == "table":
            _print(analysis, file, commands, sections, everything=everything)
        else:
            _write(analysis, form, table_name, file)

    write_output(output, write)


def _print(
    analysis: Analysis,
    file: IO[str],
    commands: Commands,
    sections: list[str],
    *,
    everything: bool,
) -> None:
    from strata.cli.console import make_console
    from strata.show.terminal.analysis import print_analysis

    print_analysis(
        analysis,
        make_console(file),
        sections=sections,
        everything=everything,
        commands=commands,
    )


def _write(analysis: Analysis, form: str, table_name: str | None, file: IO[str]) -> None:
    # Each form has modules of its own, of which the others have no need.
    if form == "json":
        from strata.show.document.analysis import document

        write_json(document(analysis), file)
    elif table_name:
        rows = analysis.rows(table_name)
        write_csv(rows.table.names, rows.lines(), file)
    else:
        from strata.show.document.rectangle import COLUMNS, rectangle

        write_csv(COLUMNS, rectangle(analysis), file)
