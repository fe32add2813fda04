# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Made up traces in which process ids do not stand for one process each.

    tables = in_namespaces(chance, with_restarts(chance, tables))

Instants are those of events, so that what decides falls together with what it decides on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from strata.read.columns import declared_schema
from strata.schema.event import Phase
from strata.schema.events import CATALOGUE

Tables = dict[str, pa.Table]
_INIT = "ros2:rcl_init"
_NAMES = ("talker", "listener", "relay")
_VERSIONS = ("8.2.2",) * 8 + ("8.6.0", None)


def with_restarts(chance: Random, tables: Mapping[str, pa.Table]) -> Tables:
    """Return tables with further rcl_init events, and main threads that change their names."""
    rows = {name: table.to_pylist() for name, table in tables.items() if len(table)}
    programs = [row for name, own in rows.items() if ":" in name for row in own]
    times = sorted({row["timestamp"] for row in programs})
    ids = sorted({(row["host"], row["vpid"]) for row in programs if row["vpid"] is not None})
    if not ids:
        return dict(tables)
    _merge(chance, programs)
    handles = _handles(rows)
    inits = rows.setdefault(_INIT, [])
    for host, vpid in ids:
        changes = sorted(chance.choice(times) for _ in range(chance.choice((0, 1, 1, 2, 3))))
        begins = [*changes, *(chance.choice(times) for _ in range(chance.choice((0, 0, 1))))]
        if chance.random() < 0.7:
            begins.append(times[0] - 1)
        for at in begins:
            place = {"timestamp": at, "host": host, "vpid": vpid}
            place["vtid"] = chance.choice((vpid, vpid, vpid + 1))
            version, handle = chance.choice(_VERSIONS), chance.choice(handles)
            inits.append(place | {"version": version, "context_handle": handle})
        _name(chance, [row for row in programs + inits if row["vpid"] == vpid], changes)
    return {name: _table(name, own) for name, own in rows.items() if own}


def _merge(chance: Random, programs: list[dict[str, Any]]) -> None:
    """Let one process have the id of another, with which it may share threads' ids."""
    if chance.random() < 0.5:
        return
    vpids = sorted({row["vpid"] for row in programs if row["vpid"] is not None})
    one, other = chance.choice(vpids), chance.choice(vpids)
    for row in programs:
        if row["vpid"] == other:
            row["vpid"] = one


def _handles(rows: Mapping[str, list[dict[str, Any]]]) -> list[int]:
    """Addresses that init events have, and one that none has."""
    found = {
        row[field.column or field.name]
        for name, own in rows.items()
        if name in CATALOGUE and CATALOGUE[name].phase is Phase.INIT
        for field in CATALOGUE[name].fields
        if field.is_of_object
        for row in own
    }
    return [5, *sorted(found - {None})]


def _name(chance: Random, rows: list[dict[str, Any]], changes: list[int]) -> None:
    """Give threads names, other ones after each change; a few events have another one, or none."""
    names = [chance.choice(_NAMES) for _ in (None, *changes)]
    if chance.random() < 0.7:
        names = list((_NAMES * len(names))[: len(names)])
    early, noise = chance.choice((0, 0, 1, 5)), chance.choice((0, 0, 0.05))
    for row in rows:
        past = sum(row["timestamp"] + early >= at for at in changes)
        row["procname"] = names[past]
        if chance.random() < noise:
            row["procname"] = chance.choice((None, *_NAMES))


def in_namespaces(chance: Random, tables: Mapping[str, pa.Table]) -> Tables:
    """Return tables whose processes are of a few namespaces; that of some events is not known."""
    few, unknown = chance.choice(((1,), (1, 2), (0, 7, 9, 8))), chance.choice((0, 0, 0.1))
    known: dict[tuple[int, int], int] = {}
    out = {}
    for name, table in tables.items():
        if ":" not in name:
            out[name] = table
            continue
        numbers = []
        for vpid, vtid in zip(table["vpid"].to_pylist(), table["vtid"].to_pylist(), strict=True):
            number = known.setdefault((vpid, vtid), chance.choice(few))
            numbers.append(None if chance.random() < unknown else number)
        out[name] = table.append_column("pid_ns", pa.array(numbers, pa.uint64()))
    return out


def on_another_host(tables: Tables, vpids: Collection[int], ahead_ns: int) -> Tables:
    """Tables in which some processes ran on a host whose clock is ahead."""
    out = {}
    for name, table in tables.items():
        moved = np.isin(table["vpid"].to_numpy(), list(vpids))
        ns = table["timestamp"].to_numpy() + np.where(moved, ahead_ns, 0)
        host = pa.array(np.where(moved, "robot", "base")).dictionary_encode()
        host = host.cast(pa.dictionary(pa.int32(), pa.string()))
        for column, values in (("timestamp", pa.array(ns)), ("host", pa.chunked_array([host]))):
            table = table.set_column(table.column_names.index(column), column, values)
        out[name] = table.take(pa.array(np.argsort(ns, kind="stable")))
    return out


def in_containers(tables: Tables, *, context: bool) -> Tables:
    """Tables in which every process, and its first thread, has id 1 of a namespace of its own."""
    out = {}
    for name, table in tables.items():
        vpid, vtid = table["vpid"].to_numpy(), table["vtid"].to_numpy()
        threads = {"vpid": np.ones_like(vpid), "vtid": vtid - vpid + 1}
        for column, values in threads.items():
            table = table.set_column(table.column_names.index(column), column, pa.array(values))
        if context:
            table = table.append_column("pid_ns", pa.array(vpid.astype(np.uint64) + 4_026_531_000))
        out[name] = table
    return out


def _table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    schema = declared_schema(name, {})
    plain = pa.schema(
        pa.field(item.name, pa.string()) if pa.types.is_dictionary(item.type) else item
        for item in schema
    )
    ordered = sorted(rows, key=lambda row: row["timestamp"])
    return pa.Table.from_pylist(ordered, schema=plain).cast(schema)
