# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An analysis as the versioned JSON document of `strata analyze --format json`.

The document is a contract, described in docs/json.md: fields are added, never renamed or removed,
while `schema` stays the same.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from strata.analysis import Analysis
from strata.schema import tables
from strata.schema.columns import STATISTICS, statistic
from strata.schema.rows import NONE, Rows
from strata.schema.tables.threads import CPU_USE_NAMES
from strata.show.document.trend import trend_document
from strata.show.words.quantiles import Quantiles
from strata.stats.layer_totals import layer_totals

SCHEMA = 1


def document(analysis: Analysis) -> dict[str, Any]:
    """Return the document; durations are ns, null where there is no value."""
    trace = analysis.trace
    return {
        "schema": SCHEMA,
        "trace": {
            "path": trace.path,
            "events": trace.events,
            "discarded_events": trace.discarded_events,
            "begin_ns": trace.begin_ns,
            "duration_ns": trace.duration_ns,
            "machine": trace.machine,
            "processes": [asdict(process) for process in trace.processes],
        },
        "messages": asdict(analysis.counts),
        "hops": _hops(analysis),
        "chains": _chains(analysis),
        # Only of long recordings.
        **({"trend": trend_document(analysis)} if len(analysis.rows("trend")) else {}),
        "callbacks": _callbacks(analysis),
        "executors": _executors(analysis),
        "timers": [_timer(row) for row in analysis.rows("timer_statistics").records()],
        "lifecycle": _lifecycle(analysis),
        "services": _services(analysis),
        # Only of traces with goals of actions.
        **({"actions": _actions(analysis)} if len(analysis.rows("actions")) else {}),
        # Only of traces with events of drivers.
        **({"drivers": _drivers(analysis)} if len(analysis.rows("driver_sources")) else {}),
        "system": {
            "text": analysis.system.text,
            "stands_out": analysis.system.stands_out,
            "causes": _records(analysis.rows("system_causes")),
        },
        "chain_groups": _groups(analysis),
        "bottlenecks": [plain(asdict(bottleneck)) for bottleneck in analysis.bottlenecks],
        "link_proposals": _records(analysis.rows("link_proposals")),
        "quality": _records(analysis.rows("quality")),
    }


_DELIVERED = ("published", "received", "in_flight", "unknown", "before_first")


def _hops(analysis: Analysis) -> list[dict[str, Any]]:
    quantiles = Quantiles(analysis)
    layers = _with_quantiles(
        _without_units(_grouped(analysis.rows("hop_layers"), "hop_id")), "hop", quantiles
    )
    methods = _methods(analysis.rows("messages"))
    losses = _grouped(analysis.rows("hop_losses"), "hop_id")
    modes = _modes(analysis.rows("modes"), "hop_id")
    return [
        {
            "topic": hop["topic"],
            "publisher_node": hop["publisher_node"],
            "subscription_node": hop["subscription_node"],
            "count": hop["count"],
            "lost": hop["lost"],
            **{name: hop[name] for name in _DELIVERED},
            "unsynchronised": hop["unsynchronised"],
            "losses": losses.get(hop["hop_id"], []),
            "methods": methods.get(hop["hop_id"], {}),
            "latency_ns": _statistics(hop, "latency_"),
            **quantiles.chosen(("hop", hop["hop_id"])),
            "dip": hop["dip"],
            "dip_p": hop["dip_p"],
            "modes": modes.get(hop["hop_id"], []),
            "layers": layers.get(hop["hop_id"], []),
        }
        for hop in _records(analysis.rows("hops"))
    ]


def _methods(messages: Rows) -> dict[int, dict[str, int]]:
    """Return how often messages of each hop were matched by each method."""
    method = messages.words("method")
    known = messages.take(messages.there("method"))
    pairs = np.stack([known["hop_id"], method.ranks()[messages.there("method")]])
    found, count = np.unique(pairs, axis=1, return_counts=True)
    names = sorted(method.words)
    out: dict[int, dict[str, int]] = {}
    for hop_id, rank, times in zip(*found.tolist(), count.tolist(), strict=True):
        out.setdefault(hop_id, {})[names[rank]] = times
    return out


