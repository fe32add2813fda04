# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from strata.printable import printable
from strata.schema.diagnostic import Severity
from strata.schema.quality import SAID_FIRST
from strata.schema.rows import Rows

if TYPE_CHECKING:
    from rich.text import Text

_STYLE = {Severity.LOSS: "bold red", Severity.WARNING: "yellow", Severity.INFO: "dim"}


def finding_line(row: Mapping[Any, Any]) -> Text:
    """Return a row of the `quality` table as text in the colour of its severity."""
    from rich.text import Text

    return Text(f"{row['severity']}: {row['text']}", style=_STYLE[Severity(row["severity"])])


def said_first(rows: Iterable[Mapping[Any, Any]]) -> list[Mapping[Any, Any]]:
    """Return the findings about the recording as a whole, which are said before any result."""
    return [row for row in rows if row["code"] in SAID_FIRST]


def first_lines(rows: Iterable[Mapping[Any, Any]]) -> list[Text]:
    """Return the findings that are said first as lines for a terminal."""
    return [finding_line({**row, "text": printable(row["text"])}) for row in said_first(rows)]


def first_texts(quality: Rows) -> tuple[str, ...]:
    """Return the texts of what the table `quality` says of the recording as a whole."""
    return tuple(str(row["text"]) for row in said_first(quality.records()))
