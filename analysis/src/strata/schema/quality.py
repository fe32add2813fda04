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

import numpy as np
import numpy.typing as npt

from strata.schema.diagnostic import Diagnostic, Severity
from strata.schema.findings import FINDINGS
from strata.schema.findings.recording import RECORDING

Ints = npt.NDArray[np.int64]
Objects = npt.NDArray[np.object_]

EVENT_LOSSES = frozenset(
    {
        "incomplete_recording",
        "stopped_early",
        "discarded_events",
        "lost_packets",
        "dropped_packets",
        "misplaced_events",
        "truncated_streams",
        "truncated_bytes",
        "unreadable_bytes",
        "cut_metadata",
        "unreadable_traces",
    }
)
"""Codes by which events are missing from the trace."""

SAID_FIRST = tuple(item.code for item in RECORDING)
"""Codes that tell of the recording as a whole: they come before all others, in this order."""

_NAMED = 6
"""How many of what was found a text names."""
_PLACES = 3
"""So many places of a finding are named; of the others it is told how many they are."""

CATALOGUE: dict[str, Diagnostic] = {item.code: item for item in FINDINGS}


def worst_first(code: str) -> tuple[int, int, str]:
    """Return what to sort codes by: those of the recording first, the worst severity, the name."""
    order = (Severity.LOSS, Severity.WARNING, Severity.INFO)
    first = SAID_FIRST.index(code) if code in SAID_FIRST else len(SAID_FIRST)
    return first, order.index(CATALOGUE[code].severity), code


def _listed(details: Sequence[str]) -> str:
    """Return names in a row: the first ones, and how many more there are."""
    several = list(dict.fromkeys(details))
    more = len(several) - _NAMED
    return ", ".join(several[:_NAMED]) + (f" and {more} more" if more > 0 else "")


@dataclass
class Ledger:
    """Counts of findings by code, and what was found; only declared codes are accepted.

    `details` are the names for texts that have them. `places` tells where findings were, in words
    and with their counts, as far as is known; `spans` from when to when, ns since the epoch.
    """

    counts: dict[str, int] = field(default_factory=dict)
    details: dict[str, list[str]] = field(default_factory=dict)
    places: dict[str, dict[str, int]] = field(default_factory=dict)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(
        self,
        code: str,
        count: int,
        *details: str,
        place: str = "",
        span_ns: tuple[int, int] | None = None,
    ) -> None:
        """Add `count` findings (0 adds nothing); raises KeyError for an undeclared code.

        `details` are the names for a text that has them. `place` names a topic, node, callback or
        thread; `span_ns` is the time of the first of these findings and of the last.
        """
        if code not in CATALOGUE:
            raise KeyError(code)
        if not count:
            return
        self.counts[code] = self.counts.get(code, 0) + int(count)
        self.details.setdefault(code, []).extend(details)
        if place:
            known = self.places.setdefault(code, {})
            known[place] = known.get(place, 0) + int(count)
        if span_ns is not None:
            begin, end = self.spans.get(code, span_ns)
            self.spans[code] = (min(begin, int(span_ns[0])), max(end, int(span_ns[1])))

    def add_each(self, code: str, places: Objects, at_ns: Ints) -> None:
        """Add one finding a row, at a place (empty where it is not known) and time."""
        self.add(code, 0)
        names, of = np.unique(places.astype(str), return_inverse=True)
        for number, name in enumerate(names.tolist()):
            own = at_ns[of == number]
            self.add(code, len(own), place=name, span_ns=(int(own.min()), int(own.max())))

    def merge(self, other: Ledger) -> None:
        """Add all counts, places and spans of another ledger."""
        for code, count in other.counts.items():
            known, span_ns = other.places.get(code, {}), other.spans.get(code)
            for place, number in known.items():
                self.add(code, number, place=place, span_ns=span_ns)
            self.add(code, count - sum(known.values()), span_ns=span_ns)
            self.details.setdefault(code, []).extend(other.details.get(code, ()))

    def rows(self) -> list[dict[str, str | int | None]]:
        """Findings, the worst first, as rows of the `quality` table; the text tells places."""
        found = sorted(self.counts, key=worst_first)
        return [self._row(code) for code in found]

    def _row(self, code: str) -> dict[str, str | int | None]:
        text = CATALOGUE[code].say(self.counts[code], _listed(self.details.get(code, ())))
        places = self._places(code)
        begin_ns, end_ns = self.spans.get(code, (None, None))
        return {
            "code": code,
            "count": self.counts[code],
            "severity": CATALOGUE[code].severity.value,
            "text": f"{text} Where: {places}." if places else text,
            "places": places,
            "begin_ns": begin_ns,
            "end_ns": end_ns,
        }

    def _places(self, code: str) -> str | None:
        """Name the places of most findings; None where none is known."""
        places = sorted(self.places.get(code, {}).items(), key=lambda item: (-item[1], item[0]))
        if not places:
            return None
        alone = len(places) == 1 and places[0][1] == self.counts[code]
        texts = [name if alone else f"{name} ({count:,})" for name, count in places[:_PLACES]]
        if len(places) > _PLACES:
            texts.append(f"and {len(places) - _PLACES} more")
        return "; ".join(texts)
