# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Text and JSON out of files that may hold anything, read within bounds (YAML: yaml_document).

A file that is no document, or one that would take minutes or gigabytes, is a `DocumentError` that
says in a few words what is wrong, and on which line where that is known.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from strata.errors import StrataError
from strata.printable import printable

MAX_JSON_BYTES = 64 << 20
MAX_DEPTH = 60
"""Mappings, lists or elements within each other."""

MAX_DIGITS = 400
_SHOWN = 40


class DocumentError(ValueError):
    """A file's content is no document that can be used; `line` counts from 1, null if unknown.

    `fact` says what is wrong, `advice` what to do; neither ends in a full stop.
    """

    def __init__(self, fact: str, line: int | None = None, advice: str = "Fix that line") -> None:
        super().__init__(fact)
        self.fact, self.line, self.advice = fact, line, advice

    def refusal(self, path: Path, what: str, error: type[StrataError]) -> StrataError:
        """Make the error that a user sees; `what` the file is of, such as "configuration"."""
        where = f"{path}:{self.line}" if self.line else str(path)
        return error(f"Cannot read {what} {where}: {self.fact}. {self.advice}.")


def read_bytes(path: Path, limit: int, *, follow: bool = True) -> bytes:
    """Read a regular file of at most `limit` bytes; with `follow` false the path is no link.

    Raises DocumentError for what is no such file, OSError for what cannot be opened.
    """
    # Opening a pipe would wait for a writer.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    with os.fdopen(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if stat.S_ISDIR(found.st_mode):
            raise DocumentError("it is a directory", advice="Give a file")
        if not stat.S_ISREG(found.st_mode):
            raise DocumentError("it is not a regular file", advice="Give a file")
        # As much as is asked for is allocated.
        content = file.read(min(found.st_size, limit) + 1)
        if found.st_size < len(content) <= limit:
            # It grows, or the kernel states no size.
            content += file.read(limit + 1 - len(content))
        if len(content) > limit:
            size = max(found.st_size, len(content))
            fact = f"it has {size:,} bytes, and at most {limit:,} are read"
            raise DocumentError(fact, advice="Give a smaller file")
    return content


def read_text(path: Path, limit: int) -> str:
    """Read a text in UTF-8. Raises DocumentError, also for what cannot be opened."""
    try:
        content = read_bytes(path, limit)
    except OSError as error:
        raise DocumentError(error.strerror or str(error), advice="Give a readable file") from error
    return decode(content)


def decode(content: bytes) -> str:
    """Decode UTF-8 without NUL. Raises DocumentError, with the line."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        fact = f"byte 0x{content[error.start]:02x} is not UTF-8"
        raise DocumentError(fact, line, "Give a text file in UTF-8") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DocumentError("it holds a NUL byte", line, "Give a text file in UTF-8")
    return text


def parse_json(text: str) -> Any:
    """Parse JSON. Raises DocumentError for what is none, or has a key twice."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=_whole)
    except json.JSONDecodeError as error:
        raise DocumentError(f"not JSON: {error.msg}", error.lineno) from error
    except RecursionError as error:
        raise DocumentError("it is nested too deeply", advice="Give another file") from error


def read_json(path: Path, limit: int = MAX_JSON_BYTES) -> Any:
    """Read a JSON file. Raises DocumentError, and OSError for what cannot be opened."""
    return parse_json(decode(read_bytes(path, limit)))


def parse_xml(content: bytes) -> ElementTree.Element:
    """Parse XML that declares no entities. Raises DocumentError, with the line."""
    depth = 0

    def begin(*_: object) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            fact = f"it is nested more than {MAX_DEPTH} deep"
            raise DocumentError(fact, parser.CurrentLineNumber)

    def end(_: object) -> None:
        nonlocal depth
        depth -= 1

    def entity(*_: object) -> None:
        fact = "it declares an entity"
        raise DocumentError(fact, parser.CurrentLineNumber, "Write its text instead")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(content, True)
        return ElementTree.fromstring(content)
    except (expat.ExpatError, ElementTree.ParseError) as error:
        raise DocumentError(f"not XML: {error}", parser.CurrentLineNumber) from error
    except DocumentError:
        raise
    except (ValueError, LookupError) as error:
        # An encoding that is not known.
        raise DocumentError(f"not XML: {error}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise DocumentError(f"key '{shown(twice)}' occurs twice", advice="Leave one of them out")
    return made


def _whole(text: str) -> int:
    if len(text) > MAX_DIGITS:
        fact = f"a number has {len(text):,} digits, and at most {MAX_DIGITS} are read"
        raise DocumentError(fact, advice="Write a smaller number")
    return int(text)


def shown(text: str) -> str:
    """Give a piece of a document as it can be told: printable, and not too long."""
    short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return printable(short)
