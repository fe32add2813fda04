# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Lines for a terminal: paths, names and sentences broken where a reader would break them."""

from __future__ import annotations

import re

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

from strata.printable import printable
from strata.show.words.naming import fitted

_PIECES = re.compile(r"[^/ ]*[/ ]*")
_NAMES = re.compile(r"(?<= )|(?<!^)(?<![ \[(])(?=/)|(?<=::)|(?<=\.)(?=[A-Za-z_<])")


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


class Named:
    """A cell that holds names: as wide as its column, broken between the parts of a name.

    That is after a space, before a slash, after :: and after a dot. A part that is longer than the
    column has an ellipsis in its middle.
    """

    def __init__(self, text: str, style: str = "") -> None:
        """Take text of a trace; what cannot be printed is replaced."""
        self._text, self._style = printable(text), style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines."""
        lines = [""]
        for part in _NAMES.split(self._text):
            if cell_len((lines[-1] + part).rstrip(" ")) <= options.max_width:
                lines[-1] += part
            elif lines[-1].strip():
                lines.append(
                    fitted(part.rstrip(" "), options.max_width) + part[len(part.rstrip(" ")) :]
                )
            else:
                lines[-1] = fitted(part, options.max_width)
        yield Text("\n".join(line.rstrip(" ") for line in lines), style=self._style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the width of the longest part, and that of the whole text."""
        parts = [cell_len(part.rstrip(" ")) for part in _NAMES.split(self._text)]
        return Measurement(min(max(parts, default=1), options.max_width), options.max_width)
