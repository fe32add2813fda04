# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Progress of long work on stderr: the stage, how far it is, and for how long it has been running.

Nothing is shown when stderr is no terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from strata.analysis import Analysis

READING = "reading events"
WRITING = "writing the page"


class Describe(Protocol):
    """Shows a line; at once where `now`, else with the next regular refresh."""

    def __call__(self, state: str, /, *, now: bool = False) -> None:
        """Show `state`."""


def _say_nothing(_state: str, /, *, now: bool = False) -> None:
    del now


@contextmanager
def _described(what: str) -> Iterator[Describe]:
    if not sys.stderr.isatty():
        yield _say_nothing
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from strata.cli.console import make_console

    console = make_console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        # What is written to stdout goes there, also while the stage is shown.
        redirect_stdout=False,
    ) as progress:
        task = progress.add_task(what, total=None)

        def describe(state: str, *, now: bool = False) -> None:
            # A stage that is over before the next regular refresh is shown, too.
            progress.update(task, description=state, refresh=now)

        yield describe


class AnalysisProgress:
    """The progress of an analysis (strata.pipeline.progress.Progress)."""

    def __init__(self, describe: Describe) -> None:
        """Take what shows a line."""
        self._describe = describe
        self._stage = READING
        self._events = 0

    def __call__(self, events: int, /) -> None:
        """Show how many events were read until now."""
        self._events += events
        self._describe(f"{self._stage}: {self._events:,}")

    def stage(self, name: str, /) -> None:
        """Show what is done from now on."""
        self._stage = name
        self._describe(name, now=True)

    def end(self) -> None:
        """Show nothing any more."""
        self._describe = _say_nothing


@contextmanager
def decoding_progress() -> Iterator[AnalysisProgress]:
    """Show the stage of an analysis and how many events were read."""
    with _described(READING) as describe:
        progress = AnalysisProgress(describe)
        try:
            yield progress
        finally:
            # Results that are asked for later are made while others are printed.
            progress.end()


def make_results(analysis: Analysis, table: str | None = None) -> None:
    """Make what is going to be shown, while its progress is: all results, or one table.

    What is printed is not in the way of the progress then.
    """
    if table is not None:
        analysis.rows(table)
        return
    for name in ("chains", "hops", "callbacks", "quality"):
        analysis.rows(name)
    # Each is made of what the tables are.
    _ = analysis.bottlenecks, analysis.system


@contextmanager
def counting_progress(what: str) -> Iterator[Callable[[], None]]:
    """Show how many of something are done."""
    with _described(what) as describe:
        done = 0

        def advance() -> None:
            nonlocal done
            done += 1
            describe(f"{what}: {done:,}")

        yield advance


@contextmanager
def stepwise_progress(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """Show how many of how many things are done, and the present one."""
    with _described(what) as describe:
        yield lambda done, total, now: describe(f"{what}: {done} of {total}, {now}")
