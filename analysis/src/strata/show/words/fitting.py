# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A name in one line: what comes first in it is left out, a whole piece at a time."""

from __future__ import annotations

import re

from rich.cells import cell_len

_LEFT_OUT = "…"
_SLASH = re.compile(r"(?<=[^/ ])/")


def fitted(text: str, width: int) -> str:
    """Return `text` in at most `width` cells: ``…/points_raw: middleware``.

    Whole names of namespaces are left out at the front, as the last ones tell things apart. Only a
    last name that is longer than the line is cut, at its front.
    """
    if cell_len(text) <= width:
        return text
    for found in _SLASH.finditer(text):
        shown = _LEFT_OUT + text[found.start() :]
        if cell_len(shown) <= width:
            return shown
    kept = text
    while kept and cell_len(_LEFT_OUT + kept) > width:
        kept = kept[1:]
    return _LEFT_OUT + kept
