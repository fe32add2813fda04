# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a verb writes, and where: to stdout, or to a file that must not exist."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

import click

from strata.errors import OutputError
from strata.printable import printable, printable_lines

Command = TypeVar("Command", bound=Callable[..., Any])


def format_option(choices: Sequence[str], others: str) -> Callable[[Command], Command]:
    """Make the option that gives `form`; `others` says what those beside table are for."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(choices),
        default="table",
        show_default=True,
        help=f"table for people; {others}.",
    )


def output_options(command: Command) -> Command:
    """Add the options that give `output` and `force`."""
    forced = click.option("--force", is_flag=True, help="Overwrite the output file.")(command)
    kind = click.Path(path_type=Path)
    return click.option("-o", "--output", type=kind, help="Write there, not to stdout.")(forced)


def check_output(output: Path | None, *, force: bool) -> None:
    """Raise OutputError when the file exists and must not be overwritten."""
    if output is not None and os.path.lexists(output) and not force:
        raise OutputError(
            f"Cannot write {output}: the file exists. Choose another name or use --force."
        )


def write_output(output: Path | None, write: Callable[[IO[str]], None]) -> None:
    """Write to the file and name it on stderr; to stdout when it is null.

    Raises OutputError when the file cannot be written.
    """
    if output is None:
        write(sys.stdout)
        return
    try:
        if output.is_symlink():
            # What it leads to is not what was named.
            output.unlink()
        with output.open("w", encoding="utf-8") as file:
            write(file)
    except OSError as error:
        raise OutputError(f"Cannot write {output}: {error.strerror}. Choose another place.") from (
            error
        )
    click.echo(f"Wrote {printable(str(output))}", err=True)


def write_json(document: Mapping[str, Any], file: IO[str] | None = None) -> None:
    """Write a document as JSON, to stdout when `file` is null. It must hold no NaN: JSON has none.

    Raises ValueError, before anything is written, for one that does.
    """
    click.echo(json.dumps(document, indent=1, allow_nan=False), file=file)


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]], file: IO[str]) -> None:
    """Write a table as CSV, null as nothing; names stand in it as they are, but on a terminal."""
    target = io.StringIO() if file.isatty() else file
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    if isinstance(target, io.StringIO) and target is not file:
        file.write(printable_lines(target.getvalue()))
