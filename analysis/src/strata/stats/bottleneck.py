# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The largest cause of each chain's latency, in plain words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from strata.analysis import Bottleneck
from strata.schema.layers import STORED
from strata.symbols import shorten_place
from strata.units import format_ns

Row = Mapping[Hashable, Any]

_SPREAD = 0.1
"""Share of a layer beyond its largest cause from which on the sentence tells the whole."""
_NAMED = 0.05
"""Share from which on a further callback that was waited for is named, and how many are."""
_MOST_NAMED = 3


def find_bottlenecks(chains: pd.DataFrame, blame: pd.DataFrame) -> tuple[Bottleneck, ...]:
    """Return one bottleneck a chain, in the order of `chains`."""
    by_chain: dict[int, list[Row]] = {}
    for cause_row in blame.to_dict("records"):
        by_chain.setdefault(cause_row["chain_id"], []).append(cause_row)
    return tuple(
        _bottleneck(chain, by_chain[chain["chain_id"]])
        for chain in chains.to_dict("records")
        if chain["chain_id"] in by_chain
    )


def _bottleneck(chain: Row, causes: list[Row]) -> Bottleneck:
    typical = max(causes, key=lambda row: float(row["share_p50"]))
    slowest = max(causes, key=lambda row: float(row["share_p99"]))
    return Bottleneck(
        chain_id=chain["chain_id"],
        chain=chain["name"],
        layer=typical["layer"],
        where=typical["where"],
        share_p50=typical["share_p50"],
        typical_ns=typical["typical_ns"],
        latency_p50_ns=chain["latency_p50"],
        text=_sentence(chain, causes, typical, slowest),
        tail_layer=slowest["layer"],
        tail_where=slowest["where"],
        share_p99=slowest["share_p99"],
        tail_ns=slowest["tail_ns"],
        latency_p99_ns=chain["latency_p99"],
    )


def _sentence(chain: Row, causes: list[Row], typical: Row, slowest: Row) -> str:
    # Means of one group of messages, of which the share is one too; not the median.
    latency_ns = sum(row["typical_ns"] for row in causes)
    first = (
        f"{cause(typical['layer'], typical['where'])}: {format_ns(typical['typical_ns'])} of the "
        f"typical {format_ns(latency_ns)} ({typical['share_p50']:.0%})"
    )
    # A layer that is spread over the hops is no less a bottleneck for having no single place.
    whole = sum(row["share_p50"] for row in causes if row["layer"] == typical["layer"])
    if chain["hop_count"] > 1 and whole - typical["share_p50"] >= _SPREAD:
        first += f"; {typical['layer']} of all hops together is {whole:.0%}"
        first += _others(causes, typical)
    same = (typical["layer"], typical["where"]) == (slowest["layer"], slowest["where"])
    who = "it is" if same else f"{cause(slowest['layer'], slowest['where'])} is"
    return (
        f"{first}. In the slowest 1 % (above {format_ns(chain['latency_p99'])}) {who} "
        f"{format_ns(slowest['tail_ns'])}, {slowest['share_p99']:.0%}."
    )


def _others(causes: list[Row], typical: Row) -> str:
    """Name the next callbacks that were waited for, where one of them is the largest cause."""
    if not str(typical["where"]).startswith("behind "):
        return ""
    same = [
        row
        for row in causes
        if row is not typical
        and row["layer"] == typical["layer"]
        and str(row["where"]).startswith("behind ")
        and row["share_p50"] >= _NAMED
    ]
    largest = sorted(same, key=lambda row: -float(row["share_p50"]))[:_MOST_NAMED]
    parts = [f"{shorten_place(row['where'])} {row['share_p50']:.0%}" for row in largest]
    return f" (also {', '.join(parts)})" if parts else ""


def cause(layer: str, where: str) -> str:
    """Join a layer and its place to words.

    "executor wait behind f (/n)", "hold preempted by x (7) in f (/n)", "dds receive: resends of
    /t", "stored: /t in /n", "transport of /t".
    """
    place = shorten_place(where)
    if place.startswith(("behind ", "preempted ", "blocked in ", "leaving idle in ")):
        return f"{layer} {place}"
    named = layer == STORED.name or place.startswith("resends ")
    return f"{layer}: {place}" if named else f"{layer} of {place}"
