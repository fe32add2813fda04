# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Modes of chains and hops as tables, and what makes the difference between two modes.

Between a mode and the next faster one the cause is named whose mean differs most; causes are those
of blame (strata.stats.causes), and as means add up, so do their differences. Means are over the
middle half of a mode, from its lower to its upper quartile of latency: its outliers, or a lesser
mode beyond it, are not what makes it a mode.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from strata.engine.groups import sums
from strata.schema import tables
from strata.schema.rows import NONE, Floats, Ints, Rows
from strata.stats.causes import Causes
from strata.stats.grouped import counts, distinct, each, first_rows, ranks
from strata.stats.modes import Modes, find_modes
from strata.stats.partition import partition
from strata.stats.places import base_place
from strata.stats.segments import Segments
from strata.stats.transfers import counted

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, object]
FindCauses = Callable[[Rows], Causes]

_LOOKED_AT = 2_000
"""Causes are looked for in about so many messages of a mode, spread evenly over its latencies."""


@dataclass(frozen=True)
class ModeTables:
    """The tables `chains` and `hops` with their dips and modes, and the table `modes`.

    `instances` is the table `chain_instances` with the mode of each message.
    """

    chains: Rows
    instances: Rows
    hops: Rows
    modes: Rows


@dataclass(frozen=True)
class _Found:
    """The modes of a chain or hop; `rows` and `values` (ns) are of its messages."""

    modes: Modes
    rows: Ints
    values: Ints


def mode_tables(
    chains: Rows,
    instances: Rows,
    segments: Segments,
    hops: Rows,
    messages: Rows,
    find_causes: FindCauses,
) -> ModeTables:
    """Look for modes in the latencies of every chain and hop.

    `find_causes` splits rows of `chain_segments` into causes (strata.stats.causes.find_causes).
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
    return ModeTables(
        _with_modes(chains, "chain_id", of_chains),
        instances.with_columns({"mode": _numbers(of_chains, len(instances))}),
        _with_modes(hops, "hop_id", of_hops),
        Rows.of_records(tables.MODES, rows),
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


def _settled(instances: Rows) -> Ints:
    """Rows that are not of the start-up of their chain; all of a chain that has no others."""
    early, chain = instances["start_up"], instances["chain_id"]
    nothing_else = each(early, chain, int(chain.max(initial=NONE)) + 1)[chain]
    return np.flatnonzero(~early | nothing_else)


def _numbers(found: dict[int, _Found], count: int) -> Ints:
    """Mode of each of `count` instances; null where its chain has one, or it is of none."""
    mode = np.full(count, NONE, np.int64)
    for of_chain in found.values():
        if of_chain.modes.bounds_ns:
            mode[of_chain.rows] = of_chain.modes.number(of_chain.values)
    return mode


def _find(table: Rows, key: str, rows: Ints) -> dict[int, _Found]:
    values = table["latency_ns"][rows]
    return {
        at: _Found(find_modes(values[own]), rows[own], values[own])
        for at, own in partition(table[key][rows])
    }


def _with_modes(table: Rows, key: str, found: dict[int, _Found]) -> Rows:
    nothing = Modes(None, None)
    modes = [found[at].modes if at in found else nothing for at in table[key].tolist()]
    return table.with_columns(
        {
            "dip": _floats([item.dip for item in modes]),
            "dip_p": _floats([item.p_value for item in modes]),
            "modes": np.asarray(
                [NONE if item.count is None else item.count for item in modes], np.int64
            ),
        }
    )


def _floats(values: list[float | None]) -> Floats:
    return np.asarray([np.nan if value is None else value for value in values], np.float64)


def _causes(
    of_chains: dict[int, _Found], instances: Rows, segments: Segments, find_causes: FindCauses
) -> dict[tuple[int, object], Row]:
    """What makes each mode of a chain slower than the one before, by chain and mode."""
    mode = np.full(len(instances), NONE, np.int64)
    for found in of_chains.values():
        for number, rows in _representatives(found):
            mode[rows] = number
    chosen = np.flatnonzero(mode != NONE)
    if not len(chosen):
        return {}
    ids = instances["chain_instance_id"]
    causes = find_causes(segments.of(ids[chosen]))
    of_cause = mode[np.searchsorted(ids, causes.instance)]
    own = dict(partition(causes.chain))
    out: dict[tuple[int, object], Row] = {}
    for chain_id, at in partition(instances["chain_id"][chosen]):
        rows = chosen[at]
        sizes = counts(mode[rows], int(mode[rows].max()) + 1)
        means = sums(mode[rows], instances["latency_ns"][rows], len(sizes)) / sizes
        kinds = _Kinds(causes, own[chain_id], of_cause, sizes)
        out |= {(chain_id, number): kinds.slower(number, means) for number in range(1, len(sizes))}
    return out


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


class _Kinds:
    """The mean of each cause (row, in alphabetical order) in each mode (column) of one chain."""

    def __init__(self, causes: Causes, rows: Ints, mode: Ints, sizes: Ints) -> None:
        layers, self._places = causes.layer.words, causes.where.words
        layer, place = causes.layer.codes[rows], causes.where.codes[rows]
        alphabetical = ranks(layers)[layer] * len(self._places) + ranks(self._places)[place]
        kinds, kind = distinct(alphabetical, len(layers) * len(self._places))
        first = first_rows(kind, len(kinds))
        self._layer = [layers[code] for code in layer[first].tolist()]
        self._place = place[first]
        number = kind * len(sizes) + mode[rows]
        total = sums(number, causes.duration_ns[rows], len(kinds) * len(sizes))
        self._means = total.reshape(len(kinds), len(sizes)) / sizes

    def slower(self, mode: int, latency: Floats) -> Row:
        """The cause whose mean differs most between `mode` and the one before."""
        total = float(latency[mode] - latency[mode - 1])
        slower = self._means[:, mode] - self._means[:, mode - 1]
        order = np.argsort(slower, kind="stable")
        most = int(order[-1])
        layer = self._layer[most]
        of_layer = [at for at in order.tolist() if self._layer[at] == layer]
        places = [self._places[code] for code in self._place[of_layer].tolist()]
        return {
            "slower_ns": total,
            "layer": layer,
            "where": self._places[self._place[most]],
            "cause_share": float(slower[most]) / total,
            "layer_share": float(slower[of_layer].sum()) / total,
            "layer_places": len({base_place(place) for place in places}),
        }
