# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chains: hops linked through what caused each message (strata.layers.links).

A chain is the row of hops from a message without a cause to one that caused nothing. Messages that
went the same way, hop by hop, are instances of one chain. A message with several causes (fan-in)
ends one way for each; a message that caused several (branches) begins one for each.

A way that stops where others of its kind go on (the message was dropped, filtered, lost, replaced
by a newer one before it was used, or the trace ended) is no chain of its own; it is counted as
truncated. One that begins with a message whose cause is missing from the trace
(strata.layers.chain_begins) is none either: it begins in the middle. Where messages come back to a
hop (a cycle), by whichever of their causes, the links that close the cycle are not followed: a new
chain begins there, unless the message has other causes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine import _model as engine
from strata.layers.links import Links
from strata.lazy import pandas as pd
from strata.model.columns import NONE, Ints
from strata.schema.quality import Finding, Findings

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Chain:
    """One way of hops; `messages` has one row an instance and one column a hop.

    `links` has the rows of the links between them: one column less. `cut_short` counts instances
    from which ways go on that were not followed, because there are too many.
    """

    hops: tuple[int, ...]
    messages: Ints
    links: Ints
    cut_short: int = 0


@dataclass(frozen=True)
class Ways:
    """All ways from messages without a cause; one row a message on a way.

    `previous` is the row before on the way and `link` the link from there, `NONE` at its begin;
    `way` numbers the hops so far, in `hops`. `ended` marks rows from which no way was followed on,
    `capped` those of them from which ways go on. `headless` marks rows of ways that begin in the
    middle, with a message whose cause is missing.
    """

    message: Ints
    previous: Ints
    link: Ints
    way: Ints
    hops: list[tuple[int, ...]]
    ended: Flags
    capped: Flags
    headless: Flags


def find_ways(
    hop: Ints,
    links: Links,
    *,
    headless: Flags | None = None,
    allowed: Flags | None = None,
) -> tuple[Ways, Findings]:
    """Follow every message from those without a cause, level by level.

    `hop` numbers the hop of each message, `NONE` for messages that take no part. `headless` marks
    messages whose cause is missing, `allowed` the links that are followed: all without it. Links
    that were not followed because ways are too many are counted beside the ways.
    """
    none = np.empty(0, bool)
    message, previous, link, way, ended, capped, in_the_middle, before, last, unfollowed = (
        engine.follow_ways(
            hop,
            none if headless is None else headless,
            links.child,
            links.parent,
            none if allowed is None else allowed,
        )
    )
    hops: list[tuple[int, ...]] = []
    for begin, end in zip(before.tolist(), last.tolist(), strict=True):
        hops.append((*hops[begin], end) if begin != NONE else (end,))
    ways = Ways(message, previous, link, way, hops, ended, capped, in_the_middle)
    return ways, Findings(Finding("unfollowed_links", unfollowed))


def find_chains(
    ways: Ways, reportable: set[int], names: Sequence[str] = ()
) -> tuple[list[Chain], Findings]:
    """Return the chains, the longest and busiest first.

    A chain of one hop is returned only when its hop is in `reportable`. `names` are those of the
    hops, for the findings: ways that stop where others go on.
    """
    ends = np.flatnonzero(ways.ended & ~ways.headless)
    ends = ends[np.argsort(ways.way[ends], kind="stable")]
    numbers, first = np.unique(ways.way[ends], return_index=True)
    prefixes = {ways.hops[w][:k] for w in numbers for k in range(1, len(ways.hops[w]))}
    chains, truncated = [], []
    last = np.append(first[1:], len(ends))
    for number, begin, end in zip(numbers.tolist(), first, last, strict=False):
        hops, rows = ways.hops[number], ends[begin:end]
        if hops in prefixes:
            place = f"after {names[hops[-1]]}" if len(names) else ""
            truncated.append(Finding("truncated_chains", len(rows), place=place))
        elif len(hops) > 1 or hops[0] in reportable:
            chains.append(_chain(ways, rows, hops))
    return _busiest_first(chains), Findings(*truncated)


def find_chains_of(ways: Ways, topic_of_hop: Sequence[str], topics: Sequence[str]) -> list[Chain]:
    """Return the chains over the given topics, one after the other; one for each way of hops.

    They may begin and end in the midst of longer ways.
    """
    names = np.asarray(topic_of_hop, dtype=object)
    hop_of_way = np.asarray([hops[-1] for hops in ways.hops], np.int64)
    at_topic = np.append(names[hop_of_way[ways.way]], "") if len(ways.way) else np.array([""])
    rows = np.flatnonzero(at_topic[:-1] == topics[-1])
    begin = rows
    for topic in topics[-2::-1]:
        begin = ways.previous[begin]
        # The row beyond the last stands for none.
        same = at_topic[begin] == topic
        rows, begin = rows[same], begin[same]
    length = len(topics)
    hops = [ways.hops[way][-length:] for way in range(len(ways.hops))]
    number = {hop: index for index, hop in enumerate(dict.fromkeys(hops))}
    kind = np.asarray([number[hop] for hop in hops], np.int64)[ways.way[rows]]
    chains = [
        _chain(ways, rows[kind == index], hop, once=True)
        for hop, index in number.items()
        if (kind == index).any()
    ]
    return _busiest_first(chains)


def _chain(ways: Ways, rows: Ints, hops: tuple[int, ...], *, once: bool = False) -> Chain:
    """Collect the instances that end at rows; `once` drops those that are there twice."""
    columns = engine.collect_instances((ways.message, ways.previous, ways.link), rows, len(hops))
    found, links = (column.reshape(-1, len(hops)) for column in columns)
    between = links[:, 1:]
    if once:
        kept = ~pd.DataFrame(found).duplicated().to_numpy()
        found, between = found[kept], between[kept]
    cut_short = 0 if once else int(ways.capped[rows].sum())
    return Chain(hops, found, between, cut_short)


def _busiest_first(chains: list[Chain]) -> list[Chain]:
    return sorted(chains, key=lambda chain: (-len(chain.hops), -len(chain.messages), chain.hops))
