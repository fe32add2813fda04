# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is told when a condition holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from strata.guard.conditions import Busy, Measure, Skipped
from strata.guard.load import When

BOUND = {">": "more than", ">=": "not less than", "<": "less than", "<=": "not more than"}
"""What each limit is called before the number."""


@dataclass(frozen=True)
class Occurrence:
    """A condition holds of a subject. `at_ns` is when the fault happened, since the epoch.

    Of something slow that is its end; of a lost message its publish; of a publication that did not
    come when it was due. `text` is one sentence without a full stop.
    """

    when: When
    subject: str
    at_ns: int
    text: str


@dataclass(frozen=True)
class Fault:
    """An occurrence before its condition is known, and how bad it is: more is worse."""

    subject: str
    at_ns: int
    text: str
    severity: float


def worst(when: When, faults: Iterable[Fault]) -> list[Occurrence]:
    """Return one occurrence a subject: the worst, of equals the first."""
    found: dict[str, Fault] = {}
    for fault in faults:
        known = found.get(fault.subject)
        if known is None or fault.severity > known.severity:
            found[fault.subject] = fault
    return [Occurrence(when, one.subject, one.at_ns, one.text) for one in found.values()]


def bound_text(condition: Measure | Busy | Skipped) -> str:
    """Say what a condition's bound is: "more than 50 ms"."""
    number = condition.number
    plain = f"{number:f}" if isinstance(number, Decimal) else str(number)
    unit = condition.unit if isinstance(condition, Measure) else "%"
    unit = "" if isinstance(condition, Skipped) else f" {unit}"
    return f"{BOUND[condition.limit or '>']} {plain}{unit}"
