# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of what can be wrong with a trace or uncertain in a result.

Findings are part of every result, as counts under declared codes. A code has a severity: *info*
(explains a number), *warning* (results are right but partial, or inferred), *loss* (data are
missing: something that was not seen may exist).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
        "unanalyzed_chunks",
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
"""Codes about the recording as a whole: they come before all others, in this order."""

_NAMED = 6
"""How many details a text names."""
_PLACES = 3
"""How many places of a finding are named; the others are only counted."""

CATALOGUE: dict[str, Diagnostic] = {item.code: item for item in FINDINGS}


def worst_first(code: str) -> tuple[int, int, str]:
    """Return a sort key for codes: those of the recording first, then severity, then name."""
    order = (Severity.LOSS, Severity.WARNING, Severity.INFO)
    first = SAID_FIRST.index(code) if code in SAID_FIRST else len(SAID_FIRST)
    return first, order.index(CATALOGUE[code].severity), code


def _listed(details: Sequence[str]) -> str:
    """Return a list of names: the first ones, and how many more there are."""
    several = list(dict.fromkeys(details))
    more = len(several) - _NAMED
    return ", ".join(several[:_NAMED]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True)
class Finding:
    """Something found `count` times, with a declared code; raises KeyError for an undeclared one.

    `details` are the names for a text that has them. `place` names a topic, node, callback or
    thread, empty if not known; `span_ns` are the times of the first and the last, in ns since the
    epoch, null if not known.
    """

    code: str
    count: int
    details: tuple[str, ...] = ()
    place: str = ""
    span_ns: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if self.code not in CATALOGUE:
            raise KeyError(self.code)


@dataclass(frozen=True, init=False)
class Findings:
    """What was found wrong or uncertain, in the order found; an immutable value, like results.

    A function that finds something returns it with its result; its caller adds them up: `a + b`.
    """

    found: tuple[Finding, ...]

    def __init__(self, *found: Finding) -> None:
        """Take findings; those with a count of 0 are left out."""
        object.__setattr__(self, "found", tuple(one for one in found if one.count))

    def __add__(self, later: Findings) -> Findings:
        return Findings(*self.found, *later.found)

    @classmethod
    def at(cls, code: str, places: Objects, at_ns: Ints) -> Findings:
        """Return one finding per row, at a place (empty if not known) and time."""
        names, of = np.unique(places.astype(str), return_inverse=True)
        found = [Finding(code, 0)]
        for number, name in enumerate(names.tolist()):
            own = at_ns[of == number]
            span_ns = (int(own.min()), int(own.max()))
            found.append(Finding(code, len(own), place=name, span_ns=span_ns))
        return cls(*found)

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings by code."""
        counts: dict[str, int] = {}
        for one in self.found:
            counts[one.code] = counts.get(one.code, 0) + int(one.count)
        return counts

    @property
    def details(self) -> dict[str, list[str]]:
        """The names by code, as they were added."""
        details: dict[str, list[str]] = {code: [] for code in self.counts}
        for one in self.found:
            details[one.code].extend(one.details)
        return details

    @property
    def places(self) -> dict[str, dict[str, int]]:
        """The number of findings by code and place, as far as places are known."""
        places: dict[str, dict[str, int]] = {}
        for one in self.found:
            if one.place:
                known = places.setdefault(one.code, {})
                known[one.place] = known.get(one.place, 0) + int(one.count)
        return places

    @property
    def spans(self) -> dict[str, tuple[int, int]]:
        """The times of the first and the last by code, ns since the epoch, as far as known."""
        spans: dict[str, tuple[int, int]] = {}
        for one in self.found:
            if one.span_ns is not None:
                first, last = spans.get(one.code, one.span_ns)
                begin, end = one.span_ns
                spans[one.code] = (min(int(first), int(begin)), max(int(last), int(end)))
        return spans

    def rows(self) -> list[dict[str, str | int | None]]:
        """Findings, worst first, as rows of the `quality` table; the text names places."""
        counts, details, places, spans = self.counts, self.details, self.places, self.spans
        return [
            _row(code, counts[code], details[code], places.get(code, {}), spans.get(code))
            for code in sorted(counts, key=worst_first)
        ]


NOTHING_FOUND = Findings()


def _row(
    code: str,
    count: int,
    details: Sequence[str],
    places: Mapping[str, int],
    span_ns: tuple[int, int] | None,
) -> dict[str, str | int | None]:
    text = CATALOGUE[code].say(count, _listed(details))
    where = _where(places, count)
    begin_ns, end_ns = span_ns or (None, None)
    return {
        "code": code,
        "count": count,
        "severity": CATALOGUE[code].severity.value,
        "text": f"{text} Where: {where}." if where else text,
        "places": where,
        "begin_ns": begin_ns,
        "end_ns": end_ns,
    }


def _where(places: Mapping[str, int], count: int) -> str | None:
    """Name the most frequent places of `count` findings; None if none is known."""
    most = sorted(places.items(), key=lambda item: (-item[1], item[0]))
    if not most:
        return None
    alone = len(most) == 1 and most[0][1] == count
    texts = [name if alone else f"{name} ({number:,})" for name, number in most[:_PLACES]]
    if len(most) > _PLACES:
        texts.append(f"and {len(most) - _PLACES} more")
    return "; ".join(texts)
