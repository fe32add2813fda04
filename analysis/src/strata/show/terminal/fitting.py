# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A name in one line: what comes first in it is left out, a whole piece at a time."""

from __future__ import annotations

import re

from rich.cells import cell_len, chop_cells

_LEFT_OUT = "…"
_PIECE = re.compile(r"/?[^/ ]*")


def fitted(text: str, width: int) -> str:
    """Return `text` in at most `width` cells: ``…/points_raw: middleware``.

    Whole names of namespaces and topics are left out at the front, as the last ones tell things
    apart. Only a last name that is longer than the line is cut, at its end.
    """
    if cell_len(text) <= width:
        return text
    starts = [found.start() for found in _PIECE.finditer(text) if found.group()][1:]
    for start in starts:
        shown = _LEFT_OUT + text[start:]
        if cell_len(shown) <= width:
            return shown
    last = text[starts[-1] :] if starts else text
    return chop_cells(last, max(width - 1, 1))[0] + _LEFT_OUT
