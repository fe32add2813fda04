# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Groups of chains that are alike, so that a system of many is shown as few.

Chains have one *shape* when their nodes and topics, one after the other, are the same but for
numbers and namespaces: /robot_1/camera and /robot_2/camera, /front/lidar and /rear/lidar. Where
more than `MOST_SHAPES` shapes remain, those that begin and end at the same nodes (by the same rule)
are one group: the ways between the same ends.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from strata.schema import tables
from strata.schema.rows import Rows

Row = Mapping[Hashable, Any]

MOST_SHAPES = 6
_ARROW = " -> "
_NUMBER = re.compile(r"\d+")


def group_chains(chains: Rows) -> tuple[Rows, Rows]:
    """Return the tables `chain_groups` and `chain_group_members`, groups in order of `chains`."""
    rows = list(chains.records())
    shapes = [(_shape(row["nodes"]), _shape(row["name"])) for row in rows]
    keys: list[Hashable] = list(shapes)
    if len(set(keys)) > MOST_SHAPES:
        keys = [(nodes[0], nodes[-1]) for nodes, _ in shapes]
    number = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    members = np.asarray([number[key] for key in keys], np.int64)
    grouped: list[list[Row]] = [[] for _ in number]
    for row, group in zip(rows, members.tolist(), strict=True):
        grouped[group].append(row)
    found = [_group(number, own) for number, own in enumerate(grouped)]
    return (
        Rows.of_records(tables.CHAIN_GROUPS, found),
        Rows(tables.CHAIN_GROUP_MEMBERS, {"chain_id": chains["chain_id"], "group_id": members}),
    )


def _shape(way: str) -> tuple[str, ...]:
    """The last word of each name, with its numbers taken out."""
    return tuple(_NUMBER.sub("#", name.rpartition("/")[2]) for name in way.split(_ARROW))


def _group(number: int, rows: Sequence[Row]) -> dict[str, object]:
    medians = [row["latency_p50_ns"] for row in rows if row["latency_p50_ns"] is not None]
    largest = [row["latency_max_ns"] for row in rows if row["latency_max_ns"] is not None]
    slowest = max(
        rows, key=lambda row: -1.0 if row["latency_p50_ns"] is None else row["latency_p50_ns"]
    )
    hops = [int(row["hop_count"]) for row in rows]
    shapes = {(_shape(row["nodes"]), _shape(row["name"])) for row in rows}
    return {
        "group_id": number,
        "name": _name([row["name"] for row in rows]),
        "nodes": _name([row["nodes"] for row in rows]),
        "same": "shape" if len(shapes) == 1 else "ends",
        "chain_id": slowest["chain_id"],
        "chains": len(rows),
        "count": sum(int(row["count"]) for row in rows),
        "hops_low": min(hops),
        "hops_high": max(hops),
        "p50_low_ns": min(medians, default=None),
        "p50_high_ns": max(medians, default=None),
        "max_ns": max(largest, default=None),
    }


def _name(ways: Sequence[str]) -> str:
    """One way for several: * for what differs, ... for the ways between the same ends."""
    steps = [way.split(_ARROW) for way in ways]
    if len({tuple(_shape(way)) for way in ways}) == 1:
        return _ARROW.join(_one_name(names) for names in zip(*steps, strict=True))
    first, last = ([way[end] for way in steps] for end in (0, -1))
    return _ARROW.join([_one_name(first), "...", _one_name(last)])


def _one_name(names: Sequence[str]) -> str:
    if len(set(names)) == 1:
        return names[0]
    words = [name.split("/") for name in names]
    if len({len(parts) for parts in words}) > 1:
        return "*/" + _one_word([parts[-1] for parts in words])
    return "/".join(_one_word(parts) for parts in zip(*words, strict=True))


def _one_word(words: Sequence[str]) -> str:
    if len(set(words)) == 1:
        return words[0]
    return (
        _NUMBER.sub("*", words[0]) if len({_NUMBER.sub("*", word) for word in words}) == 1 else "*"
    )
