# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The marks by which Strata knows the files that it wrote: only those are ever replaced unasked.

A mark is looked for in the file itself, never through a link.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Any

from strata.documents import DocumentError, decode, parse_json, read_bytes

TABLES = "tables.json"
RESULTS = "results.json"
TABLES_FORMAT = "strata tables"
RECORDING_FORMAT = "strata recording"
ANNOUNCED_FORMAT = "strata announcements"
RESULTS_FORMAT = "strata results"
_GENERATOR = re.compile(rb'<meta name="generator" content="strata [^"<>]{0,60}">')
# The mark stands before the styles.
_PAGE_HEAD = 2048
_MAX_BYTES = 64 << 20
_SESSION = re.compile(r"strata-.+-\d+-\d+")


def head(path: Path, size: int) -> bytes | None:
    """Give the first bytes of a regular file; null for a link, a pipe, or what cannot be read."""
    try:
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
        with os.fdopen(os.open(path, flags), "rb") as file:
            return file.read(size) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except OSError:
        return None


def foreign_entry(directory: Path, written: Collection[str]) -> str | None:
    """Name an entry of a directory that is none of the files that were written into it.

    Null when there is none. A link, a pipe or a directory of such a name is none of them. The files
    of a directory inside it are named with it: `NAME/FILE`.
    """
    for entry in sorted(directory.iterdir()):
        mode, inside = entry.lstat().st_mode, f"{entry.name}/"
        own = {name.removeprefix(inside) for name in written if name.startswith(inside)}
        if stat.S_ISDIR(mode) and own:
            foreign = foreign_entry(entry, own)
            if foreign is not None:
                return f"{inside}{foreign}"
        elif entry.name not in written or not stat.S_ISREG(mode):
            return entry.name
    return None


def is_own_page(path: Path) -> bool:
    """Tell whether a file is a page that Strata wrote."""
    return _GENERATOR.search(head(path, _PAGE_HEAD) or b"") is not None


def own_tables(directory: Path) -> set[str] | None:
    """Give the names of the files that a tables.json tells of, with its own; null for no such."""
    document = _json(directory / TABLES)
    try:
        if document["format"] != TABLES_FORMAT:
            return None
        tables = (str(table["file"]) for table in document["tables"].values())
        return {TABLES, *tables, *map(str, document.get("files", ()))}
    except (TypeError, KeyError, AttributeError):
        return None


def is_own_results(directory: Path) -> bool:
    """Tell whether a directory is one of results."""
    document = _json(directory / RESULTS)
    return isinstance(document, dict) and document.get("format") == RESULTS_FORMAT


def own_manifest(path: Path) -> dict[str, Any] | None:
    """Give the content of a manifest that a recording wrote; null for any other file.

    Those of before the mark are known by the form of their session's name, or, for a scenario
    without a session, by what they hold.
    """
    document = _json(path)
    if not isinstance(document, dict) or not isinstance(document.get("schema"), int):
        return None
    if "format" in document:
        return document if document["format"] == RECORDING_FORMAT else None
    session = document.get("session", "")
    if session is None:
        return document if {"host", "command", "environment"} <= document.keys() else None
    return document if isinstance(session, str) and _SESSION.fullmatch(session) else None


def is_session(name: object) -> bool:
    """Tell whether a name is one that a recording gives to its LTTng session."""
    return isinstance(name, str) and _SESSION.fullmatch(name) is not None


def _json(path: Path) -> Any:
    try:
        return parse_json(decode(read_bytes(path, _MAX_BYTES, follow=False)))
    except (OSError, DocumentError):
        return None
