# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata hops`: the distribution of every hop, of one trace or of several side by side."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from strata.cli.chain import declared_links, links_option
from strata.cli.output import (
    check_output,
    format_option,
    output_options,
    write_csv,
    write_json,
    write_output,
)
from strata.cli.progress import decoding_progress
from strata.cli.quantiles import quantiles_option
from strata.cli.selection import processes_option

if TYPE_CHECKING:
    from strata.show.words.hop_selection import Selection
    from strata.stats.hop_distributions import TraceHops
    from strata.stats.transfers import End

_ENDS = ("callback_start", "callback_end")
"""Values of strata.stats.transfers.End."""


@click.command("hops")
@click.argument(
    "traces", metavar="TRACE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="PATTERN",
    help="Show only topics that match, as in '/camera/*'. May be given several times.",
)
@click.option(
    "--node",
    "nodes",
    multiple=True,
    metavar="PATTERN",
    help="Show only hops from or to nodes that match. May be given several times.",
)
@click.option(
    "--until",
    type=click.Choice(_ENDS),
    default=_ENDS[-1],
    show_default=True,
    help="The end of a hop in the table, which names the median to the other; json and csv: both.",
)
@links_option
@processes_option
@quantiles_option
@format_option(["table", "json", "csv"], "json (docs/json.md) and csv for machines")
@output_options
@click.option("--all", "everything", is_flag=True, help="Show hops of internal topics too.")
def command(
    traces: tuple[Path, ...],
    topics: tuple[str, ...],
    nodes: tuple[str, ...],
    until: str,
    links_path: Path | None,
    quantiles: tuple[float, ...],
    form: str,
    output: Path | None,
    *,
    all_processes: bool,
    force: bool,
    everything: bool,
) -> None:
    """Show the latency distribution of every hop of each TRACE, side by side.

    A hop is one topic from one node to another. Hops of several traces with the same topic and
    nodes are shown together. TRACE is a session of `strata record`, or any directory that
    `ros2 trace` or `lttng` wrote.
    """
    from strata import analyze
    from strata.cli.titles import title_of
    from strata.show.words.hop_selection import Selection, require_hops
    from strata.stats.hop_distributions import trace_hops
    from strata.stats.transfers import End

    check_output(output, force=force)
    links = declared_links(links_path)
    found = []
    for path in traces:
        with decoding_progress() as progress:
            # Only the distributions are kept, so that one analysis at a time is in memory.
            analysis = analyze(path, links=links, progress=progress, all_processes=all_processes)
            found.append(trace_hops(analysis, title_of(path), quantiles))
    selection = Selection(topics, nodes, everything)
    require_hops(selection, found)

    def write(file: IO[str]) -> None:
        _write(found, form, file, End(until), selection)

    write_output(output, write)


def _write(
    found: list[TraceHops], form: str, file: IO[str], until: End, selection: Selection
) -> None:
    from strata.show.document.hops import hop_columns, hop_document, hop_rectangle

    if form == "table":
        from strata.cli.console import make_console
        from strata.show.terminal.hops import print_hops

        print_hops(found, make_console(file), until=until, selection=selection)
    elif form == "json":
        write_json(hop_document(found, selection), file)
    else:
        write_csv(hop_columns(found), hop_rectangle(found, selection), file)
