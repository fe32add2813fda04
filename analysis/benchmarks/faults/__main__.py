# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`make faults`: plant known faults in running ROS 2 systems, and count what Strata says right.

Each case is recorded by `strata record` and read by `strata analyze`, as a user does it. Meant for
an idle machine: what another program takes away is no fault that was planted.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import click
from case import MESSAGES, NS_PER_S, Case, Judgement
from cases import CASES
from rich.console import Console
from rich.table import Table
from rich.text import Text
from running import RunError, run

from strata.units import format_ns

_SHORT = 160
_COLORS = {"right": "green", "partly": "yellow", "wrong": "red", "failed": "red"}


@click.command()
@click.argument("names", nargs=-1)
@click.option("--list", "listing", is_flag=True, help="List the cases and end.")
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the sessions in a directory.")
@click.option("--repeat", default=1, show_default=True, help="Run each case so often.")
def main(names: tuple[str, ...], listing: bool, keep: Path | None, repeat: int) -> None:
    """Plant the faults of NAMES (parts of names; all without any) and print the verdicts.

    The exit status is 0 when all are right, 3 when any is not.
    """
    chosen = [case for case in CASES if not names or any(name in case.name for name in names)]
    console = Console(width=max(Console().width, 110))
    if listing:
        for case in chosen:
            console.print(f"{case.name:32} {case.about}", highlight=False)
        return
    if not chosen:
        raise click.UsageError("no case has such a name; --list names them")
    place = keep or Path(tempfile.mkdtemp(prefix="faults"))
    place.mkdir(parents=True, exist_ok=True)
    _warn_of_load(console)
    counts: dict[str, int] = {}
    sized = 0
    try:
        for case in [each for each in chosen for _ in range(repeat)]:
            verdict, with_size = _one(case, place, console)
            counts[verdict] = counts.get(verdict, 0) + 1
            sized += with_size
    finally:
        if keep is None:
            shutil.rmtree(place)
    total = sum(counts.values())
    console.print(", ".join(f"{kind}: {counts.get(kind, 0)} of {total}" for kind in _COLORS))
    console.print(f"A magnitude was planted in {sized} of {total}.")
    sys.exit(0 if counts.get("right", 0) == total else 3)


def _one(case: Case, place: Path, console: Console) -> tuple[str, bool]:
    """Run a case, and return its verdict and whether a magnitude was planted."""
    begin = time.monotonic()
    try:
        found = run(case, _free(place / case.name))
    except RunError as error:
        console.print(f"[red]failed[/red] {case.name}: {error}", highlight=False)
        return "failed", False
    console.print(_line(case, found, time.monotonic() - begin))
    return found.verdict, found.planted is not None


def _free(path: Path) -> Path:
    number = 1
    while path.exists():
        number += 1
        path = path.with_name(f"{path.name.partition('~')[0]}~{number}")
    return path


def _line(case: Case, found: Judgement, seconds: float) -> Table:
    table = Table.grid(padding=(0, 1), expand=True)
    for width in (6, 24, 18):
        table.add_column(width=width, overflow="fold")
    table.add_column(overflow="fold", ratio=1)
    size = ""
    if found.planted is not None:
        size = f"{_size(found.measured, found.unit)} of {_size(found.planted, found.unit)}"
    said = f"{_said(found)} ({seconds:.0f} s)"
    verdict = Text(found.verdict, style=_COLORS[found.verdict])
    table.add_row(verdict, case.name, size, Text(said))
    return table


def _size(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    if unit == MESSAGES:
        return f"{value:.0f}"
    return format_ns(value) + ("/s" if unit == NS_PER_S else "")


def _said(found: Judgement) -> str:
    """Shorten what was said, where it was right."""
    long = found.verdict != "right" or len(found.said) < _SHORT
    return found.said if long else f"{found.said[:_SHORT]} ..."


def _warn_of_load(console: Console) -> None:
    load = os.getloadavg()[0]
    if load > 0.5 * len(os.sched_getaffinity(0)):
        console.print(f"This machine is busy (load {load:.1f}): magnitudes may be off.")


if __name__ == "__main__":
    main()
