# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a terminal would show, as text without styles."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import Console

from strata.show.terminal.analysis import print_analysis
from strata.show.terminal.comparison import print_comparison

if TYPE_CHECKING:
    from strata.analysis import Analysis
    from strata.comparison.comparison import Comparison


def analysis_text(analysis: Analysis, width: int) -> str:
    """Return what `strata analyze` prints on a terminal of `width` columns."""
    return _text(lambda console: print_analysis(analysis, console, everything=False), width)


def comparison_text(comparison: Comparison, width: int) -> str:
    """Return what `strata compare` prints on a terminal of `width` columns."""
    return _text(lambda console: print_comparison(comparison, console), width)


def _text(write: Callable[[Console], None], width: int) -> str:
    shown = io.StringIO()
    console = Console(
        file=shown, width=width, markup=False, emoji=False, highlight=False, no_color=True
    )
    write(console)
    return "\n".join(line.rstrip() for line in shown.getvalue().rstrip("\n").split("\n"))
