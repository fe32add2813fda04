# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which layer makes a mode of a latency slower than the next faster one.

As for the modes of one trace (strata.stats.mode_tables), means are over the middle half of each
mode, from its lower to its upper quartile of latency: its outliers do not make it a mode. Layers
add up to the latency, so their differences add up to the difference of the modes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from strata.schema.layers import CALLBACK, HOP_LAYERS, SUSPENDED
from strata.schema.rows import Ints
from strata.schema.tables.measured import CHAIN_LAYERS
from strata.study.campaign_results import Outcome, Results

_KEY = ["cell", "hop", "number"]
_OF_CALLBACK = (CALLBACK, SUSPENDED)


@dataclass(frozen=True)
class Slower:
    """Why a mode is slower: the layer that differs most, by how much (ns), and its share of that.

    `share` is above 1 where other layers are faster in the slow mode.
    """

    layer: str
    by_ns: float
    share: float


def layers_of_messages(
    results: Results, cells: Iterable[Outcome], measure: str, *, of_chains: bool
) -> pd.DataFrame | None:
    """Return the layers of each message that a measure of latency has a value for.

    A row per message with `cell`, `hop`, `number`, and one column per layer in ns, 0 for a message
    without it; they add up to its value. Null for a measure that is not made of layers.
    """
    if measure not in ("latency", "hop_latency", "whole_latency"):
        return None
    chains = of_chains and measure != "hop_latency"
    table, name = ("chains", "chain") if chains else ("transfers", "hop")
    layers = [
        one
        for one in (CHAIN_LAYERS if chains else HOP_LAYERS)
        if measure == "whole_latency" or one not in _OF_CALLBACK
    ]
    parts = []
    for cell in cells:
        rows = results.measured(cell).read(table, [name, "number", *(one.column for one in layers)])
        named = rows.rename(columns={one.column: one.name for one in layers} | {name: "hop"})
        parts.append(named.assign(cell=cell.id))
    if not parts:
        return None
    every = pd.concat(parts, ignore_index=True)
    names = [one.name for one in layers]
    every[names] = every[names].fillna(0).astype(np.int64)
    return every.astype({"cell": str, "hop": str})


def slower_by(own: pd.DataFrame, mode: Ints, layers: pd.DataFrame | None) -> Mapping[int, Slower]:
    """Return for each mode but the fastest the layer that makes it slower than the one before.

    `own` has `cell`, `hop`, `number` and `value` (ns) of each message, `mode` its mode, from 0 for
    the fastest. Imported messages have no layers; a mode of such alone is left out.
    """
    if layers is None or not mode.any():
        return {}
    keys = own[[*_KEY, "value"]].astype({"cell": str, "hop": str}).assign(mode=mode)
    # Those of the whole study would be hashed anew for each group.
    joined = keys.merge(layers[layers["cell"].isin(keys["cell"].unique())], on=_KEY)
    names = [name for name in layers.columns if name not in _KEY]
    means = {of: _middle(joined[joined["mode"] == of], names) for of in np.unique(mode).tolist()}
    found = {}
    for of, mean in means.items():
        if of - 1 not in means or means[of].isna().any() or means[of - 1].isna().any():
            continue
        by = mean[names] - means[of - 1][names]
        whole = mean["value"] - means[of - 1]["value"]
        layer = str(by.idxmax())
        found[of] = Slower(layer, float(by[layer]), float(by[layer] / whole))
    return found


def _middle(rows: pd.DataFrame, names: list[str]) -> pd.Series[float]:
    low, high = rows["value"].quantile([0.25, 0.75])
    return rows[rows["value"].between(low, high)][["value", *names]].mean()
