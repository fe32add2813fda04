# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata info`: what does a trace hold?"""

from __future__ import annotations

from pathlib import Path

import click

from strata.cli.output import format_option, write_json
from strata.cli.progress import decoding_progress


@click.command("info")
@click.argument("trace", type=click.Path(path_type=Path))
@format_option(["table", "json"], "json (docs/reading.md) for machines")
@click.option("--all", "everything", is_flag=True, help="Show every process, event and directory.")
def command(trace: Path, form: str, *, everything: bool) -> None:
    """Show what TRACE holds: hosts, processes, events, what was lost, buffers.

    TRACE is any LTTng or CTF trace, with or without ROS 2 events; or a results directory.
    """
    from strata.cli.console import make_console
    from strata.read import open_trace
    from strata.read.contents import describe
    from strata.read.results import is_results, open_results
    from strata.show.terminal.contents import contents_document, print_contents
    from strata.show.terminal.results import print_results, results_document

    if is_results(trace):
        results = open_results(trace)
        if form == "json":
            write_json(results_document(results))
        else:
            print_results(results, make_console())
        return
    with decoding_progress() as progress:
        opened = open_trace(trace, progress=progress)
        contents = describe(opened)
    if form == "json":
        write_json(contents_document(contents))
    else:
        print_contents(contents, make_console(), everything=everything)
