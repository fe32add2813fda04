# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata links`: what nodes seem to publish from messages that they stored."""

from __future__ import annotations

from pathlib import Path

import click

from strata.cli.output import check_output, output_options, write_output
from strata.cli.progress import decoding_progress, make_results


@click.command("links")
@click.argument("trace", type=click.Path(path_type=Path))
@output_options
def command(trace: Path, output: Path | None, *, force: bool) -> None:
    """Propose message links of TRACE, as a file for the option --links.

    A message link says what a node publishes from messages that it stored: in a timer, in a thread
    of its own, or once messages of several inputs have come. No event shows that, so chains end at
    such a node until a link is declared. Each proposal says how often the trace agrees with it.
    """
    from strata import analyze
    from strata.show.terminal.findings import first_texts
    from strata.show.words.links import links_file

    check_output(output, force=force)
    with decoding_progress() as progress:
        analysis = analyze(trace, progress=progress)
        make_results(analysis, "link_proposals")
        make_results(analysis, "quality")
    said = first_texts(analysis.rows("quality"))
    text = links_file(analysis.rows("link_proposals"), str(trace), said)
    write_output(output, lambda file: click.echo(text, file=file, nl=False))
