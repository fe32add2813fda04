# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An analysis as one rectangular table, for `strata analyze --format csv`."""

from __future__ import annotations

import pandas as pd

from strata.analysis import Analysis
from strata.schema.columns import STATISTICS


def rectangle(analysis: Analysis) -> pd.DataFrame:
    """Return one row a hop's or chain's latency and a row for each of its layers.

    Columns: scope (hop or chain), name, nodes, hop (along the chain, null for a hop), layer
    ("latency" for the whole), where, share (of the whole), and the declared statistics in ns.
    """
    parts = [_hops(analysis), _chains(analysis)]
    return pd.concat(parts, ignore_index=True)


def _hops(analysis: Analysis) -> pd.DataFrame:
    hops = analysis.hops.assign(
        scope="hop",
        name=analysis.hops["topic"],
        nodes=analysis.hops["publisher_node"] + " -> " + analysis.hops["subscription_node"],
    )
    layers = analysis.hop_layers.merge(hops[["hop_id", "scope", "name", "nodes"]], on="hop_id")
    return _shaped(hops, layers.assign(hop=None, where=None))


def _chains(analysis: Analysis) -> pd.DataFrame:
    chains = analysis.chains.assign(scope="chain")
    layers = analysis.chain_layers.merge(chains[["chain_id", "scope", "name", "nodes"]])
    return _shaped(chains, layers)


def _shaped(wholes: pd.DataFrame, layers: pd.DataFrame) -> pd.DataFrame:
    renamed = wholes.drop(columns="count").rename(
        columns={f"latency_{name}": name for name in STATISTICS}
    )
    whole = renamed.assign(layer="latency", share=1.0, hop=None, where=None)
    columns = ["scope", "name", "nodes", "hop", "layer", "where", "share", *STATISTICS]
    return pd.concat([whole[columns], layers[columns]], ignore_index=True).sort_values(
        ["scope", "name", "nodes"], kind="stable", ignore_index=True
    )
