# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The one kind of terminal that verbs write to."""

from __future__ import annotations

from typing import IO

from rich.console import Console
from rich.table import Table


def make_console(file: IO[str] | None = None, *, stderr: bool = False) -> Console:
    """Return a console that shows text as it is; it writes to `file`, by default stdout.

    What a trace holds is no markup: a process may be called `[/]`, a symbol end in `[abi:cxx11]`.
    """
    return Console(file=file, stderr=stderr, markup=False, emoji=False, highlight=False)


def plain_table(*columns: str) -> Table:
    """Return a table without lines, of which only the last column breaks its text."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns[:-1]:
        table.add_column(column, no_wrap=True)
    table.add_column(columns[-1], overflow="fold")
    return table
