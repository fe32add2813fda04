# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Progress of long work, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def _described(what: str) -> Iterator[Callable[[str], None]]:
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from strata.cli.console import make_console

    console = make_console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(what, total=None)
        yield lambda state: progress.update(task, description=f"{what}: {state}")


@contextmanager
def decoding_progress() -> Iterator[Callable[[int], None]]:
    """Show on stderr how many events were decoded; silent when stderr is no terminal."""
    with _described("reading") as describe:
        seen = 0

        def advance(events: int) -> None:
            nonlocal seen
            seen += events
            describe(f"{seen:,} events")

        yield advance


@contextmanager
def counting_progress(what: str) -> Iterator[Callable[[], None]]:
    """Show on stderr how many of something are done; silent when stderr is no terminal."""
    with _described(what) as describe:
        done = 0

        def advance() -> None:
            nonlocal done
            done += 1
            describe(f"{done:,}")

        yield advance


@contextmanager
def stepwise_progress(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """Show on stderr how many of how many things are done, and the present one.

    Silent when stderr is no terminal.
    """
    with _described(what) as describe:
        yield lambda done, total, now: describe(f"{done} of {total}, {now}")
