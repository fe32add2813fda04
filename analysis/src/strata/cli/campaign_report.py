# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata campaign report`: the results of a campaign as one HTML page, or as text."""

from __future__ import annotations

from pathlib import Path

import click

from strata.cli.console import make_console
from strata.cli.progress import stepwise_progress
from strata.errors import OutputError
from strata.printable import printable
from strata.show.html import check_target
from strata.show.html.campaign.page import write_page_of
from strata.show.terminal.campaign import print_contents
from strata.study.gather_report import gather

_NAME = "report.html"


@click.command("report")
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"Write there; without it, {_NAME} in DIRECTORY.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Overwrite the output file; a page of Strata's in the default place needs none.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "text"]),
    default="html",
    show_default=True,
    help="A page with figures, or tables for the terminal.",
)
def command(directory: Path, output: Path | None, form: str, *, force: bool) -> None:
    """Report what a campaign that `strata campaign run` ran into DIRECTORY found.

    The page holds all that it needs and works without a network. Cells that were not measured yet
    are; those that did not run are named, with the reason.
    """
    if form == "text":
        if output is not None:
            raise OutputError(
                f"Cannot write text to {output}: it goes to standard output. Leave -o out, or "
                "redirect it."
            )
        with stepwise_progress("Making the report") as progress:
            contents = gather(directory, progress=progress)
        print_contents(contents, make_console())
        return
    target = output if output is not None else directory / _NAME
    check_target(target, force=force, replace_page=output is None)
    with stepwise_progress("Making the report") as progress:
        contents = gather(directory, progress=progress)
    written = write_page_of(contents, target, force=force, replace_page=output is None)
    click.echo(f"Wrote {printable(str(written))}")
