# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What connects messages, by the engine's functions and by NumPy, of one model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy_chains
import numpy_deliveries
import numpy_links

from strata.layers.chain_begins import causes_missing
from strata.layers.chains import Flags, Ways, find_chains, find_ways
from strata.layers.deliveries import find_deliveries
from strata.layers.endpoint_names import endpoint_names
from strata.layers.links import Links, link_messages
from strata.layers.transfers import cut_layers
from strata.model.build import Model
from strata.model.columns import Ints
from strata.model.links import NodeLink, find_links
from strata.schema.links import MessageLink


def assert_same(found: Any, wanted: Any) -> None:
    """Compare dataclasses of columns."""
    for item in fields(wanted):
        own, other = getattr(found, item.name), getattr(wanted, item.name)
        if isinstance(other, np.ndarray):
            assert own.tolist() == other.tolist(), item.name
        elif hasattr(other, "columns"):
            assert own == list(other.itertuples(index=False, name=None)), item.name
        else:
            assert own == other, item.name


def assert_same_ways(
    hop: Ints, links: Links, *, headless: Flags | None = None, allowed: Flags | None = None
) -> Ways:
    """Compare the ways of messages, the instances of their chains, and what was counted."""
    given = {"headless": headless, "allowed": allowed}
    found, unfollowed = find_ways(hop, links, **given)
    wanted, left = numpy_chains.find_ways(hop, links, **given)
    assert_same(found, wanted)
    assert unfollowed == left
    for chain in find_chains(found, set(range(int(hop.max(initial=0)) + 1)))[0]:
        number = found.hops.index(chain.hops)
        ends = np.flatnonzero((found.way == number) & found.ended & ~found.headless)
        assert_same(chain, numpy_chains.collect(wanted, ends, chain.hops))
    return found


def compare(model: Model, declared: Sequence[MessageLink] = ()) -> int:
    """Compare everything; returns how many messages there were."""
    transfers, _ = cut_layers(model)
    known, _ = find_links(model.events, model.entities, declared)
    links = link_messages(model, transfers, [*known, *_by_chance(model)])
    assert_same(links, numpy_links.link_messages(model, transfers, [*known, *_by_chance(model)]))
    names = endpoint_names(model, transfers)
    assert_same_ways(names.hop, links, headless=causes_missing(model, transfers))
    of = model, transfers, names
    assert_same(find_deliveries(*of), numpy_deliveries.find_deliveries(*of))
    return len(transfers)


def _by_chance(model: Model) -> list[NodeLink]:
    """Links that nobody declared: from every second subscription to every second publisher."""
    inputs = np.arange(0, len(model.entities.subscriptions), 2)
    outputs = np.arange(0, len(model.entities.publishers), 2)
    if not len(inputs):
        return []
    halves = (inputs[::2], inputs[1::2])
    return [
        NodeLink("periodic_async", (inputs,), outputs),
        NodeLink("partial_sync", halves, outputs),
    ]
