# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the events that join the pieces of a coroutine callback."""

from __future__ import annotations

import numpy as np

from strata.model.columns import NONE
from strata.model.event_uses.cases import EARLIER, LOST, Case, Rule
from strata.model.event_uses.evidence import Evidence
from strata.model.timeline import EVENT_OF, Kind


def _suspends(evidence: Evidence) -> list[Case]:
    at, ran = evidence.at(Kind.SUSPEND), evidence.model.executions
    inside = ran.innermost(at) != NONE
    return [
        Case(True, "a coroutine callback awaits", inside),
        Case(False, LOST, evidence.lost_before(evidence.timeline.ns[at])),
        Case(False, EARLIER, evidence.older(evidence.process(at))),
    ]


def _resumes(evidence: Evidence) -> list[Case]:
    at, timeline, ran = evidence.at(Kind.RESUME), evidence.timeline, evidence.model.executions
    start = timeline.after(at, Kind.CALLBACK_START)
    begun = np.isin(start, ran.start[ran.resumed])
    return [
        Case(True, "a coroutine callback goes on", begun),
        Case(False, LOST, evidence.lost_until(at, start)),
        Case(False, "the last of its thread", start == NONE),
    ]


SUSPENSION_RULES: dict[str, Rule] = {
    EVENT_OF[Kind.SUSPEND]: _suspends,
    EVENT_OF[Kind.RESUME]: _resumes,
}
