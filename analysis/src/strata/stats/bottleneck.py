# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The largest cause of each chain's latency, in plain words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
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


_ORDINALS = ("first", "second", "third", "fourth")


def find_bottlenecks(
    chains: pd.DataFrame, blame: pd.DataFrame, modes: pd.DataFrame
) -> tuple[Bottleneck, ...]:
    """Return one bottleneck a chain, in the order of `chains`."""
    same = shared_names(chains)
    sentences = mode_sentences(modes)
    by_chain: dict[int, list[Row]] = {}
    for cause_row in blame.to_dict("records"):
        by_chain.setdefault(cause_row["chain_id"], []).append(cause_row)
    return tuple(
        _bottleneck(
            chain,
            by_chain[chain["chain_id"]],
            f"{chain['nodes']}: " if chain["name"] in same else "",
            sentences.get(chain["chain_id"], ""),
        )
        for chain in chains.to_dict("records")
        if chain["chain_id"] in by_chain
    )


def shared_names(chains: pd.DataFrame) -> set[str]:
    """Return the names that several chains have: branches over the same topics to other nodes."""
    names = chains["name"]
    return set(names[names.duplicated()])


def mode_sentences(modes: pd.DataFrame) -> dict[int, str]:
    """Return a sentence on its modes for each chain in the table `modes`."""
    by_chain: dict[int, list[Row]] = {}
    for row in modes[modes["chain_id"].notna()].to_dict("records"):
        by_chain.setdefault(row["chain_id"], []).append(row)
    return {chain_id: describe_modes(rows) for chain_id, rows in by_chain.items()}


def describe_modes(modes: Sequence[Mapping[Any, Any]]) -> str:
    """Say in a sentence which modes there are, and what makes each slower than the one before.

    `modes` are the rows of one chain or hop in the table `modes`; of a hop, no cause is named.
    """
    words = [f"{format_ns(mode['p50_ns'])} ({mode['share']:.0%})" for mode in modes]
    text = f"{len(modes)} modes: {', '.join(words[:-1])} and {words[-1]}"
    for at, mode in enumerate(modes):
        if not pd.isna(mode.get("layer")):
            which = "slow" if len(modes) == 2 else _ORDINALS[at]
            text += f"; the {which} one is +{format_ns(mode['slower_ns'])}, {_most(mode)}"
    return f"{text}."


def _most(mode: Mapping[Any, Any]) -> str:
    """What makes a mode slower. A share is more than all where something else is faster there."""
    what = cause(mode["layer"], mode["where"])
    text = f"{_part(mode['cause_share'])} of it {what}"
    if mode["layer_share"] - mode["cause_share"] >= _SPREAD:
        text += f" ({mode['layer']} of all hops together: {_part(mode['layer_share'])})"
    return text


def _part(share: float) -> str:
    return "all" if share >= 0.995 else f"{share:.0%}"


def _bottleneck(chain: Row, causes: list[Row], nodes: str, modes: str) -> Bottleneck:
    typical = max(causes, key=lambda row: float(row["share_p50"]))
    slowest = max(causes, key=lambda row: float(row["share_p99"]))
    return Bottleneck(
        chain_id=chain["chain_id"],
        chain=chain["name"],
        nodes=tuple(chain["nodes"].split(" -> ")),
        layer=typical["layer"],
        where=typical["where"],
        share_p50=typical["share_p50"],
        typical_ns=typical["typical_ns"],
        latency_p50_ns=chain["latency_p50"],
        text=" ".join(
            [nodes + _sentence(chain, causes, typical, slowest), *([modes] if modes else [])]
        ),
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
