# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata results`: a long recording analyzed chunk by chunk."""

from __future__ import annotations

import time
from pathlib import Path

import click

from strata.cli.program import suggested
from strata.printable import printable

_EVERY_S = 1.0


@click.command("results")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write into this directory, or go on with what it has.  [default: `results` in the "
    "session; NAME-results beside a trace that is not in a session]",
)
def command(trace: Path, output: Path | None) -> None:
    """Analyze TRACE chunk by chunk into a results directory, which every verb reads.

    TRACE is a session that `strata record` rotates (--rotate, --keep, --max-size). While it is
    recorded, each chunk is analyzed once it is complete, until the recording ends; Ctrl-C ends only
    this command. Started again, it goes on where it was. Memory is that of one chunk.
    """
    target = output if output is not None else default_output(trace)
    grow_to_end(trace, target)
    click.echo(f"Wrote {printable(str(target))}: {suggested('analyze', target)}")


def grow_to_end(session: Path, target: Path) -> None:
    """Analyze every chunk of a session until its recording has ended. Raises StrataError."""
    from strata.results.growing import Growing
    from strata.units import format_count

    growing = Growing(session, target)
    while True:
        recorded = growing.chunks.is_recorded
        grown = growing.step()
        if grown is not None:
            messages = format_count(grown.messages, "message", "messages")
            _say(f"{grown.chunk}: {grown.unread or messages}")
        elif not recorded:
            break
        else:
            time.sleep(_EVERY_S)
    growing.finish()


def default_output(trace: Path) -> Path:
    """Return `results` in the session that `trace` is or lies in; NAME-results beside any other."""
    from strata.read.manifest import RESULTS_NAME, session_of

    session = session_of(trace)
    if session is not None:
        return session / RESULTS_NAME
    # A name such as `.` has no other beside it.
    whole = trace.resolve()
    return whole.parent / f"{whole.name}-{RESULTS_NAME}"


def _say(line: str) -> None:
    click.echo(f"strata: {printable(line)}", err=True)
