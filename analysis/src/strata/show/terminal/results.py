# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a results directory has, as text for a terminal of 80 columns or more, and as JSON."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from strata.printable import path_text, printable
from strata.read.results import ResultsDirectory
from strata.schema.stored import STORED
from strata.show.terminal.breaking import broken
from strata.units import format_count, format_instant, format_ns, format_size

_LABEL_WIDTH = 11


def print_results(results: ResultsDirectory, console: Console) -> None:
    """Print what the results are of, how far they go, and how many rows each table has."""
    contents = results.contents
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True, min_width=_LABEL_WIDTH - 2)
    grid.add_column()
    width = console.width - _LABEL_WIDTH
    grid.add_row("results", Text(broken(printable(path_text(results.path)), width)))
    grid.add_row("recording", Text(broken(printable(contents.session), width)))
    if contents.machine:
        grid.add_row("machine", Text(printable(contents.machine)))
    if contents.begin_ns is not None and contents.end_ns is not None:
        span = format_ns(contents.end_ns - contents.begin_ns)
        grid.add_row("time", f"{format_instant(contents.begin_ns)}, {span}")
    goes_on = "the recording goes on, or its analysis was stopped"
    grid.add_row("state", "complete" if contents.complete else goes_on)
    parts = format_count(len(contents.parts), "part", "parts")
    grid.add_row("size", f"{format_size(results.size)} in {parts}")
    console.print(grid)
    rows = Table(title="Rows", title_justify="left", box=None, pad_edge=False, title_style="bold")
    rows.add_column("table")
    rows.add_column("rows", justify="right")
    found = results.rows()
    for stored in STORED:
        if found.get(stored.name):
            rows.add_row(stored.name, f"{found[stored.name]:,}")
    console.print()
    console.print(rows)


def results_document(results: ResultsDirectory) -> dict[str, Any]:
    """Return the same for programs; times are ns since the epoch, null before the first chunk."""
    contents = results.contents
    rows = results.rows()
    return {
        "schema": 1,
        "results": path_text(results.path),
        "recording": contents.session,
        "machine": contents.machine,
        "begin_ns": contents.begin_ns,
        "end_ns": contents.end_ns,
        "until_ns": contents.until_ns,
        "complete": contents.complete,
        "bytes": results.size,
        "rows": {one.name: rows.get(one.name, 0) for one in STORED},
    }
