# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which chain of many a summary shows in detail, and in which order the others follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strata.analysis import Analysis, Bottleneck
from strata.schema.layers import CALLBACK, HOLD
from strata.stats.stands_out import LOSS, MIN_OUTLIERS

Row = Mapping[Any, Any]


def chosen_chains(analysis: Analysis, most: int | None = None) -> list[int]:
    """Return the chains to show: of each group the slowest, in order of groups, at most `most`.

    A chain in no group is shown alone.
    """
    chains, grouped = (
        analysis.rows(name)["chain_id"].tolist() for name in ("chains", "chain_group_members")
    )
    known = set(grouped)
    alone = [chain for chain in chains if chain not in known]
    return [*analysis.rows("chain_groups")["chain_id"].tolist(), *alone][:most]


def standing_causes(analysis: Analysis) -> list[dict[Any, Any]]:
    """Return the rows of `system_causes` that stand out, in order of rank."""
    causes = analysis.rows("system_causes")
    return list(causes.take(causes["stands_out"]).records())


def focus_chain(analysis: Analysis) -> int | None:
    """Return the chain that shows best where the time goes; None where there is no chain.

    Of those that `chosen_chains` names, it is one in which the first cause of the whole system has
    a part, then one with a bottleneck of its own, then one with enough slow messages to judge, and
    of equals the first.
    """
    chains = chosen_chains(analysis)
    if not chains:
        return None
    of_chain = {one.chain_id: one for one in analysis.bottlenecks}
    standing = standing_causes(analysis)
    first = standing[0] if standing else None

    def place(chain: int) -> tuple[bool, bool, bool]:
        found = of_chain.get(chain)
        if found is None:
            return False, False, False
        has = first is not None and is_of_cause(found, first)
        return has, has_late_part(found), found.tail_count >= MIN_OUTLIERS

    return max(chains, key=place)


def has_late_part(bottleneck: Bottleneck) -> bool:
    """Tell whether anything stands out of the time of a chain, and not only that it lost some."""
    return bottleneck.stands_out and set(bottleneck.reasons) != {LOSS}


def is_of_cause(bottleneck: Bottleneck, cause: Row) -> bool:
    """Tell whether a chain's bottleneck, typical or of the slowest messages, is a system cause."""
    for layer, where in (
        (bottleneck.layer, bottleneck.where),
        (bottleneck.tail_layer, bottleneck.tail_where),
    ):
        if matches(layer, where, cause):
            return True
    return False


def matches(layer: str, where: str, cause: Row) -> bool:
    """Tell whether a layer at a place (table `blame`) is part of a row of `system_causes`."""
    if cause["kind"] == "executor":
        return "executor wait" in layer
    if cause["kind"] == "topic":
        return layer == cause["layer"] and str(cause["where"]) in where.split()
    if cause["kind"] != "hop":
        return False
    topic, _, node = str(cause["where"]).partition(" in ")
    same = layer == cause["layer"] or {layer, cause["layer"]} <= {CALLBACK.name, HOLD.name}
    of_topic = topic in where or layer not in (CALLBACK.name, HOLD.name)
    return same and of_topic and (node in where or "driver" in layer)
