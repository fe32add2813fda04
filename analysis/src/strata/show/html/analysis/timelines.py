# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Timelines of single messages in the page: which ones, within a bound on their size."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from strata.show.html import theme
from strata.show.html.analysis.messages import histogram
from strata.timeline.document import Strings, compact
from strata.timeline.embedded import EmbeddedMessage, Embedding
from strata.timeline.timelines import Timelines

if TYPE_CHECKING:
    from strata.analysis import Analysis

SLOWEST, SAMPLED = 20, 21
"""Of each chain: its slowest messages, and those at evenly spaced quantiles of latency."""
MOST_BYTES = 3_000_000
"""All timelines of a page as JSON; of each chain in turn the slowest messages come first."""
_MOST_OTHER = 50
"""Spans of other work of one timeline, the longest; the page says how many are left out."""

Chosen = Mapping[int, Sequence[EmbeddedMessage]]


def chosen_messages(analysis: Analysis, chains: Sequence[int]) -> Chosen:
    """Return by chain the messages that a click should lead to, the slowest first.

    They are the slowest, a sample by quantile, and one for each layer, cause and histogram bar.
    """
    embedding = Embedding(analysis)
    instances = analysis.rows("chain_instances")
    found = {}
    for chain in chains:
        edges = histogram(instances["latency_ns"][instances["chain_id"] == chain])["edges"]
        found[chain] = embedding.of(chain, slowest=SLOWEST, sample=SAMPLED, edges_ns=edges)
    return found


def embedded_timelines(analysis: Analysis, chosen: Chosen) -> dict[str, Any]:
    """Return the timelines of chosen messages for the page's scripts, `MOST_BYTES` at most.

    `of` has each (strata.timeline.document) by `timeline_key`. `left_out` counts those for which
    there was no space.
    """
    strings, of, left_out = Strings(), dict[str, dict[str, Any]](), 0
    timelines = Timelines(analysis, most_other=_MOST_OTHER)
    space = MOST_BYTES
    for one in _in_turn(chosen):
        if space <= 0:
            left_out += 1
            continue
        known = strings.characters
        item = compact(timelines.of_instance(one.chain_instance_id), strings)
        item["why"] = [strings.number(reason.text) for reason in one.reasons]
        of[timeline_key(one)] = item
        space -= len(json.dumps(item, separators=(",", ":")))
        space -= strings.characters - known
    texts = strings.texts()
    slugs = {str(at): theme.paint(text).slug for at, text in enumerate(texts) if theme.known(text)}
    return {"strings": texts, "slugs": slugs, "of": of, "left_out": left_out}


def timeline_key(one: EmbeddedMessage) -> str:
    """Return CHAIN:MESSAGE, as a message may end several chains that begin apart."""
    return f"{one.chain_id}:{one.message_id}"


def _in_turn(chosen: Chosen) -> Iterator[EmbeddedMessage]:
    """Yield a message of each chain, then the next of each."""
    for row in zip_longest(*chosen.values()):
        yield from (one for one in row if one is not None)
