# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata campaign report`: the results of a campaign as a page, as text, or for machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from strata.cli.output import check_output, write_csv, write_json, write_output
from strata.cli.progress import stepwise_progress
from strata.errors import CampaignError, OutputError
from strata.printable import printable

if TYPE_CHECKING:
    from strata.show.document.campaign import Sheet
    from strata.study.report_contents import Contents

_NAME = "report.html"
_Found = TypeVar("_Found")


@click.command("report")
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"Write there. Without it, html goes to {_NAME} in DIRECTORY and json to standard output; "
    "csv needs a directory, for one file per table.",
)
@click.option(
    "--table",
    "name",
    metavar="NAME",
    help="With --format csv or markdown: write this table only, to standard output without -o. "
    "--format text shows the names.",
)
@click.option(
    "--beside",
    "beside",
    multiple=True,
    metavar="[NAME=]DIR",
    help="Show the results of the same campaign in DIR, run on another machine, beside these in "
    "every figure and table; repeatable. Without a name it has that of the directory.",
)
@click.option(
    "--force",
    is_flag=True,
    help=f"Overwrite what is there; {_NAME} that Strata wrote into DIRECTORY needs no --force.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "text", "markdown", "json", "csv"]),
    default="html",
    show_default=True,
    help="A page with figures; text for the terminal, or Markdown for a report of your own; every "
    "table and answer for machines.",
)
def command(
    directory: Path,
    output: Path | None,
    name: str | None,
    beside: tuple[str, ...],
    form: str,
    *,
    force: bool,
) -> None:
    """Report the results of a campaign that `strata campaign run` ran in DIRECTORY.

    The page is one file and works without a network. Cells that were not measured yet are measured
    first. Cells without a result are named, with the reason.
    """
    _check_usage(form, output, name)
    gathered = partial(_gathered, directory, [_named(one) for one in beside])
    if form == "html":
        _write_page(directory, output, gathered, force=force)
    elif form == "text":
        from strata.cli.console import make_console
        from strata.show.terminal.campaign import print_contents

        print_contents(gathered(), make_console())
    elif form == "markdown":
        _write_markdown(output, name, gathered, force=force)
    elif form == "json":
        from strata.show.document.campaign import document

        check_output(output, force=force)
        made = document(gathered())
        write_output(output, lambda file: write_json(made, file))
    else:
        _write_csv(output, name, gathered, force=force)


def _check_usage(form: str, output: Path | None, name: str | None) -> None:
    if name is not None and form not in ("csv", "markdown"):
        raise click.UsageError("--table needs --format csv or --format markdown.")
    if form == "csv" and output is None and name is None:
        raise click.UsageError(
            "--format csv needs -o DIR, for one file per table, or --table NAME for one table."
        )
    if form == "text" and output is not None:
        raise OutputError(
            f"Cannot write text to {output}: it goes to standard output. Leave -o out, or "
            "redirect it."
        )


def _named(text: str) -> tuple[str, Path]:
    """Read ``NAME=DIR``, or ``DIR``; a directory whose name has a = needs a name before it."""
    name, equals, path = text.partition("=")
    directory = Path(path if equals else text)
    if not directory.is_dir():
        raise click.UsageError(f"--beside {text!r}: there is no directory {str(directory)!r}.")
    return (name if equals else directory.resolve().name), directory


def _gathered(directory: Path, beside: Sequence[tuple[str, Path]]) -> Contents:
    from strata.study.gather_report import gather

    with stepwise_progress("Making the report") as progress:
        return gather(directory, progress=progress, beside=beside)


def _write_page(
    directory: Path, output: Path | None, gathered: Callable[[], Contents], *, force: bool
) -> None:
    from strata.show.html import check_target
    from strata.show.html.campaign.page import write_page_of

    target = output if output is not None else directory / _NAME
    check_target(target, force=force, replace_page=output is None)
    contents = gathered()
    written = write_page_of(contents, target, force=force, replace_page=output is None)
    click.echo(f"Wrote {printable(str(written))}")


def _write_markdown(
    output: Path | None, name: str | None, gathered: Callable[[], Contents], *, force: bool
) -> None:
    from strata.show.document.campaign_markdown import markdown, markdown_tables

    check_output(output, force=force)
    contents = gathered()
    text = markdown(contents) if name is None else _table_of(markdown_tables(contents), name)
    write_output(output, lambda file: print(text, end="", file=file))


def _table_of(tables: Mapping[str, _Found], name: str) -> _Found:
    if name not in tables:
        raise CampaignError(
            f"Cannot write table {name}: the report has none of that name. Use one of "
            f"{', '.join(tables)}."
        )
    return tables[name]


def _write_csv(
    output: Path | None, name: str | None, gathered: Callable[[], Contents], *, force: bool
) -> None:
    from strata.show.document.campaign import sheets

    if name is not None:
        check_output(output, force=force)
        sheet = _table_of(sheets(gathered()), name)
        write_output(output, lambda file: write_csv(sheet.columns, sheet.rows, file))
        return
    assert output is not None
    if output.exists() and not output.is_dir():
        raise OutputError(f"Cannot write tables into {output}: it is a file. Name a directory.")
    found = sheets(gathered())
    files = {output / f"{one}.csv": sheet for one, sheet in found.items()}
    for file in files:
        check_output(file, force=force)
    _write_files(output, files)


def _write_files(output: Path, files: dict[Path, Sheet]) -> None:
    from strata.units import format_count

    file = output
    try:
        output.mkdir(parents=True, exist_ok=True)
        for file, sheet in files.items():
            if file.is_symlink():
                # What it leads to is not what was named.
                file.unlink()
            with file.open("w", encoding="utf-8") as target:
                write_csv(sheet.columns, sheet.rows, target)
    except OSError as error:
        raise OutputError(f"Cannot write {file}: {error.strerror}. Choose another place.") from (
            error
        )
    count = format_count(len(files), "table", "tables")
    click.echo(f"Wrote {count} into {printable(str(output))}", err=True)
