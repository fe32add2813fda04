# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a user may have meant: the known names nearest to one that is not known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

LISTED = 8
"""How many names an error lists at most."""

_MEANT = 3
_LEAST_LIKE = 0.6
_CONTAINED = 3
"""A part of a name this long is enough to mean the name."""


def nearest(name: str, known: Iterable[str], most: int = _MEANT) -> list[str]:
    """Return the `known` names most like `name`, the most alike first; none when none is.

    Case is ignored. A name that contains the other one counts as alike.
    """
    wanted = name.casefold()
    found = []
    for at, candidate in enumerate(dict.fromkeys(known)):
        likeness = _likeness(wanted, candidate.casefold())
        if likeness >= _LEAST_LIKE:
            found.append((-likeness, at, candidate))
    return [candidate for _, _, candidate in sorted(found)[:most]]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean a or b?", with the space before it; empty when no name is alike."""
    found = nearest(name, known)
    return f" Did you mean {_alternatives(found)}?" if found else ""


def listed(names: Sequence[str], most: int = LISTED) -> str:
    """Return names as a list of bounded length: "a, b, c and 5 more"; "none" for no name."""
    if not names:
        return "none"
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def nearest_first(name: str, known: Sequence[str], most: int = LISTED) -> str:
    """Return known names as `listed` does, those most like `name` first."""
    first = nearest(name, known)
    return listed([*first, *(other for other in known if other not in first)], most)


def _likeness(wanted: str, candidate: str) -> float:
    shorter, longer = sorted((wanted, candidate), key=len)
    ratio = SequenceMatcher(None, wanted, candidate, autojunk=False).ratio()
    if len(shorter) >= _CONTAINED and shorter in longer:
        return max(ratio, _LEAST_LIKE)
    return ratio


def _alternatives(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
