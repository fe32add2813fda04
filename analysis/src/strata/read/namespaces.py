# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes of one id on one host: in two pid namespaces (containers), which the context tells.

A process is known by host and vpid, its id within its own namespace. Where two namespaces of a host
have a process of one id, all events of one of them are put under a host name of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from strata.lazy import arrow_compute as pc
from strata.lazy import pyarrow as pa

CONTEXT = "pid_ns"
_MARK = f" ({CONTEXT} "


def machine_of(host: str) -> str:
    """Return the host's name without the namespace that `tell_namespaces_apart` gave it."""
    return host.partition(_MARK)[0]


def name_of(host: str, number: int) -> str:
    """Return what events of a namespace get in place of the host's name."""
    return f"{host}{_MARK}{number})"


def tell_namespaces_apart(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Return the tables with a host name for each namespace that shares process ids with others.

    The namespace with the least number keeps the host's name. Without the context nothing changes.
    """
    shared = _shared(tables)
    if not shared:
        return dict(tables)
    return {
        name: _renamed(table, shared) if CONTEXT in table.column_names else table
        for name, table in tables.items()
    }


def _shared(tables: Mapping[str, pa.Table]) -> set[tuple[str, int]]:
    """Host and number of each namespace that is to get a name."""
    keys = ["host", "vpid", CONTEXT]
    seen: dict[tuple[str, int], set[int]] = {}
    for table in tables.values():
        if CONTEXT not in table.column_names:
            continue
        for row in table.select(keys).group_by(keys, use_threads=False).aggregate([]).to_pylist():
            if row["vpid"] is not None and row[CONTEXT]:
                seen.setdefault((row["host"], row["vpid"]), set()).add(row[CONTEXT])
    return {(host, number) for (host, _), numbers in seen.items() for number in sorted(numbers)[1:]}


def _renamed(table: pa.Table, shared: set[tuple[str, int]]) -> pa.Table:
    host = table["host"].cast(pa.string())
    for name, number in sorted(shared):
        own = pc.and_(pc.equal(host, name), pc.equal(table[CONTEXT], number))
        host = pc.if_else(pc.fill_null(own, False), name_of(name, number), host)
    kind = table.schema.field("host").type
    place = table.column_names.index("host")
    return table.set_column(place, "host", host.dictionary_encode().cast(kind))
