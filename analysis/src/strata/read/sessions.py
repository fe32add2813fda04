# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The sessions that a directory holds: repetitions of one thing, such as a campaign's cell."""

from __future__ import annotations

import re
from pathlib import Path

from strata.documents import read_json
from strata.errors import TraceError
from strata.read.manifest import MANIFEST, session_of

_CAMPAIGN = "campaign.json"
_CELL = "cell.json"
_FINISHED = "finished"


def sessions_in(path: Path) -> list[Path]:
    """Return the sessions directly below `path`, in the order of their names and numbers.

    A session, or a directory without any in it (a trace that another tool recorded), is itself
    the only one. A cell of a campaign that did not finish is none. Raises TraceError where no
    repetition finished, and for sessions further below: they are of several things.
    """
    if session_of(path) is not None or not path.is_dir():
        return [path]
    below = [place for place in path.iterdir() if (place / MANIFEST).is_file()]
    finished = [place for place in below if _finished(place)]
    if below and not finished:
        raise TraceError(
            f"Cannot use {path}: none of its {len(below)} repetitions finished. Run the campaign "
            "again, or give the session of one repetition."
        )
    further = None if below else next(path.rglob(MANIFEST), None)
    if further is not None:
        raise TraceError(
            f"Cannot use {path}: it contains sessions of different things, such as "
            f"{further.parent}. Give a session, or a directory of repetitions."
        )
    return sorted(finished, key=_numbers_last) or [path]


def warm_up_of(session: Path) -> int:
    """Return how many messages a campaign leaves out at the begin of its cell; 0 of no campaign."""
    whole = session.resolve()
    if len(whole.parents) < 4:
        return 0
    try:
        plan = read_json(whole.parents[3] / _CAMPAIGN)
        name = whole.relative_to(whole.parents[2]).as_posix()
        return int(next((one["warm_up"] for one in plan["cells"] if one["id"] == name), 0))
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _finished(session: Path) -> bool:
    try:
        cell = read_json(session / _CELL)
    except FileNotFoundError:
        # Of a campaign it was interrupted, as cell.json is written last.
        return not (session.parent / ".." / ".." / ".." / _CAMPAIGN).is_file()
    except (OSError, ValueError):
        return False
    return isinstance(cell, dict) and cell.get("status") == _FINISHED


def _numbers_last(path: Path) -> list[tuple[str, int]]:
    """Order r2 before r10."""
    return [(text, int(number or 0)) for text, number in re.findall(r"(\D*)(\d*)", path.name)]
