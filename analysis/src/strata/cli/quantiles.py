# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Percentiles as the user writes them."""

from __future__ import annotations

from fractions import Fraction

import click

MOST = 5
"""More do not fit beside each other in a terminal of 80 columns."""


def _parsed(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> tuple[float, ...]:
    return parse_quantiles(text) if text is not None else ()


quantiles_option = click.option(
    "--quantiles",
    callback=_parsed,
    metavar="PERCENTILES",
    help="Percentiles to show in place of the usual: 50,95,99.9.",
)
"""Gives fractions of 1, ascending; none where the user chose none."""


def parse_quantiles(text: str) -> tuple[float, ...]:
    """Return "50,95,99.9" as fractions of 1, ascending; raises UsageError for what is none."""
    found = set()
    for part in text.split(","):
        try:
            percent = Fraction(part.strip())
        except (ValueError, ZeroDivisionError):
            raise click.UsageError(
                f"--quantiles {text!r}: {part.strip()!r} is no percentile, as in 50,95,99.9"
            ) from None
        if not 0 <= percent <= 100:
            raise click.UsageError(
                f"--quantiles {text!r}: {part.strip()} is no percentile: they go from 0 to 100"
            )
        found.add(float(percent / 100))
    if len(found) > MOST:
        raise click.UsageError(
            f"--quantiles {text!r}: {len(found)} are too many, of at most {MOST}"
        )
    return tuple(sorted(found))
