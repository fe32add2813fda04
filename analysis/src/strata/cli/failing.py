# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a user is told when a verb fails: one line, whatever happened; the rest with --debug."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from pathlib import Path
from typing import NoReturn, TextIO

import click

import strata
from strata.errors import StrataError
from strata.printable import printable

UNEXPECTED = 70
INTERRUPTED = 130
_PACKAGE = Path(strata.__file__).parent
_LONGEST = 300
# What Python chooses for UTF-8 and for the C locale: neither takes a sparkline in ASCII.
_STRICT = ("strict", "surrogateescape")


def wants_debug(arguments: list[str]) -> bool:
    """Tell whether `--debug` stands before the verb."""
    for argument in arguments:
        if not argument.startswith("-"):
            return False
        if argument == "--debug":
            return True
    return False


def open_standard_streams() -> None:
    """Give each standard stream that is closed to /dev/null, and let none fail on a character.

    A file of ours that got the number of stdout would get the output of others, too.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is this one.
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in _STRICT:
            stream.reconfigure(errors="replace")


def fail(error: StrataError) -> NoReturn:
    """Say an error and end with its status."""
    tell(f"strata: {printable(str(error))}")
    sys.exit(error.exit_code)


def fail_in_usage(error: click.ClickException) -> NoReturn:
    """Say what is wrong with the arguments, as click does, without their control characters."""
    shown = io.StringIO()
    error.show(file=shown)
    tell("\n".join(printable(line) for line in shown.getvalue().rstrip("\n").split("\n")))
    sys.exit(error.exit_code)


def fail_without_memory() -> NoReturn:
    """Say that the memory is used up."""
    tell(
        "strata: Cannot go on: the memory that this process may use is used up. Choose a part of "
        "the trace, or allow more (ulimit -v)."
    )
    sys.exit(1)


def fail_unexpectedly(error: BaseException) -> NoReturn:
    """Say in one line what happened and where, for an error that nobody foresaw."""
    kind, text = type(error).__name__, printable(" ".join(str(error).split()))
    fact = f"{kind}: {text[:_LONGEST]}" if text else kind
    tell(
        f"strata: Cannot finish: an unexpected error, {fact} (raised in {_place(error)}). Run "
        "`strata --debug ...` with the same arguments for the rest, and report it."
    )
    sys.exit(UNEXPECTED)


def tell(line: str) -> None:
    """Write a line to stderr, if anyone listens."""
    with contextlib.suppress(OSError):
        click.echo(line, err=True)


def show_traceback(error: BaseException) -> None:
    """Write the whole traceback to stderr."""
    stream: TextIO | None = sys.stderr
    if stream is not None:
        with contextlib.suppress(OSError):
            traceback.print_exception(error, file=stream)


def _place(error: BaseException) -> str:
    """Name the innermost place of Strata's own that the error went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]
    if not own:
        return "Python"
    path = Path(own[-1].filename).relative_to(_PACKAGE.parent)
    return f"{path}:{own[-1].lineno}"
