# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Hops of several traces as the JSON document and the table of `strata hops`.

The document is a contract, described in docs/json.md: fields are added, never renamed or removed,
while `schema` stays the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from strata.schema.columns import STATISTICS
from strata.show.document.analysis import plain
from strata.show.words.hop_selection import Selection
from strata.stats.hop_distributions import Chosen, Distribution, Hop, Measure, TraceHops, Way
from strata.stats.mode_tables import mode_rows

SCHEMA = 1


def hop_document(traces: Sequence[TraceHops], selection: Selection) -> dict[str, Any]:
    """Return the document; durations are ns, and a trace that lacks a hop is not in its list."""
    return {
        "schema": SCHEMA,
        "traces": [
            {"name": trace.name, "path": trace.path, "recording": list(trace.recording)}
            for trace in traces
        ],
        "hops": [
            {
                "topic": way.name,
                "publisher_node": way.nodes[0],
                "subscription_node": way.nodes[1],
                "traces": [
                    {"trace": at, **_hop(trace.hops[way])}
                    for at, trace in enumerate(traces)
                    if way in trace.hops
                ],
            }
            for way in selection.hops(traces)
        ],
        "chains": [
            {
                "name": way.name,
                "nodes": list(way.nodes),
                "traces": [
                    {"trace": at, **_distribution(trace.chains[way])}
                    for at, trace in enumerate(traces)
                    if way in trace.chains
                ],
            }
            for way in selection.chains(traces)
        ],
    }


COLUMNS = ("scope", "name", "nodes", "trace", "taken", "lost", "layer", "modes", *STATISTICS)


def hop_rectangle(traces: Sequence[TraceHops], selection: Selection) -> list[tuple[object, ...]]:
    """Return one row a trace and hop for each span and layer, and a row a chain.

    Its `COLUMNS`: scope (hop or chain), name, nodes, trace, taken and lost (null for chains), layer
    ("transfer" and "latency" for the whole up to callback_start and callback_end), modes (null for
    layers, and where there are too few messages), and the declared statistics in ns. Further
    columns are the quantiles that the user chose.
    """
    rows: list[dict[str, object]] = []
    for way in selection.hops(traces):
        for trace in traces:
            if way in trace.hops:
                rows += _hop_rows(way, trace, trace.hops[way])
    for way in selection.chains(traces):
        for trace in traces:
            if way in trace.chains:
                rows.append(_row("chain", way, trace, "latency", trace.chains[way]))
    columns = hop_columns(traces)
    return [tuple(row.get(name) for name in columns) for row in rows]


def hop_columns(traces: Sequence[TraceHops]) -> tuple[str, ...]:
    """Return the names of the columns: `COLUMNS`, then the quantiles that the user chose."""
    chosen = dict.fromkeys(name for trace in traces for name in trace.quantiles)
    return (*COLUMNS, *(name for name in chosen if name not in COLUMNS))


def _hop(hop: Hop) -> dict[str, Any]:
    return {
        "count": hop.count,
        "lost": hop.lost,
        "published": hop.published,
        "losses": [plain(row) for row in hop.losses],
        "transfer": _measure(hop.transfer),
        "whole": _measure(hop.whole),
        "layers": [
            {
                "layer": part.layer,
                "share": part.share,
                **plain(part.statistics),
                **_chosen(part.quantiles),
                "unsynchronised": part.unsynchronised,
            }
            for part in hop.layers
        ],
    }


def _measure(measure: Measure) -> dict[str, Any]:
    return {
        **_distribution(measure),
        "typical": asdict(measure.typical),
        "slowest": asdict(measure.tail),
    }


def _distribution(found: Distribution) -> dict[str, Any]:
    return {
        "latency_ns": plain(found.statistics),
        **_chosen(found.quantiles),
        "dip": found.modes.dip,
        "dip_p": found.modes.p_value,
        "modes": mode_rows(found.modes, found.values),
    }


def _chosen(quantiles: Chosen) -> dict[str, Any]:
    return {"quantiles_ns": dict(quantiles)} if quantiles else {}


def _hop_rows(way: Way, trace: TraceHops, hop: Hop) -> list[dict[str, object]]:
    counts = {"taken": hop.count, "lost": hop.lost}
    spans = (("transfer", hop.transfer), ("latency", hop.whole))
    wholes = [{**_row("hop", way, trace, name, one), **counts} for name, one in spans]
    layers = [
        {**_named("hop", way, trace, part.layer), **counts, **part.quantiles, **part.statistics}
        for part in hop.layers
    ]
    return wholes + layers


def _row(
    scope: str, way: Way, trace: TraceHops, layer: str, found: Distribution
) -> dict[str, object]:
    return {
        **_named(scope, way, trace, layer),
        "modes": found.modes.count,
        **found.quantiles,
        **found.statistics,
    }


def _named(scope: str, way: Way, trace: TraceHops, layer: str) -> dict[str, object]:
    nodes = " -> ".join(way.nodes)
    return {"scope": scope, "name": way.name, "nodes": nodes, "trace": trace.name, "layer": layer}
