# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata report`: one trace, two compared, or several side by side, as one HTML page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from strata.cli.chain import chain_option, declared_links, links_option, parse_chain
from strata.cli.progress import WRITING, AnalysisProgress, decoding_progress, make_results
from strata.cli.quantiles import quantiles_option
from strata.cli.selection import processes_option
from strata.errors import OutputError
from strata.printable import printable

if TYPE_CHECKING:
    from strata.analysis import Analysis

_NAME = "report.html"
_SEVERAL = "recordings.html"


@click.command("report")
@click.argument(
    "traces",
    metavar="TRACE_OR_SESSION...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"Write there; without it, {_NAME} in the session; of several, {_SEVERAL} here.",
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
    traces: tuple[Path, ...],
    output: Path | None,
    chain: str | None,
    links_path: Path | None,
    quantiles: tuple[float, ...],
    *,
    all_processes: bool,
    force: bool,
) -> None:
    """Write one HTML page that shows in which layer the time of TRACE_OR_SESSION went.

    Of two, the page compares the second with the first, as `strata compare` does; of more, it puts
    the distributions of their hops and chains side by side, as `strata hops` does. The page holds
    all that it needs and works without a network.
    """
    from strata import analyze
    from strata.cli.titles import title_of
    from strata.show.html import check_target, write_report
    from strata.show.html.embedding import write_page
    from strata.show.terminal.findings import said_first

    topics = parse_chain(chain) if chain is not None else None
    links = declared_links(links_path)

    def analyzed(trace: Path, progress: AnalysisProgress) -> Analysis:
        return analyze(
            trace,
            links=links,
            chain=topics,
            progress=progress,
            all_processes=all_processes,
            quantiles=quantiles if len(traces) == 1 else (),
        )

    def alone(trace: Path) -> Analysis:
        with decoding_progress() as progress:
            return analyzed(trace, progress)

    if len(traces) > 1:
        target = output if output is not None else Path(_SEVERAL)
        check_target(target, force=force, replace_page=output is None)
        _said(write_page(target, _page_of_several(traces, alone, quantiles)))
        return
    (trace,) = traces
    target = output if output is not None else default_output(trace)
    if trace.is_dir():
        # Before the analysis, which takes long. What is wrong with the trace itself is its to say.
        check_target(target, force=force, replace_page=output is None)
    with decoding_progress() as progress:
        analysis = analyzed(trace, progress)
        make_results(analysis)
        progress.stage(WRITING)
        written = write_report(
            analysis, target, title=title_of(trace), force=force, replace_page=output is None
        )
    for row in said_first(analysis.rows("quality").records()):
        click.echo(f"{row['severity']}: {printable(row['text'])}", err=True)
    _said(written)


def _said(written: Path) -> None:
    click.echo(f"Wrote {printable(str(written))}")


def _page_of_several(
    traces: tuple[Path, ...], analyzed: Callable[[Path], Analysis], quantiles: tuple[float, ...]
) -> str:
    """Compare two, each a session or a directory of repetitions; put more side by side."""
    from strata.cli.titles import title_of
    from strata.comparison.compared import side_of
    from strata.comparison.comparison import compare_sides, require_common
    from strata.comparison.runs import Run, measure_run
    from strata.read.sessions import warm_up_of
    from strata.show.html.comparison import render_comparison, render_several
    from strata.stats.hop_distributions import trace_hops
    from strata.stats.quantiles import name_of

    def measured(path: Path) -> Run:
        return measure_run(analyzed(path), title_of(path), warm_up_of(path))

    if len(traces) == 2:
        a, b = (side_of(path, measured) for path in traces)
        found = compare_sides(a, b, quantiles=tuple(map(name_of, quantiles)))
        require_common(found)
        return render_comparison(found)
    return render_several([trace_hops(analyzed(path), title_of(path)) for path in traces])


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
