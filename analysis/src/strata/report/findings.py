# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings as lines for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from strata.schema.diagnostic import Severity

_STYLE = {Severity.LOSS: "bold red", Severity.WARNING: "yellow", Severity.INFO: "dim"}


def finding_line(row: Mapping[Any, Any]) -> Text:
    """Return a row of the `quality` table as text in the colour of its severity."""
    return Text(f"{row['severity']}: {row['text']}", style=_STYLE[Severity(row["severity"])])