def _chains(analysis: Analysis) -> list[dict[str, Any]]:
    quantiles = Quantiles(analysis)
    segments = _with_quantiles(
        _without_units(_grouped(analysis.rows("chain_layers"), "chain_id")), "chain", quantiles
    )
    blame = _grouped(analysis.rows("blame"), "chain_id")
    threads = _grouped(analysis.rows("chain_scheduling"), "chain_id")
    modes = _modes(analysis.rows("modes"), "chain_id")
    totals = layer_totals(analysis.rows("chain_instances"), analysis.rows("chain_segments"))
    return [
        {
            "name": chain["name"],
            "nodes": chain["nodes"].split(" -> "),
            "count": chain["count"],
            "unfinished": chain["unfinished"],
            "cut_short": chain["cut_short"],
            "unsynchronised": chain["unsynchronised"],
            "latency_ns": _statistics(chain, "latency_"),
            **quantiles.chosen(("chain", chain["chain_id"])),
            "dip": chain["dip"],
            "dip_p": chain["dip_p"],
            "modes": modes.get(chain["chain_id"], []),
            "layers": [plain(row) for row in totals.get(chain["chain_id"], [])],
            "segments": segments.get(chain["chain_id"], []),
            "blame": blame.get(chain["chain_id"], []),
            "start_up": {
                "count": chain["start_up"],
                "end_ns": chain["start_up_end_ns"],
                "node": chain["start_up_node"],
            },
            # Only of traces with kernel events.
            **({"threads": threads[chain["chain_id"]]} if chain["chain_id"] in threads else {}),
        }
        for chain in _records(analysis.rows("chains"))
    ]


def _executors(analysis: Analysis) -> list[dict[str, Any]]:
    threads = _grouped(analysis.rows("executor_threads"), "executor_id", ("host", "vpid"))
    load = _grouped(analysis.rows("executor_load"), "executor_id", ("callback_id",))
    out = []
    for row in analysis.rows("executors").records():
        number = row.pop("executor_id")
        nodes = row["nodes"].split(", ") if row["nodes"] else []
        parts = {"threads": threads.get(number, []), "load": load.get(number, [])}
        out.append({**row, "nodes": nodes, **parts})
    return out


def _groups(analysis: Analysis) -> list[dict[str, Any]]:
    """Groups of chains; `chains` are places in the document's list of chains."""
    members = analysis.rows("chain_group_members")
    return [
        {
            "name": row["name"],
            "nodes": row["nodes"].split(" -> "),
            "same": row["same"],
            "chains": members["chain_id"][members["group_id"] == row["group_id"]].tolist(),
            "slowest": row["chain_id"],
            "count": row["count"],
            "hops": [row["hops_low"], row["hops_high"]],
            "p50_ns": [row["p50_low_ns"], row["p50_high_ns"]],
            "max_ns": row["max_ns"],
        }
        for row in _records(analysis.rows("chain_groups"))
    ]


def _modes(modes: Rows, key: str) -> dict[int, list[dict[str, Any]]]:
    """Modes of chains or hops by id; no cause is named for those of hops."""
    of_hops = ["layer", "where", "slower_ns", "cause_share", "layer_share", "layer_places"]
    unused = ["hop_id"] if key == "chain_id" else ["chain_id", *of_hops]
    return _grouped(modes.take(modes.there(key)), key, unused)


def _services(analysis: Analysis) -> list[dict[str, Any]]:
    layers = _without_units(_grouped(analysis.rows("service_layers"), "service_id"))
    return [
        {
            "service": row["service"],
            "client_node": row["client_node"],
            "service_node": row["service_node"],
            "count": row["count"],
            "lost": row["lost"],
            "latency_ns": _statistics(row, "latency_"),
            "layers": layers.get(row["service_id"], []),
        }
        for row in analysis.rows("services").records()
    ]


def _actions(analysis: Analysis) -> list[dict[str, Any]]:
    phases = _without_units(_grouped(analysis.rows("action_phases"), "action_id"))
    names = [column.name for column in tables.ACTIONS.columns if not column.unit]
    return [
        {
            **{
                name: row[name]
                for name in names
                if name != "action_id" and not name.endswith("_count")
            },
            "latency_ns": _statistics(row, "latency_"),
            "first_feedback_ns": _statistics(row, "first_feedback_"),
            "phases": phases.get(row["action_id"], []),
        }
        for row in analysis.rows("actions").records()
    ]


