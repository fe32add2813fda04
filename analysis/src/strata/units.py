# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Durations and counts as text: the one place where nanoseconds become another unit.

Results carry nanoseconds everywhere; what a person reads has three significant digits and the unit
that keeps the number between 1 and 1000.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime

NOTHING = "-"
"""What stands for a value that does not exist (null)."""


@dataclass(frozen=True)
class Unit:
    """A unit of time: `ns` nanoseconds make one of it."""

    name: str
    ns: int


_NS = Unit("ns", 1)
_US = Unit("us", 1_000)
_MS = Unit("ms", 1_000_000)
_S = Unit("s", 1_000_000_000)
_UNITS = (_NS, _US, _MS, _S)

_SIGNIFICANT = 3
_SMALLEST_P = 1e-300


def unit_for(ns: float) -> Unit:
    """Return the largest unit of which `ns` (nanoseconds) is at least one; else ns.

    Null gives ns. The number is rounded first, so that 999.9996 us is shown as 1.00 ms and never
    as 1000 us.
    """
    if not math.isfinite(ns):
        return _NS
    rounded = abs(_round_significant(ns))
    return next((unit for unit in reversed(_UNITS) if rounded >= unit.ns), _NS)


def format_ns(ns: float | None, *, micro: str = "us") -> str:
    """Format a duration of `ns` nanoseconds: ``412 ns``, ``1.24 us``, ``5.02 ms``, ``75.0 s``.

    Null (None, NaN, pandas' NA) becomes a dash. `micro` is what stands for microseconds.
    """
    value = as_float(ns)
    if value is None:
        return NOTHING
    unit = unit_for(value)
    name = micro if unit is _US else unit.name
    return f"{format_number(value / unit.ns, whole=unit is _NS)} {name}"


def format_number(value: float, *, whole: bool = False) -> str:
    """Format a number with three significant digits and a comma every three places.

    `whole` leaves a whole number without decimals (``7``, not ``7.00``).
    """
    if value == 0 or (whole and value == round(value)):
        return f"{value:,.0f}"
    rounded = _round_significant(value)
    digits = math.floor(math.log10(abs(rounded))) + 1
    # Rounding `value` itself, not `rounded`: 1,234 s is not shown as 1,230 s.
    return f"{value:,.{max(0, _SIGNIFICANT - digits)}f}"


def format_tick(ns: float, *, micro: str = "us") -> str:
    """Format a round duration for an axis, without trailing zeros: ``1 ms``, ``2.5 us``, ``0``."""
    if ns == 0:
        return "0"
    unit = unit_for(ns)
    return f"{ns / unit.ns:.6g} {micro if unit is _US else unit.name}"


def format_share(share: float | None) -> str:
    """Format a fraction as percent: ``83 %``, ``4.2 %``, ``< 0.1 %``; null is a dash."""
    value = as_float(share)
    if value is None:
        return NOTHING
    percent = 100 * value
    if 0 < percent < 0.1:
        return "< 0.1 %"
    if -0.05 < percent <= 0:
        return "0 %"
    return f"{percent:.0f} %" if percent >= 9.95 else f"{percent:.1f} %"


def format_count(count: int, one: str, many: str) -> str:
    """Format a count with its noun: ``1 event``, ``1,024 events``."""
    return f"{count:,} {one if count == 1 else many}"


def format_size(count: int) -> str:
    """Write a number of bytes with a binary prefix: 16 MiB, 1.5 GiB."""
    for prefix, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return (
                f"{count / size:.3g} {prefix}"
                if count < 1000 * size
                else f"{count // size} {prefix}"
            )
    return f"{count} bytes"


def format_p(p: float | None) -> str:
    """Format a p-value: ``0.38``, ``0.0021``, ``2e-13``, ``< 1e-300``; null is a dash.

    No p-value is 0: what a float cannot hold is told by its bound.
    """
    value = as_float(p)
    if value is None:
        return NOTHING
    if value < _SMALLEST_P:
        return "< 1e-300"
    return f"{value:.0e}".replace("e-0", "e-") if value < 0.001 else f"{value:.2g}"


def format_instant(ns: int) -> str:
    """Format `ns` nanoseconds since the epoch as a UTC time to the millisecond."""
    seconds, rest = divmod(ns, _S.ns)
    at = datetime.fromtimestamp(seconds, tz=UTC)
    return f"{at:%Y-%m-%d %H:%M:%S}.{rest // _MS.ns:03d} UTC"


def as_float(value: object) -> float | None:
    """Return a number of a frame as float, and None for any null or infinity."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _round_significant(value: float) -> float:
    if value == 0:
        return 0.0
    return round(value, _SIGNIFICANT - 1 - math.floor(math.log10(abs(value))))
