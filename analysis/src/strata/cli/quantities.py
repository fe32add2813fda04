# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Options that are a time or a size: `30s`, `500ms`, `2h`; `512M`, `20G`."""

from __future__ import annotations

import re
from typing import Any

import click

_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([a-z]+)")
_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([kmgt]?)(?:i?b)?")


class Seconds(click.ParamType[float]):
    """A time with its unit; gives seconds, more than 0."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read the option's text."""
        match = _TIME.fullmatch(str(value).strip().lower())
        if match is None or match[2] not in _SECONDS:
            self.fail(f"'{value}' is no time: write it as 30s, 500ms, 10m or 2h.", param, ctx)
        seconds = float(match[1]) * _SECONDS[match[2]]
        if not seconds:
            self.fail(f"'{value}' is too short: it must be more than 0.", param, ctx)
        return seconds


class Bytes(click.ParamType[int]):
    """A size with or without k, M, G or T, which are powers of 1024; gives bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the option's text."""
        match = _SIZE.fullmatch(str(value).strip().lower())
        if match is None:
            self.fail(f"'{value}' is no size: write it as 512M or 20G.", param, ctx)
        return int(float(match[1]) * _BYTES[match[2]])
