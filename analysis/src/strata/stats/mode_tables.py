# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Modes of chains and hops as tables, and what makes the difference between two modes.

Between a mode and the next faster one the cause is named whose mean differs most; causes are those
of blame (strata.stats.blame), and as means add up, so do their differences. Means are over the
middle half of a mode, from its lower to its upper quartile of latency: its outliers, or a lesser
mode beyond it, are not what makes it a mode.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.model.columns import NONE, filled
from strata.model.frames import nullable
from strata.schema import tables
from strata.stats.hops import counted
from strata.stats.modes import Modes, find_modes
from strata.stats.partition import partition
from strata.stats.places import base_place

Ints = npt.NDArray[np.int64]
Row = dict[str, object]
FindCauses = Callable[[pd.DataFrame], pd.DataFrame]

_LOOKED_AT = 2_000
"""Causes are looked for in about so many messages of a mode, spread evenly over its latencies."""


@dataclass(frozen=True)
class ModeTables:
    """The tables `chains` and `hops` with their dips and modes, and the table `modes`.

    `instances` is the table `chain_instances` with the mode of each message.
    """

    chains: pd.DataFrame
    instances: pd.DataFrame
    hops: pd.DataFrame
    modes: pd.DataFrame


@dataclass(frozen=True)
class _Found:
    """The modes of a chain or hop; `rows` and `values` (ns) are of its messages."""

    modes: Modes
    rows: Ints
    values: Ints


def mode_tables(
    chains: pd.DataFrame,
    instances: pd.DataFrame,
    segments: pd.DataFrame,
    hops: pd.DataFrame,
    messages: pd.DataFrame,
    find_causes: FindCauses,
) -> ModeTables:
    """Look for modes in the latencies of every chain and hop.

    `find_causes` splits rows of `chain_segments` into causes (strata.stats.blame.find_causes).
    Messages of the start-up are of no mode.
    """
    of_chains = _find(instances, "chain_id", _settled(instances))
    of_hops = _find(messages, "hop_id", np.flatnonzero(counted(messages)))
    causes = _causes(of_chains, instances, segments, find_causes)
    rows: list[Row] = []
    for chain_id, found in of_chains.items():
        rows += [
            {"chain_id": chain_id, **row, **causes.get((chain_id, row["mode"]), {})}
            for row in mode_rows(found.modes, found.values)
        ]
    for hop_id, found in of_hops.items():
        rows += [{"hop_id": hop_id, **row} for row in mode_rows(found.modes, found.values)]
    frame = pd.DataFrame(rows, columns=tables.MODES.names, dtype=object)
    return ModeTables(
        tables.CHAINS.frame(_with_modes(chains, "chain_id", of_chains)),
        tables.CHAIN_INSTANCES.frame(instances.assign(mode=_numbers(of_chains, len(instances)))),
        tables.HOPS.frame(_with_modes(hops, "hop_id", of_hops)),
        tables.MODES.frame(frame),
    )


def mode_rows(modes: Modes, values: Ints) -> list[Row]:
    """Return one row a mode, as in the table `modes` but for causes; none for a single mode."""
    if not modes.bounds_ns:
        return []
    number = modes.number(values)
    rows: list[Row] = []
    for mode in range(len(modes.bounds_ns) + 1):
        own = values[number == mode]
        rows.append(
            {
                "mode": mode,
                "count": len(own),
                "share": len(own) / len(values),
                "low_ns": int(own.min()),
                "high_ns": int(own.max()),
                "p50_ns": float(np.median(own)),
                "mean_ns": int(own.sum()) / len(own),
            }
        )
    return rows


def modes_found(frame: pd.DataFrame, key: str, modes: pd.DataFrame) -> dict[int, Modes]:
    """Return what tables tell of each chain or hop: `frame` is `chains` or `hops`, by `key`."""
    bounds: dict[int, list[int]] = {}
    own = modes[modes[key].notna()].sort_values([key, "mode"])
    for at, high_ns in zip(own[key].tolist(), own["high_ns"].tolist(), strict=True):
        bounds.setdefault(int(at), []).append(int(high_ns))
    known = frame[frame["dip"].notna()]
    columns = (known[name].tolist() for name in (key, "dip", "dip_p"))
    found = dict.fromkeys(frame[key].tolist(), Modes(None, None))
    for at, dip, p_value in zip(*columns, strict=True):
        found[at] = Modes(dip, p_value, tuple(bounds.get(at, [])[:-1]))
    return found


