# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What changed in a running system, and what its parts are called, in a few words."""

from __future__ import annotations

from rich.cells import cell_len

from strata.live.judged import Chain
from strata.live.tally import RECENT_NS, ChainTally
from strata.printable import printable
from strata.schema.fates import FATES
from strata.show.words.fitting import fitted
from strata.show.words.naming import ELLIPSIS
from strata.units import format_count, format_number, format_share

_MUCH = 1.5
_LEAST_NS = 100_000
_FEWER = 0.5
_ENOUGH = 20
"""Messages that are expected, from which on fewer of them are no chance."""
_MOST_LAYERS = 4
_SMALL = 0.05
_ARROW = " -> "
_TEXTS = {fate.cause: fate.text for fate in FATES}
_LAST = f"the last {RECENT_NS // 1_000_000_000} s"


def changes(total: ChainTally, recent: ChainTally, span_ns: int, recent_ns: int) -> list[str]:
    """Say how the last seconds of a chain differ from all since the start; empty if little.

    The two spans are the times in which `total` and `recent` were counted.
    """
    if not span_ns:
        return []
    expected = total.latency.count * recent_ns / span_ns
    count = recent.latency.count
    if not count:
        return [f"no message in {_LAST}"] if expected >= 1 else []
    found = []
    now, before = recent.latency.quantile_ns(0.5), total.latency.quantile_ns(0.5)
    if now is not None and before and abs(now - before) > _LEAST_NS:
        if now > _MUCH * before:
            found.append(f"slower: p50 is {format_number(now / before)} times that since the start")
        elif now < before / _MUCH:
            found.append(f"faster: p50 is {format_share(now / before)} of that since the start")
    if expected >= _ENOUGH and count < _FEWER * expected:
        rate = format_share(count / expected)
        found.append(f"fewer messages: {rate} of the rate since the start")
    return found


def largest_layers(chain: ChainTally) -> str:
    """Name the largest layers of a chain: "executor wait 62 %, transport 20 %"; "" for none."""
    whole = sum(chain.layers_ns.values())
    if not whole:
        return ""
    largest = chain.layers_ns.most_common(_MOST_LAYERS)
    shares = [(layer, ns / whole) for layer, ns in largest]
    named = [one for one in shares if one[1] >= _SMALL] or shares[:1]
    return ", ".join(f"{layer} {format_share(share)}" for layer, share in named)


def loss_text(cause: str) -> str:
    """Say how messages were lost, after their count."""
    return _TEXTS.get(cause, cause)


def chain_label(chain: Chain, width: int, *, with_node: bool) -> str:
    """Name a chain in at most `width` cells: by its ends where all its topics are too long.

    `with_node` adds its last node, which tells it from others over the same topics.
    """
    name, nodes = map(printable, chain)
    node = f" > {nodes.rpartition(_ARROW)[2]}" if with_node else ""
    topics = name.split(_ARROW)
    short = [topics, [topics[0], ELLIPSIS, topics[-1]], [ELLIPSIS, topics[-1]]]
    labels = [_ARROW.join(names) + node for names in (short if len(topics) > 1 else [topics])]
    found = (label for label in labels if cell_len(label) <= width)
    return next(found, None) or fitted(topics[-1] + node, width)


def nodes_label(joined: str, width: int) -> str:
    """Name as many of several nodes as there is space for, and count the rest."""
    nodes = printable(joined).split(", ") if joined else []
    if not nodes:
        return "nodes are not known"
    for count in range(len(nodes), 0, -1):
        rest = f" and {len(nodes) - count} more" if count < len(nodes) else ""
        text = ", ".join(nodes[:count]) + rest
        if cell_len(text) <= width:
            return text
    return format_count(len(nodes), "node", "nodes") if len(nodes) > 1 else fitted(nodes[0], width)
