# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata export`: an analysis in the formats of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from strata.cli.chain import declared_links, links_option, parse_chain
from strata.cli.instants import Instant, InstantOfTrace
from strata.cli.listing import ListingCommand
from strata.cli.progress import decoding_progress, make_results
from strata.cli.quantities import Bytes
from strata.cli.selection import processes_option
from strata.export.formats import BY_NAME, FORMATS
from strata.printable import printable

if TYPE_CHECKING:
    from strata.analysis import Analysis
    from strata.export.chosen import Choice
    from strata.export.formats import Format

_INSTANT = InstantOfTrace()


@click.command(
    "export",
    cls=ListingCommand,
    title="Formats",
    entries=[(one.name, one.summary) for one in FORMATS],
)
@click.argument("trace", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "name",
    type=click.Choice(list(BY_NAME)),
    metavar="FORMAT",
    required=True,
    help="The format, one of those listed below.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Write this file or directory.  [default: named after the trace, in its session, or "
    "beside a trace that is not in a session]",
)
@click.option(
    "--chain",
    metavar="TOPICS",
    help="Export only messages of the chain over these topics, as in '/a -> /b'.  "
    "[default: all messages]",
)
@click.option(
    "--begin",
    type=_INSTANT,
    metavar="MOMENT",
    help="Export only messages published from this moment on: 2.5s since the first event, or "
    "03:43:12.826 UTC, as `strata analyze` shows it.",
)
@click.option(
    "--end",
    type=_INSTANT,
    metavar="MOMENT",
    help="Export only messages published before this moment.",
)
@click.option(
    "--slowest",
    type=click.IntRange(1),
    metavar="COUNT",
    help="Export only so many messages of each chain, the slowest, and the threads while they were "
    "on their way.",
)
@click.option(
    "--max-size",
    type=Bytes(),
    metavar="SIZE",
    default="1G",
    show_default=True,
    help="Refuse to write more than this.",
)
@links_option
@processes_option
@click.option("--force", is_flag=True, help="Replace what was exported before.")
def command(
    trace: Path,
    name: str,
    output: Path | None,
    chain: str | None,
    begin: Instant | None,
    end: Instant | None,
    slowest: int | None,
    max_size: int,
    links_path: Path | None,
    *,
    all_processes: bool,
    force: bool,
) -> None:
    """Write the analysis of TRACE in a format of another program.

    The options that choose messages mean the same in every format. Nothing is written when
    something fails, and nothing is replaced without --force. docs/export.md describes each format.
    """
    from strata import analyze
    from strata.export.chosen import Chosen
    from strata.units import format_ns, format_size

    form = BY_NAME[name]
    topics = parse_chain(chain) if chain is not None else None
    links = declared_links(links_path)
    target = output if output is not None else _default_target(trace, form)
    if trace.is_dir():
        form.check(target, force=force)
    with decoding_progress() as progress:
        analysis = analyze(
            trace, links=links, chain=topics, progress=progress, all_processes=all_processes
        )
        make_results(analysis)
    for row in analysis.rows("quality").records():
        if row["severity"] != "info":
            click.echo(f"{row['severity']}: {row['text']}", err=True)
    choice = _choice(analysis, (begin, end), slowest, max_size, of_chain=chain is not None)
    chosen = Chosen(analysis, choice)
    written = form.write(chosen, target, force=force)
    counts = "".join(f"{count:,} {what}, " for what, count in written.counts.items())
    click.echo(f"Wrote {printable(str(written.target))} ({counts}{format_size(written.size)})")
    notes = written.notes
    if not choice.is_everything and not len(chosen.messages):
        duration = format_ns(analysis.trace.end_ns - analysis.trace.begin_ns)
        notes = (f"no message was chosen; the trace lasts {duration}", *notes)
    for note in notes:
        click.echo(f"note: {note}", err=True)


def _choice(
    analysis: Analysis,
    times: tuple[Instant | None, Instant | None],
    slowest: int | None,
    max_size: int,
    *,
    of_chain: bool,
) -> Choice:
    from strata.export.chosen import Choice

    begin_ns, end_ns = (None if one is None else one.at(analysis.trace.begin_ns) for one in times)
    if begin_ns is not None and end_ns is not None and begin_ns >= end_ns:
        raise click.UsageError("--begin is not before --end")
    # An analysis of a chain has only the chains over its topics.
    chains = tuple(range(len(analysis.rows("chains")))) if of_chain else None
    return Choice(chains, begin_ns, end_ns, slowest, max_size)


def _default_target(trace: Path, form: Format) -> Path:
    """Return where a format is written: in the session, or beside a trace that is in none."""
    from strata.read.manifest import session_of

    session = session_of(trace)
    # A name such as `.` has no other beside it.
    named = (session if session is not None else trace).resolve()
    directory = named if session is not None else named.parent
    if form.suffix:
        return directory / f"{named.name}{form.suffix}"
    return directory / (form.name if session is not None else f"{named.name}-{form.name}")
