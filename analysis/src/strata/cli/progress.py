# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Progress of long work, on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from strata.cli.console import make_console


@contextmanager
def decoding_progress() -> Iterator[Callable[[int], None]]:
    """Show on stderr how many events were decoded; silent when stderr is no terminal."""
    console = make_console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("reading", total=None)
        seen = 0

        def advance(events: int) -> None:
            nonlocal seen
            seen += events
            progress.update(task, description=f"reading: {seen:,} events")

        yield advance


@contextmanager
def counting_progress(what: str) -> Iterator[Callable[[], None]]:
    """Show on stderr how many of something are done; silent when stderr is no terminal."""
    console = make_console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(what, total=None)
        done = 0

        def advance() -> None:
            nonlocal done
            done += 1
            progress.update(task, description=f"{what}: {done:,}")

        yield advance
