# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The progress of a campaign, on stderr: a line a cell, and on a terminal a bar with the rest."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn

from strata.campaign.cells import Cell
from strata.campaign.directory import CellState
from strata.cli.campaign_status import duration_text
from strata.cli.console import make_console
from strata.printable import printable

_REFRESH_S = 0.5


class CellsProgress:
    """Tells of cells; see `strata.campaign.running.Watcher`."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None, visible=False)
        self._begun = self._shown = time.monotonic()
        self._expected_s = self._left_s = 0.0
        self._number = self._total = 0
        self._cell = ""

    def say(self, line: str) -> None:
        """Tell one line."""
        self._bar.console.print(f"strata: {printable(line)}", soft_wrap=True)

    def begin(self, number: int, total: int, cell: Cell, expected_s: float, left_s: float) -> None:
        """Show the cell that runs."""
        self._begun, self._expected_s, self._left_s = time.monotonic(), expected_s, left_s
        self._number, self._total, self._cell = number, total, cell.id
        self._bar.update(self._task, total=total, visible=True)
        self._show()

    def turn(self) -> None:
        """Show the time left; without a thread, for the process forks."""
        if time.monotonic() - self._shown > _REFRESH_S:
            self._show()

    def end(self, number: int, total: int, cell: Cell, state: CellState, left_s: float) -> None:
        """Tell what came of a cell, in a line."""
        what = f"failed: {state.line}" if state.status == "failed" else state.line
        busy = f"; machine busy before the cell: {state.busy_percent:.0f} %" if state.busy else ""
        left = f"; {duration_text(left_s)} left" if number < total else ""
        took = duration_text(state.duration_s)
        self.say(f"{number}/{total} {cell.id}: {took}, {what}{busy}{left}")

    def skip(self, cell: Cell) -> None:
        """Tell why a cell is skipped."""
        self.say(f"skipped {cell.id}: {cell.skipped}")

    def _show(self) -> None:
        self._shown = time.monotonic()
        took = min(self._shown - self._begun, self._expected_s)
        text = f"{self._cell}, {duration_text(max(0.0, self._left_s - took))} left"
        done = self._number - 1 + (took / self._expected_s if self._expected_s else 0)
        self._bar.update(self._task, completed=done, description=text, refresh=True)


@contextmanager
def cells_progress() -> Iterator[CellsProgress]:
    """Show the progress of a campaign on stderr; without a bar when stderr is no terminal."""
    console = make_console(stderr=True)
    columns = (BarColumn(), TextColumn("{task.description}"))
    with Progress(
        *columns,
        console=console,
        transient=True,
        auto_refresh=False,
        disable=not console.is_terminal,
    ) as bar:
        yield CellsProgress(bar)
