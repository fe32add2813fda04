# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The lines of a text file that somebody else wrote, and errors that name them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from strata.errors import OriginalError
from strata.originals.imported import Finding

_LARGEST_BYTES = 1 << 30
_INT64_MAX = 2**63 - 1
_LARGEST_COUNT = 2**53
_NUMBER = re.compile(
    r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|nan|inf(inity)?)", re.IGNORECASE | re.ASCII
)
"""As C writes numbers; Python's float() takes underscores, too, and digits of every script."""


@dataclass(frozen=True)
class Line:
    """A line of a file; `number` counts from 1."""

    number: int
    text: str


class Text:
    """A file's lines, without line ends; a last line without an end is `cut`, not a line.

    Who writes line by line ends each; a writer that was killed leaves a piece, whose last number
    may lack digits and look whole.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        whole = _read(path)
        *lines, rest = re.split(r"\r\n|\n", whole)
        self.cut: Line | None = Line(len(lines) + 1, rest) if rest.strip() else None
        self.lines = [Line(at, text) for at, text in enumerate(lines, 1) if text.strip()]

    def findings(self) -> list[Finding]:
        """Tell of the piece of a line at the end, if there is one."""
        if self.cut is None:
            return []
        text = f"line {self.cut.number}, the last, is incomplete and left out: its writer stopped"
        return [Finding("cut_line", 1, text)]

    def error(self, line: Line | int, fact: str, advice: str) -> OriginalError:
        """Make the error for a line."""
        number = line if isinstance(line, int) else line.number
        return OriginalError(f"Cannot read {self.path}: line {number} {fact}. {advice}.")

    def none(self, what: str) -> OriginalError:
        """Make the error for a file that has none of what is looked for."""
        return OriginalError(f"Cannot read {self.path}: it has no {what}. Give a file that has it.")

    def rows(
        self, lines: Sequence[Line], columns: Sequence[str], separator: str
    ) -> list[list[str]]:
        """Split lines at `separator`, a pattern; each must have as many fields as columns.

        A separator at the end of a line is no field. Raises OriginalError for another number.
        """
        out = []
        for line in lines:
            fields = fields_of(line.text, separator)
            if len(fields) != len(columns):
                fact = f"has {len(fields)} fields for {len(columns)} columns"
                raise self.error(line, fact, f"The columns are {', '.join(columns)}")
            out.append(fields)
        return out

    def table(
        self,
        lines: Sequence[Line],
        columns: Sequence[str],
        separator: str,
        *,
        words: Collection[str] = (),
        counts: Collection[str] = (),
    ) -> pd.DataFrame:
        """Give lines as a frame: `words` as they are, `counts` as whole numbers, others as float64.

        Raises OriginalError for a line that is not so, and where there are none.
        """
        twice = next((one for one in columns if list(columns).count(one) > 1), None)
        if twice is not None:
            fact = f"column {twice!r} occurs twice"
            raise OriginalError(f"Cannot read {self.path}: {fact}. Name each column once.")
        rows = self.rows(lines, columns, separator)
        if not rows:
            raise self.none("rows")
        table: dict[str, list[str] | list[float]] = {}
        for at, name in enumerate(columns):
            texts = [row[at] for row in rows]
            read = self.count if name in counts else self.number
            table[name] = (
                texts
                if name in words
                else [read(line, name, one) for line, one in zip(lines, texts, strict=True)]
            )
        return pd.DataFrame(table)

    def count(self, line: Line, name: str, text: str) -> float:
        """Read a count, which may be written with a point; raises OriginalError otherwise."""
        number = self.number(line, name, text)
        if is_count(number):
            return number
        raise self.error(line, f"has {name} {text!r}, which is not a count", "Fix the line")

    def integer(self, line: Line, name: str, text: str) -> int:
        """Read a whole number of int64, not below 0; raises OriginalError for anything else."""
        if re.fullmatch(r"[0-9]{1,19}", text) and int(text) <= _INT64_MAX:
            return int(text)
        fact = f"has {name} {text!r}, which is not a whole number of at most 19 digits"
        raise self.error(line, fact, "Write whole nanoseconds")

    def number(self, line: Line, name: str, text: str) -> float:
        """Read a number; infinities and NaN are numbers here. Raises OriginalError otherwise."""
        if _NUMBER.fullmatch(text):
            return float(text)
        fact = f"has {name} {text!r}, which is not a number"
        raise self.error(line, fact, "Fix the line, or leave it out")


def fields_of(text: str, separator: str) -> list[str]:
    """Split a line; blanks around fields go, and so does what a separator at its end leaves."""
    fields = [field.strip() for field in re.split(separator, text.strip())]
    return fields[:-1] if fields[-1] == "" else fields


def is_count(number: float) -> bool:
    """Return whether a number is whole and not below 0, and a float holds it and its neighbours."""
    return 0 <= number <= _LARGEST_COUNT and float(number).is_integer()


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            fact = "it is a directory" if path.is_dir() else "there is no such file"
            raise OriginalError(f"Cannot read {path}: {fact}. Name a file.")
        size = path.stat().st_size
        if size > _LARGEST_BYTES:
            fact = f"it has {size:,} bytes, and at most {_LARGEST_BYTES:,} are read"
            raise OriginalError(f"Cannot read {path}: {fact}. Split it.")
        data = path.read_bytes()
    except OSError as error:
        raise OriginalError(f"Cannot read {path}: {error.strerror}. Name another file.") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        fact = f"line {number} has a byte that is not UTF-8 ({data[error.start]:#04x})"
        raise OriginalError(f"Cannot read {path}: {fact}. Name a text file.") from error
    if not text.strip():
        raise OriginalError(f"Cannot read {path}: it is empty. Name a file with results.")
    if "\0" in text:
        number = text.count("\n", 0, text.index("\0")) + 1
        fact = f"line {number} has a zero byte, as a file after a crash has"
        raise OriginalError(f"Cannot read {path}: {fact}. Remove the line.")
    return text
