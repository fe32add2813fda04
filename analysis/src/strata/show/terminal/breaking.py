# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Lines for a terminal: paths and sentences broken where a reader would break them."""

from __future__ import annotations

import re

from rich.cells import cell_len, chop_cells

_PIECES = re.compile(r"[^/ ]*[/ ]*")


def broken(text: str, width: int) -> str:
    """Return `text` in lines of at most `width` cells, broken after slashes and spaces.

    Only a name that is longer than a line is broken inside.
    """
    width = max(width, 2)
    lines = [""]
    for piece in _PIECES.findall(text):
        if cell_len(lines[-1] + piece.rstrip(" ")) <= width:
            lines[-1] += piece
            continue
        if lines[-1]:
            lines.append("")
        *whole, lines[-1] = chop_cells(piece, width)
        lines[-1:-1] = whole
    return "\n".join(line.rstrip(" ") for line in lines)
