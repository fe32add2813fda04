# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The sections of an analysis beyond its summary: their names (options of the verb) and help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strata.analysis import Analysis


@dataclass(frozen=True)
class Section:
    """What a section shows, in a sentence, and the declared table that it is of."""

    help: str
    table: str


SECTIONS: dict[str, Section] = {
    "causes": Section(
        "What stands out, in full sentences, and all causes ranked.", "system_causes"
    ),
    "layers": Section("Chains hop by hop and layer by layer, with their modes.", "chains"),
    "trend": Section("How latency changed over time, chain by chain.", "trend"),
    "hops": Section("Every hop: latency, messages lost and why.", "hops"),
    "drivers": Section("Sensor drivers: queues, frames, data lost.", "driver_sources"),
    "executors": Section("Executors: what fills them, what each thread did.", "executors"),
    "services": Section("Services: latency of calls by layer.", "services"),
    "actions": Section("Actions: goals and their phases.", "actions"),
    "callbacks": Section("Every callback: how often and how long it ran.", "callbacks"),
    "timers": Section("Timers: period, lateness, skipped periods.", "timer_statistics"),
    "lifecycle": Section("Lifecycle nodes: time in each state.", "lifecycle_statistics"),
    "quality": Section("The recording; what is lost, inferred or left out.", "quality"),
}
"""By name, in the order in which they are printed."""

ALWAYS = "quality"
"""The section that says something of every trace: also that nothing is missing."""


def sections_of(analysis: Analysis) -> list[str]:
    """Return the names of the sections for which the trace has something, in their order."""
    return [
        name
        for name, section in SECTIONS.items()
        if name == ALWAYS or len(analysis.rows(section.table))
    ]
