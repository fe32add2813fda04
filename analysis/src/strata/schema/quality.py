# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of what can be wrong with a trace or uncertain in a result.

Every stage adds counts under a declared code; the counts travel with every result. A code has a
severity: *info* (explains a number), *warning* (results are right but partial, or inferred), *loss*
(data are missing: what was not seen may exist).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from strata.schema.diagnostic import Diagnostic, Severity
from strata.schema.findings import FINDINGS

EVENT_LOSSES = frozenset(
    {
        "discarded_events",
        "lost_packets",
        "truncated_streams",
        "truncated_bytes",
        "unreadable_bytes",
        "unreadable_traces",
    }
)
"""Codes by which events are missing from the trace."""

_NAMED = 6
"""How many of what was found a text names."""

CATALOGUE: dict[str, Diagnostic] = {item.code: item for item in FINDINGS}


def worst_first(code: str) -> tuple[int, str]:
    """Return what to sort codes by: the worst severity first, then by name."""
    order = (Severity.LOSS, Severity.WARNING, Severity.INFO)
    return order.index(CATALOGUE[code].severity), code


def _listed(details: Sequence[str]) -> str:
    """Return names in a row: the first ones, and how many more there are."""
    several = list(dict.fromkeys(details))
    more = len(several) - _NAMED
    return ", ".join(several[:_NAMED]) + (f" and {more} more" if more > 0 else "")


@dataclass
class Ledger:
    """Counts of findings by code, and what was found; only declared codes are accepted."""

    counts: dict[str, int] = field(default_factory=dict)
    details: dict[str, list[str]] = field(default_factory=dict)

    def add(self, code: str, count: int, *details: str) -> None:
        """Add `count` findings (0 adds nothing); raises KeyError for an undeclared code.

        `details` are the names for a text that has them.
        """
        if code not in CATALOGUE:
            raise KeyError(code)
        if count:
            self.counts[code] = self.counts.get(code, 0) + int(count)
            self.details.setdefault(code, []).extend(details)

    def merge(self, other: Ledger) -> None:
        """Add all counts of another ledger."""
        for code, count in other.counts.items():
            self.add(code, count, *other.details.get(code, ()))

    def rows(self) -> list[dict[str, str | int]]:
        """Findings, the worst first, as rows of the `quality` table."""
        found = sorted(self.counts, key=worst_first)
        return [
            {
                "code": code,
                "count": self.counts[code],
                "severity": CATALOGUE[code].severity.value,
                "text": CATALOGUE[code].say(self.counts[code], _listed(self.details.get(code, ()))),
            }
            for code in found
        ]
