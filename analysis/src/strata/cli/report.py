# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata report`: the analysis of a trace as one HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from strata.cli.chain import chain_option, declared_links, links_option, parse_chain
from strata.cli.progress import WRITING, decoding_progress, make_results
from strata.cli.quantiles import quantiles_option
from strata.cli.selection import processes_option
from strata.errors import OutputError
from strata.printable import printable

_NAME = "report.html"


@click.command("report")
@click.argument("trace", metavar="TRACE_OR_SESSION", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"Write there; without it, {_NAME} in the session.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Overwrite the output file; a page of Strata's in the default place needs none.",
)
@chain_option
@links_option
@processes_option
@quantiles_option
def command(
    trace: Path,
    output: Path | None,
    chain: str | None,
    links_path: Path | None,
    quantiles: tuple[float, ...],
    *,
    all_processes: bool,
    force: bool,
) -> None:
    """Write one HTML page that shows in which layer the time of TRACE_OR_SESSION went.

    The page holds all that it needs and works without a network.
    """
    from strata import analyze
    from strata.cli.titles import title_of
    from strata.show.html import check_target, write_report
    from strata.show.terminal.findings import said_first

    target = output if output is not None else default_output(trace)
    if trace.is_dir():
        # Before the analysis, which takes long. What is wrong with the trace itself is its to say.
        check_target(target, force=force, replace_page=output is None)
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
        make_results(analysis)
        progress.stage(WRITING)
        written = write_report(
            analysis, target, title=title_of(trace), force=force, replace_page=output is None
        )
    for row in said_first(analysis.rows("quality").records()):
        click.echo(f"{row['severity']}: {printable(row['text'])}", err=True)
    click.echo(f"Wrote {printable(str(written))}")


def default_output(trace: Path) -> Path:
    """Return `report.html` in the session that `trace` is or lies in.

    Raises OutputError when `trace` is a CTF trace itself: a file more in it would be read as a
    stream of events.
    """
    from strata.read.manifest import session_of

    if (trace / "metadata").is_file():
        raise OutputError(
            f"Cannot choose a place for the report of {trace}: it is a CTF trace, where every file "
            "is read as a stream. Name a file with -o."
        )
    return (session_of(trace) or trace) / _NAME
