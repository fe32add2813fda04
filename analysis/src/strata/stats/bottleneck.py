# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The largest cause of each chain's latency, in plain words."""

from __future__ import annotations

import pandas as pd

from strata.analysis import Bottleneck
from strata.symbols import shorten_place
from strata.units import format_ns


def find_bottlenecks(chains: pd.DataFrame, blame: pd.DataFrame) -> tuple[Bottleneck, ...]:
    """Return one bottleneck a chain, in the order of `chains`."""
    found = []
    for chain in chains.itertuples():
        causes = blame[blame["chain_id"] == chain.chain_id]
        if causes.empty:
            continue
        typical = causes.loc[causes["share_p50"].idxmax()]
        slowest = causes.loc[causes["share_p99"].idxmax()]
        found.append(
            Bottleneck(
                int(chain.chain_id),
                str(chain.name),
                str(typical["layer"]),
                str(typical["where"]),
                float(typical["share_p50"]),
                float(typical["typical_ns"]),
                float(chain.latency_p50),
                _sentence(typical, slowest, chain.latency_p50, chain.latency_p99),
                str(slowest["layer"]),
                str(slowest["where"]),
                float(slowest["share_p99"]),
                float(slowest["tail_ns"]),
                float(chain.latency_p99),
            )
        )
    return tuple(found)


def _sentence(
    typical: pd.Series,  # type: ignore[type-arg]
    slowest: pd.Series,  # type: ignore[type-arg]
    p50_ns: float,
    p99_ns: float,
) -> str:
    first = (
        f"{cause(typical['layer'], typical['where'])}: {format_ns(typical['typical_ns'])} of the "
        f"typical {format_ns(p50_ns)} ({typical['share_p50']:.0%})"
    )
    same = (typical["layer"], typical["where"]) == (slowest["layer"], slowest["where"])
    who = "it is" if same else f"{cause(slowest['layer'], slowest['where'])} is"
    return (
        f"{first}. In the slowest 1 % (above {format_ns(p99_ns)}) {who} "
        f"{format_ns(slowest['tail_ns'])}, {slowest['share_p99']:.0%}."
    )


def cause(layer: str, where: str) -> str:
    """Join a layer and its place to words: "executor wait behind f (/n)", "middleware of /t"."""
    place = shorten_place(where)
    return f"{layer} {place}" if place.startswith("behind ") else f"{layer} of {place}"
