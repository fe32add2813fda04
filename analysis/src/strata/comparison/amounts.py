# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Differences, intervals and names of what is compared, as text."""

from __future__ import annotations

from strata.comparison.difference import CONFIDENCE, Estimate
from strata.comparison.runs import CALLBACK, Subject
from strata.symbols import shorten
from strata.units import NOTHING, format_ns, format_number, format_p, unit_for

LEVEL = f"{CONFIDENCE:.0%}".replace("%", " %")


def signed_ns(ns: float) -> str:
    """Format a difference: ``+5.01 ms``, ``-412 ns``, ``0 ns``."""
    return f"{'+' if ns > 0 else ''}{format_ns(ns)}"


def bounds_ns(estimate: Estimate) -> str:
    """Format an interval in one unit: ``+4.99..+5.05 ms``; a bound that does not exist is ``?``."""
    bounds = (estimate.low, estimate.high)
    if bounds == (None, None):
        return NOTHING
    unit = unit_for(max((abs(ns) for ns in bounds if ns is not None), default=0.0))
    low, high = ("?" if ns is None else signed(ns / unit.ns) for ns in bounds)
    return f"{low}..{high} {unit.name}"


def signed(number: float) -> str:
    """Format a number with its sign, also ``+``."""
    return f"{'+' if number > 0 else ''}{format_number(number)}"


def percent(share: float | None, *, sign: bool = True) -> str:
    """Format a fraction as percent: ``+4.2 %``, ``+412 %``; null is a dash."""
    if share is None:
        return NOTHING
    number = 100 * share
    plus = "+" if sign and number > 0 else ""
    return f"{plus}{format_number(number)} %" if abs(number) >= 0.01 or not number else f"{plus}0 %"


def p_text(p: float) -> str:
    """Format a p: ``p = 0.21``, ``p = 3e-18``, ``p < 1e-300``."""
    text = format_p(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def subject_text(subject: Subject) -> str:
    """Name a subject; a callback's symbol is shortened."""
    if subject.kind == CALLBACK:
        return f"{shorten(subject.name)} {subject.where}"
    return f"{subject.name} ({subject.where})"
