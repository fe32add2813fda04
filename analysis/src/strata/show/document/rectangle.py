# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An analysis as one rectangular table, for `strata analyze --format csv`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from strata.analysis import Analysis
from strata.schema.columns import STATISTICS, statistic

COLUMNS = (
    *("scope", "name", "nodes", "hop", "layer", "where", "share"),
    *(statistic("", name) for name in STATISTICS),
)

_Row = Mapping[str, Any]


def rectangle(analysis: Analysis) -> list[tuple[Any, ...]]:
    """Return one row a hop's or chain's latency and a row for each of its layers.

    Its `COLUMNS`: scope (hop or chain), name, nodes, hop (along the chain, null for a hop), layer
    ("latency" for the whole), where, share (of the whole), and the declared statistics in ns.
    """
    rows = [*_ordered(_hops(analysis)), *_ordered(_chains(analysis))]
    return [tuple(row.get(name) for name in COLUMNS) for row in rows]


def _hops(analysis: Analysis) -> Iterator[_Row]:
    named = {}
    for hop in analysis.rows("hops").records():
        nodes = f"{hop['publisher_node']} -> {hop['subscription_node']}"
        named[hop["hop_id"]] = {"scope": "hop", "name": hop["topic"], "nodes": nodes}
        yield {**named[hop["hop_id"]], **_whole(hop)}
    for layer in analysis.rows("hop_layers").records():
        yield {**layer, **named[layer["hop_id"]]}


def _chains(analysis: Analysis) -> Iterator[_Row]:
    named = {}
    for chain in analysis.rows("chains").records():
        names = {name: chain[name] for name in ("name", "nodes")}
        named[chain["chain_id"]] = {"scope": "chain", **names}
        yield {**named[chain["chain_id"]], **_whole(chain)}
    for layer in analysis.rows("chain_layers").records():
        yield {**layer, **named[layer["chain_id"]]}


def _whole(row: _Row) -> _Row:
    statistics = {statistic("", name): row[statistic("latency_", name)] for name in STATISTICS}
    return {"layer": "latency", "share": 1.0, **statistics}


def _ordered(rows: Iterator[_Row]) -> list[_Row]:
    return sorted(rows, key=lambda row: (row["name"], row["nodes"]))
