# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Options that are a moment of a trace: since its first event, or a time of day."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import click

_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
_OFFSET = re.compile(r"(\d{1,18})(?:\.(\d{1,9}))?\s*(ns|us|ms|s|min|h)")
_CLOCK = re.compile(
    r"(?:(\d{4})-(\d\d)-(\d\d)[T ])?(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?: ?UTC|Z)?"
)


@dataclass(frozen=True)
class Instant:
    """A moment: ns since the first event, or a UTC time, of which the date may be left out."""

    since_begin_ns: int | None = None
    date: tuple[int, int, int] | None = None
    of_day_ns: int = 0

    def at(self, begin_ns: int) -> int:
        """Return ns since the epoch in a trace whose first event was at `begin_ns`.

        Without a date, it is the first such time of day that is not before the trace's first
        second.
        """
        if self.since_begin_ns is not None:
            return begin_ns + self.since_begin_ns
        day_ns = 24 * _NS["h"]
        if self.date is not None:
            midnight = int(datetime(*self.date, tzinfo=UTC).timestamp()) * 10**9
            return midnight + self.of_day_ns
        second_ns = begin_ns // 10**9 * 10**9
        found = begin_ns // day_ns * day_ns + self.of_day_ns
        return found if found >= second_ns else found + day_ns


class InstantOfTrace(click.ParamType[Instant]):
    """A moment as `2.5s` since the first event, or `03:43:12.826`, or `2026-11-26T03:43:12Z`."""

    name = "moment"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Instant:
        """Read the option's text."""
        if isinstance(value, Instant):
            return value
        text = str(value).strip()
        if match := _OFFSET.fullmatch(text):
            unit = _NS[match[3]]
            fraction = int((match[2] or "0").ljust(9, "0"))
            return Instant(int(match[1]) * unit + fraction * unit // 10**9)
        match = _CLOCK.fullmatch(text)
        found = None if match is None else self._of_clock(match)
        if found is None:
            self.fail(
                f"'{value}' is not a time: write it as 2.5s or 300ms since the first event, or in "
                "UTC as 03:43:12.826 or 2026-11-26T03:43:12.826.",
                param,
                ctx,
            )
        return found

    @staticmethod
    def _of_clock(match: re.Match[str]) -> Instant | None:
        year, month, day, hour, minute, second, fraction = match.groups()
        date = None if year is None else (int(year), int(month), int(day))
        try:
            datetime(*(date or (2000, 1, 1)), int(hour), int(minute), int(second), tzinfo=UTC)
        except ValueError:
            return None
        seconds = (int(hour) * 60 + int(minute)) * 60 + int(second)
        return Instant(date=date, of_day_ns=seconds * 10**9 + int((fraction or "0").ljust(9, "0")))
