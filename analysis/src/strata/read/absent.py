# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is said of a path at which there is no directory: recordings of a similar name."""

from __future__ import annotations

import os
from pathlib import Path

from strata.nearest import listed, nearest

_SESSIONS = "sessions"
_MOST_LISTED = 5
_MOST_SEEN = 2_000


def absent_step(path: Path) -> str:
    """Return the next step for someone who named a directory that is not there.

    Names recordings of a similar name beside it and in `sessions/`; without any the newest ones
    there.
    """
    name = path.name
    beside = {entry.name: path.parent / entry.name for entry in _directories(path.parent)}
    sessions = _directories(Path(_SESSIONS))
    recorded = {entry.name: Path(_SESSIONS, entry.name) for entry in sessions}
    known = recorded | beside
    # The very name in `sessions/` is what was meant.
    meant = [recorded[name]] if name in recorded else [known[one] for one in nearest(name, known)]
    if meant:
        *first, last = map(str, meant)
        return f"Did you mean {', '.join(first)} or {last}?" if first else f"Did you mean {last}?"
    if recorded:
        newest = sorted(sessions, key=_recorded_at, reverse=True)
        places = [str(Path(_SESSIONS, entry.name)) for entry in newest]
        return f"Check the path. Recordings here, the newest first: {listed(places, _MOST_LISTED)}."
    return "Check the path."


def _directories(place: Path) -> list[os.DirEntry[str]]:
    """List the directories in a place; none where it cannot be listed or holds too many."""
    try:
        with os.scandir(place) as entries:
            found: list[os.DirEntry[str]] = []
            for entry in entries:
                if len(found) == _MOST_SEEN:
                    return []
                if not entry.name.startswith(".") and entry.is_dir():
                    found.append(entry)
            return found
    except OSError:
        return []


def _recorded_at(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat().st_mtime
    except OSError:
        return 0.0
