# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The words that say where a cause of a latency is: a place, and what held the thread up there.

"preempted by stress-ng (71) in f [/t] (/n)" is one of the things that f spent its time on, and its
place is "f [/t] (/n)". All that splits a layer of one place puts its words before " in ".
"""

from __future__ import annotations

import re
from functools import lru_cache

from strata.symbols import words_before

_BEHIND = "behind "
_WITH_TRIGGER = re.compile(r"^.* \[([^\]]*)\] (\([^()]*\))$", re.DOTALL)
"""What strata.stats.callbacks.describe makes: symbol, trigger, node."""


@lru_cache(maxsize=4096)
def base_place(where: str) -> str:
    """Return a place without what held the thread up there; a wait behind a callback is whole."""
    words = words_before(where)
    return where if is_behind(words) else where[len(words) :]


def is_behind(where: str) -> bool:
    """Return whether a place is a callback that was waited for."""
    return where.startswith(_BEHIND)


def takes_of(callback: str) -> str:
    """Return the place of taking messages for a described callback: "takes of /t (/n)"."""
    return "takes of " + _WITH_TRIGGER.sub(r"\1 \2", callback)
