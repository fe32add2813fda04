# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a terminal would show, as text without styles."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console

from strata.show.terminal.analysis import print_analysis

if TYPE_CHECKING:
    from strata.analysis import Analysis


def analysis_text(analysis: Analysis, width: int) -> str:
    """Return what `strata analyze` prints on a terminal of `width` columns."""
    shown = io.StringIO()
    console = Console(
        file=shown,
        width=width,
        markup=False,
        emoji=False,
        highlight=False,
        no_color=True,
        # In a notebook rich would show each line itself, and leave none for the file; and kernels
        # ask for colours (FORCE_COLOR).
        force_jupyter=False,
        force_terminal=False,
    )
    print_analysis(analysis, console, everything=False)
    return "\n".join(line.rstrip() for line in shown.getvalue().rstrip("\n").split("\n"))
