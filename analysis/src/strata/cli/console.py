# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The one kind of terminal that verbs write to."""

from __future__ import annotations

from typing import IO

from rich.console import Console


def make_console(file: IO[str] | None = None, *, stderr: bool = False) -> Console:
    """Return a console that shows text as it is; it writes to `file`, by default stdout.

    What a trace holds is no markup: a process may be called `[/]`, a symbol end in `[abi:cxx11]`.
    """
    return Console(file=file, stderr=stderr, markup=False, emoji=False, highlight=False)