def _settled(instances: pd.DataFrame) -> Ints:
    """Rows that are not of the start-up of their chain; all of a chain that has no others."""
    early = instances["start_up"].astype(bool)
    nothing_else = early.groupby(instances["chain_id"]).transform("all")
    return np.flatnonzero(~early | nothing_else).astype(np.int64)


def _numbers(found: dict[int, _Found], count: int) -> pd.Series[int]:
    """Mode of each of `count` instances; null where its chain has one, or it is of none."""
    mode = np.full(count, NONE, np.int64)
    for of_chain in found.values():
        if of_chain.modes.bounds_ns:
            mode[of_chain.rows] = of_chain.modes.number(of_chain.values)
    return nullable(mode)


def _find(frame: pd.DataFrame, key: str, rows: Ints) -> dict[int, _Found]:
    values = filled(frame["latency_ns"])[rows]
    return {
        at: _Found(find_modes(values[own]), rows[own], values[own])
        for at, own in partition(filled(frame[key])[rows])
    }


def _with_modes(frame: pd.DataFrame, key: str, found: dict[int, _Found]) -> pd.DataFrame:
    nothing = Modes(None, None)
    modes = [found[at].modes if at in found else nothing for at in frame[key].tolist()]
    columns = {
        "dip": [item.dip for item in modes],
        "dip_p": [item.p_value for item in modes],
        "modes": [item.count for item in modes],
    }
    return frame.assign(**{name: pd.Series(of, dtype=object) for name, of in columns.items()})


def _causes(
    of_chains: dict[int, _Found],
    instances: pd.DataFrame,
    segments: pd.DataFrame,
    find_causes: FindCauses,
) -> dict[tuple[int, object], Row]:
    """What makes each mode of a chain slower than the one before, by chain and mode."""
    looked_at = [
        pd.DataFrame({"row": rows, "chain_id": chain_id, "mode": mode})
        for chain_id, found in of_chains.items()
        for mode, rows in _representatives(found)
    ]
    if not looked_at:
        return {}
    chosen = pd.concat(looked_at, ignore_index=True)
    rows = chosen["row"].to_numpy(np.int64)
    chosen["latency_ns"] = instances["latency_ns"].to_numpy(np.int64)[rows]
    chosen["chain_instance_id"] = instances["chain_instance_id"].to_numpy(np.int64)[rows]
    wanted = segments["chain_instance_id"].isin(chosen["chain_instance_id"])
    causes = find_causes(segments[wanted].reset_index(drop=True))
    modes = chosen.set_index("chain_instance_id")["mode"]
    causes = causes.assign(mode=causes["chain_instance_id"].map(modes))
    sums = causes.groupby(["chain_id", "layer", "where", "mode"])["duration_ns"].sum()
    return {
        (chain_id, mode): _slower(sums.loc[chain_id], chosen[chosen["chain_id"] == chain_id], mode)
        for chain_id, found in of_chains.items()
        for mode in range(1, len(found.modes.bounds_ns) + 1)
    }


def _representatives(found: _Found) -> list[tuple[int, Ints]]:
    """Rows of each mode that are looked at; none for a single mode."""
    if not found.modes.bounds_ns:
        return []
    out = []
    for mode, own in partition(found.modes.number(found.values)):
        ordered = own[np.argsort(found.values[own], kind="stable")]
        quarter = (len(ordered) - 1) // 4
        middle = ordered[quarter : len(ordered) - quarter]
        out.append((mode, found.rows[middle[:: -(-len(middle) // _LOOKED_AT)]]))
    return out


def _slower(sums: pd.Series[int], chosen: pd.DataFrame, mode: int) -> Row:
    """The cause whose mean differs most between `mode` and the one before."""
    latency = chosen.groupby("mode")["latency_ns"]
    sizes, means = latency.size(), latency.mean()
    total = float(means[mode] - means[mode - 1])
    of_causes = sums.unstack("mode", fill_value=0) / sizes
    slower = (of_causes[mode] - of_causes[mode - 1]).sort_values(kind="stable")
    layers, places = (slower.index.get_level_values(name) for name in ("layer", "where"))
    return {
        "slower_ns": total,
        "layer": layers[-1],
        "where": places[-1],
        "cause_share": float(slower.iloc[-1]) / total,
        "layer_share": float(slower[layers == layers[-1]].sum()) / total,
        "layer_places": len({base_place(place) for place in places[layers == layers[-1]]}),
    }
