# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata campaign status`: what of a campaign is there, and what is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from strata.cli.output import write_json
from strata.printable import printable

if TYPE_CHECKING:
    from rich.table import Table

    from strata.campaign.cells import Cell
    from strata.campaign.directory import CampaignDirectory, CellState

_SCHEMA = 1


@click.command("status")
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True
)
def command(directory: Path, form: str) -> None:
    """Show the state of each cell of a campaign, and which cells are still to run."""
    from strata.campaign.directory import open_directory
    from strata.campaign.remaining_time import Forecast
    from strata.cli.console import make_console, plain_table

    campaign = open_directory(directory)
    states = {cell.id: campaign.state(cell) for cell in campaign.cells}
    words = {cell.id: _word(cell, states[cell.id]) for cell in campaign.cells}
    forecast = Forecast()
    for cell in campaign.cells:
        state = states[cell.id]
        if state is not None:
            forecast.note(cell, state.duration_s)
    todo = [cell for cell in campaign.cells if words[cell.id] == "to run"]
    if form == "json":
        _write_json(campaign, states, words, forecast.all(todo))
        return
    table = plain_table("", "cell", "status", "result")
    for cell in campaign.cells:
        if not cell.skipped:
            table.add_row(
                str(cell.order), cell.id, words[cell.id], printable(_outcome(states[cell.id]))
            )
    console = make_console()
    console.print(table)
    skips = skips_table(campaign.cells)
    if skips:
        console.print()
        console.print(skips)
    counts = Counter(words.values())
    told = ", ".join(f"{counts[word]} {word}" for word in _WORDS if counts[word])
    left = f"; about {duration_text(forecast.all(todo))} left" if todo else ""
    console.print(f"\n{campaign.name}: {cells_text(len(campaign.cells))}: {told}{left}")


_WORDS = ("finished", "failed", "skipped", "to run")


def _word(cell: Cell, state: CellState | None) -> str:
    if state is not None:
        return state.status
    return "skipped" if cell.skipped else "to run"


def _outcome(state: CellState | None) -> str:
    if state is None:
        return ""
    busy = f" (machine busy before the cell: {state.busy_percent:.0f} %)" if state.busy else ""
    return state.line + busy


def _write_json(
    campaign: CampaignDirectory,
    states: dict[str, CellState | None],
    words: dict[str, str],
    left_s: float,
) -> None:
    cells = []
    for cell in campaign.cells:
        state = states[cell.id]
        cells.append(
            {**cell.as_json(), "status": words[cell.id], "state": asdict(state) if state else None}
        )
    write_json(
        {
            "schema": _SCHEMA,
            "name": campaign.name,
            "quick": campaign.variant.quick,
            "seed": campaign.variant.seed,
            "counts": {word: list(words.values()).count(word) for word in _WORDS},
            "left_s": round(left_s, 1),
            "cells": cells,
        }
    )


def skips_table(cells: Sequence[Cell]) -> Table | None:
    """Make a table of the skipped cells, those of one reason and study together; null for none."""
    from strata.cli.console import plain_table

    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if cell.skipped:
            groups.setdefault((cell.study, cell.skipped), []).append(cell)
    if not groups:
        return None
    table = plain_table("skipped", "cells", "because")
    for (study, reason), skipped in groups.items():
        shared = [
            level
            for factor, level in skipped[0].levels.items()
            if all(one.levels[factor] == level for one in skipped)
        ]
        table.add_row("/".join([study, *shared]), str(len(skipped)), printable(reason))
    return table


def cells_text(count: int) -> str:
    """Write a number of cells for people."""
    return f"{count} cell" if count == 1 else f"{count} cells"


def duration_text(seconds: float) -> str:
    """Write a time for people: 4.2 s, 3 min, 2.1 h."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
