# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What became of every `ros2`, `rclpy` and `driver` event: what it was used for, or why it was not.

Nothing is passed over in silence: the counts of an event's uses add up to the number of its events.
Each rule names its cases by what must hold of an event; an event of which none holds is
*unexplained*. On a whole trace there is none, unless its events contradict each other.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from strata.model.build import Model
from strata.model.event_uses.calls import CALL_RULES
from strata.model.event_uses.cases import UNEXPLAINED, Case, EventUse, Rule
from strata.model.event_uses.driver import DRIVER_RULES
from strata.model.event_uses.entities import ENTITY_RULES
from strata.model.event_uses.evidence import Evidence
from strata.model.event_uses.messages import MESSAGE_RULES
from strata.model.event_uses.ring_buffers import RING_BUFFER_RULES
from strata.model.event_uses.suspensions import SUSPENSION_RULES
from strata.model.event_uses.threads import THREAD_RULES
from strata.schema.events import CATALOGUE, DRIVER_PROVIDER, PROVIDER, RCLPY_PROVIDER

__all__ = ["RULES", "UNEXPLAINED", "EventUse", "event_uses"]

RULES: Mapping[str, Rule] = {
    **THREAD_RULES,
    **SUSPENSION_RULES,
    **MESSAGE_RULES,
    **RING_BUFFER_RULES,
    **CALL_RULES,
    **ENTITY_RULES,
    **DRIVER_RULES,
}
"""The rule of each event of the catalogue that is accounted for."""


def event_uses(model: Model) -> list[EventUse]:
    """Return the uses of every `ros2`, `rclpy` and `driver` event, in the catalogue's order."""
    evidence = Evidence(model)
    out: list[EventUse] = []
    for name, event in CATALOGUE.items():
        total = model.events.count(name)
        # What stands for events that were not recorded comes from events of the hooks.
        stand_ins = bool(model.events.stand_ins(name).any())
        if (
            event.provider in (PROVIDER, RCLPY_PROVIDER, DRIVER_PROVIDER)
            and total
            and not stand_ins
        ):
            out += _counted(name, total, RULES[name](evidence))
    return out


def _counted(name: str, total: int, cases: list[Case]) -> list[EventUse]:
    """Count each event for the first case that holds, and the rest as unexplained."""
    left = np.ones(total, bool)
    out: list[EventUse] = []
    for case in cases:
        out.append(EventUse(name, case.used, case.text, int((left & case.holds).sum())))
        left &= ~case.holds
    out.append(EventUse(name, False, UNEXPLAINED, int(left.sum())))
    return [use for use in out if use.count]
