# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a verb writes its result: to stdout, or to a file that must not exist."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import click

from strata.errors import OutputError
from strata.printable import printable


def check_output(output: Path | None, *, force: bool) -> None:
    """Raise OutputError when the file exists and must not be overwritten."""
    if output is not None and output.exists() and not force:
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
        with output.open("w") as file:
            write(file)
    except OSError as error:
        raise OutputError(f"Cannot write {output}: {error.strerror}. Choose another place.") from (
            error
        )
    click.echo(f"Wrote {printable(str(output))}", err=True)