def _drivers(analysis: Analysis) -> list[dict[str, Any]]:
    losses = _grouped(analysis.rows("driver_losses"), "source_id")
    times = {"queue": ("p50", "p99", "max"), "sweep": ("p50",), "conversion": ("p50", "p99")}
    out = []
    for row in analysis.rows("driver_sources").records():
        number = row.pop("source_id")
        for column in ("nodes", "topics"):
            row[column] = row[column].split(", ") if row[column] else []
        for name, keys in times.items():
            row[f"{name}_ns"] = {key: row.pop(f"{name}_{key}_ns") for key in keys}
        out.append({**row, "losses": losses.get(number, [])})
    return out


def _with_quantiles(
    layers: dict[int, list[dict[str, Any]]], of: str, quantiles: Quantiles
) -> dict[int, list[dict[str, Any]]]:
    """Add the chosen quantiles to the layers of hops or chains, by their number."""
    for number, rows in layers.items():
        for row in rows:
            key = (f"{of} layer", number)
            row |= quantiles.chosen(key, hop=row.get("hop", NONE), layer=row["layer"])
    return layers


def _callbacks(analysis: Analysis) -> list[dict[str, Any]]:
    quantiles = Quantiles(analysis)
    return [
        _callback(row) | quantiles.chosen(("callback", row["callback_id"]))
        for row in analysis.rows("callbacks").records()
    ]


def _callback(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "node": row["node"],
        "symbol": row["symbol"],
        "kind": row["kind"],
        "trigger": row["trigger"],
        "count": row["count"],
        "duration_ns": _statistics(row, "duration_"),
        "period_ns": _statistics(row, "period_"),
        **plain({name: row[name] for name in CPU_USE_NAMES}),
    }


_TIMER_COUNTS = ("count", "skipped", "overruns", "undecided", "pauses", "early", "irregular")


def _timer(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "node": row["node"],
        "symbol": row["symbol"],
        "period_ns": row["period_ns"],
        **{name: row[name] for name in _TIMER_COUNTS},
        "interval_ns": _statistics(row, "interval_"),
        "jitter_ns": _statistics(row, "jitter_"),
        "lateness_ns": _statistics(row, "lateness_"),
    }


def _lifecycle(analysis: Analysis) -> list[dict[str, Any]]:
    """One item a lifecycle node, with its states."""
    nodes: dict[int, dict[str, Any]] = {}
    for row in analysis.rows("lifecycle_statistics").records():
        node = nodes.setdefault(row["lifecycle_node_id"], {"node": row["node"], "states": []})
        node["states"].append(
            {
                "state": row["state"],
                "count": row["count"],
                "total_ns": row["total_ns"],
                "duration_ns": _statistics(row, "duration_"),
            }
        )
    return list(nodes.values())


def _statistics(row: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name: row[statistic(prefix, name)] for name in STATISTICS}


def _without_units(rows: dict[int, list[dict[str, Any]]]) -> dict[int, list[dict[str, Any]]]:
    """Name the statistics of layers as the document does: it is all in ns."""
    names = {statistic("", name): name for name in STATISTICS}
    return {
        key: [{names.get(name, name): value for name, value in row.items()} for row in own]
        for key, own in rows.items()
    }


def _grouped(rows: Rows, key: str, unused: Collection[str] = ()) -> dict[int, list[dict[str, Any]]]:
    """Rows by key, without the key and what is not used."""
    grouped: dict[int, list[dict[str, Any]]] = {}
    for row in _records(rows):
        kept = {name: value for name, value in row.items() if name not in unused}
        grouped.setdefault(kept.pop(key), []).append(kept)
    return grouped


def _records(rows: Rows) -> list[dict[str, Any]]:
    return [plain(row) for row in rows.records()]


def plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a row with values that JSON has: NaN becomes null."""
    return {str(name): _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.item() if hasattr(value, "item") else value
