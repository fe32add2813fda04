# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The sessions that a directory holds: repetitions of one thing, such as a campaign's cell."""

from __future__ import annotations

import json
import re
from pathlib import Path

from strata.read.manifest import MANIFEST, session_of

_CELL = "cell.json"
_FINISHED = "finished"


def sessions_in(path: Path) -> list[Path]:
    """Return the sessions directly below `path`, in the order of their names and numbers.

    A session, or a directory without any below it, is itself the only one. A cell of a campaign
    that did not finish is none.
    """
    if session_of(path) is not None or not path.is_dir():
        return [path]
    below = [place for place in path.iterdir() if (place / MANIFEST).is_file()]
    finished = [place for place in below if _finished(place)]
    return sorted(finished, key=_numbers_last) or [path]


def _finished(session: Path) -> bool:
    try:
        cell = json.loads((session / _CELL).read_text())
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return isinstance(cell, dict) and cell.get("status") == _FINISHED


def _numbers_last(path: Path) -> list[tuple[str, int]]:
    """Order r2 before r10."""
    return [(text, int(number or 0)) for text, number in re.findall(r"(\D*)(\d*)", path.name)]
