# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions on durations: the statistic of what ended in a window, held against its bound."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from strata.comparison.amounts import subject_text
from strata.comparison.difference import FEWEST
from strata.comparison.sides import TRANSFER
from strata.guard.conditions import COMPARISONS, Measure
from strata.guard.load import When
from strata.guard.measured import Values, WindowValues
from strata.guard.occurrence import Fault, bound_text
from strata.schema.rows import Ints
from strata.units import format_count, format_ns


def slow(when: When, measure: Measure, values: WindowValues) -> Iterator[Fault]:
    """Yield where a condition on chains, hops, transfers, services, callbacks or layers holds."""
    for own in values.of(when):
        name = f"{when.kind} {subject_text(own.subject)}"
        what = name
        if measure.subject == TRANSFER:
            what = f"{TRANSFER} of {name}"
        elif not when.whole:
            place = f" at {own.place}" if own.place else ""
            what = f"{measure.subject}{place} of {name}"
        yield from held(measure, own, name, what, "took {}")


def held(measure: Measure, values: Values, name: str, what: str, took: str) -> Iterator[Fault]:
    """Yield the fault where the statistic of some values is beyond its bound.

    It is at the value that went the furthest. `took` says a single value.
    """
    ns = values.ns
    found = statistic(ns, measure.statistic)
    limit = measure.limit or ">"
    if found is None or not COMPARISONS[limit](found, measure.bound):
        return
    high = limit in (">", ">=")
    row = int(ns.argmax() if high else ns.argmin())
    shown = format_ns(found)
    if measure.statistic == ("max" if high else "min"):
        text = f"{what} {took.format(shown)}"
    else:
        count = format_count(len(ns), "value", "values")
        text = f"{what} had {measure.statistic} {shown} over {count}"
    severity = found if high else -found
    yield Fault(name, int(values.end_ns[row]), f"{text}, {bound_text(measure)}", severity)


def statistic(ns: Ints, name: str) -> float | None:
    """Return a statistic in ns; null of no value, and a quantile of fewer than FEWEST."""
    if not len(ns):
        return None
    if name in ("min", "max", "mean"):
        return float(getattr(ns, name)())
    return float(np.quantile(ns, float(name[1:]) / 100)) if len(ns) >= FEWEST else None
