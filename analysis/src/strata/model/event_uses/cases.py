# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of rules, and what they come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from strata.model.event_uses.evidence import Evidence
from strata.model.joins import Flags

UNEXPLAINED = "unexplained"
LOST = "its partner was lost"
EARLIER = "its partner lies before the trace"


@dataclass(frozen=True)
class EventUse:
    """`count` events of a name were used, or not, for the reason that `text` gives."""

    event: str
    used: bool
    text: str
    count: int


@dataclass(frozen=True)
class Case:
    """One reason: `holds` tells of which events of the rule's name, in any order kept by all."""

    used: bool
    text: str
    holds: Flags


Rule = Callable[[Evidence], list[Case]]
"""The cases of an event's name, in order: an event counts for the first that holds of it."""
