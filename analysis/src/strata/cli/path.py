# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata path`: what delayed one message?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from strata.cli.chain import declared_links, links_option, parse_chain
from strata.cli.output import format_option, write_json
from strata.cli.program import called_as
from strata.cli.progress import decoding_progress, make_results
from strata.cli.selection import processes_option
from strata.errors import TraceError
from strata.printable import path_text

if TYPE_CHECKING:
    from strata.analysis import Analysis


@click.command("path")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option(
    "--message",
    type=int,
    metavar="NUMBER",
    help="The message of this number, as `strata analyze` shows it (message_id of the table "
    "messages).  [default: the slowest]",
)
@click.option(
    "--slowest",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    metavar="COUNT",
    help="How many of the slowest messages are shown.",
)
@click.option(
    "--chain",
    metavar="TOPICS",
    help="The slowest of the chain over these topics, as in '/a -> /b'.  "
    "[default: the one that `strata analyze` shows first]",
)
@links_option
@processes_option
@format_option(["table", "json"], "json (docs/json.md) for machines")
def command(
    trace: Path,
    message: int | None,
    slowest: int,
    chain: str | None,
    links_path: Path | None,
    form: str,
    *,
    all_processes: bool,
) -> None:
    """Show the critical path of messages of TRACE, layer by layer.

    The path goes back from the message to the first publish; at a node with several inputs it
    follows the input that came last. What is not on it did not delay the message.
    """
    from strata import analyze
    from strata.cli.console import make_console
    from strata.show.terminal.findings import first_lines
    from strata.show.terminal.path import path_hints, path_section, paths_document
    from strata.show.words.commands import Commands
    from strata.stats.path import critical_path

    topics = parse_chain(chain) if chain is not None else None
    links = declared_links(links_path)
    with decoding_progress() as progress:
        analysis = analyze(
            trace, links=links, chain=topics, progress=progress, all_processes=all_processes
        )
        make_results(analysis, "quality")
    wanted = [message] if message is not None else _slowest(analysis, slowest)
    paths = [critical_path(analysis, number) for number in wanted]
    if form == "json":
        write_json(paths_document(analysis, paths))
        return
    console = make_console()
    for line in first_lines(analysis.rows("quality").records()):
        console.print(line)
    for path in paths:
        console.print(path_section(analysis, path))
    if message is None:
        commands = Commands(
            path_text(trace),
            path_text(links_path) if links_path is not None else None,
            all_processes,
            called_as(),
        )
        for hint in path_hints(analysis, commands, slowest, asked=chain):
            console.print(hint, style="dim", soft_wrap=True)


def _slowest(analysis: Analysis, count: int) -> list[int]:
    from strata.show.words.chain_choice import focus_chain
    from strata.show.words.slowest import slowest_messages

    chain = focus_chain(analysis)
    if chain is None:
        raise TraceError(
            f"Cannot show a path in {analysis.trace.path}: no message was followed from a publish "
            "to a callback. strata analyze shows what is in it."
        )
    return [one.message_id for one in slowest_messages(analysis, chain, count)]
