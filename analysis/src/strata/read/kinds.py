# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of decoded columns, as the decoder names them: whether they are what is declared.

A kind is a text in the letters of Arrow's formats. This is asked of every trace, and takes none of
what makes tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from strata.schema.events import CATALOGUE, CONTEXT_COLUMNS

_KINDS = {
    "int64": ":l",
    "uint64": ":L",
    "float64": ":g",
    "binary": ":z",
    "dictionary": ":id",
    "list<uint64>": ":+l(item:L)",
    "list<int64>": ":+l(item:l)",
}
_SIGNED = {":L": ":l", ":+l(item:L)": ":+l(item:l)"}
"""Signedness is a matter of the producer's C type, also of a list's numbers."""


def have_misfits(tables: Iterable[tuple[str, Iterable[tuple[str, str]]]]) -> bool:
    """Return whether a column's kind is another than declared, or than a table before has it.

    `tables` are events with names and kinds of their columns. Only undeclared columns are compared
    with those of tables before.
    """
    found: dict[str, dict[str, str]] = {}
    for event, columns in tables:
        kinds = found.setdefault(event, dict(_declared(event)))
        for name, kind in columns:
            same = _SIGNED.get(kind, kind)
            if kinds.setdefault(name, same) != same:
                return True
    return False


@cache
def _declared(event: str) -> dict[str, str]:
    fields = CATALOGUE[event].fields if event in CATALOGUE else ()
    kinds = {item.column or item.name: _KINDS[item.kind.arrow] for item in fields}
    kinds |= {name: _KINDS[kind] for name, kind, _ in CONTEXT_COLUMNS}
    return {name: _SIGNED.get(kind, kind) for name, kind in kinds.items()}
