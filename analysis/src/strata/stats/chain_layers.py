# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of the layers of chains: of each layer of each hop, and of a layer over all hops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.schema import tables
from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.layer import Layer
from strata.schema.layers import BETWEEN_HOSTS
from strata.schema.rows import NONE, Coded, Flags, Ints, Rows
from strata.stats._grouped import Groups
from strata.stats.chain_steps import LAYERS, LayerOfStep, Steps
from strata.stats.layer_places import LayerPlaces
from strata.stats.segments import Segments
from strata.stats.summary import Summary, picked, shares_of, summarize_groups


@dataclass(frozen=True)
class _Found:
    """A layer of a hop, by chain: its statistics, its place (`NONE`: no message), how many."""

    hop: int
    layer: Layer
    summary: Summary
    where: Ints
    places: Ints
    unsynchronised: Ints


def chain_layers(steps: Steps, totals: Ints, places: LayerPlaces) -> tuple[Rows, Segments]:
    """Return the table `chain_layers`, and the segments that it is of.

    `totals` are the summed latencies of the chains.
    """
    apart = steps.messages.words("confidence").are(UNSYNCHRONISED)
    found = [
        _found(part, steps, places, apart)
        for part in steps.layers()
        if (part.duration_ns != NONE).any()
    ]
    there = np.array([of.summary.count > 0 for of in found], bool).reshape(len(found), steps.count)
    # Positions are dense: layers that no instance of a chain has leave no holes.
    position = np.cumsum(there, axis=0) - 1
    segments = Segments.of_steps(
        steps, {(of.hop, of.layer): position[at] for at, of in enumerate(found)}
    )
    if not found:
        return Rows.none(tables.CHAIN_LAYER_STATS), segments
    chain, part = np.nonzero(there.T)
    number = {layer: at for at, layer in enumerate(LAYERS)}
    of_part = np.array([(of.hop, number[of.layer]) for of in found], np.int64)[part]
    where, different, unsynchronised, own = (
        np.array(columns)[part, chain]
        for columns in zip(
            *((of.where, of.places, of.unsynchronised, of.summary.total) for of in found),
            strict=True,
        )
    )
    layers = Rows(
        tables.CHAIN_LAYER_STATS,
        {
            "chain_id": chain,
            "position": position[part, chain],
            "hop": of_part[:, 0],
            "layer": Coded(of_part[:, 1], tuple(layer.name for layer in LAYERS)),
            "where": places.words.column(where),
            "places": different,
            "share": shares_of(own, totals[chain]),
            **picked([of.summary for of in found], part, chain),
            "unsynchronised": unsynchronised,
        },
    )
    return layers, segments


def _found(part: LayerOfStep, steps: Steps, places: LayerPlaces, apart: Flags) -> _Found:
    there = part.duration_ns != NONE
    chain, message = steps.chain[part.instance[there]], part.message[there]
    summary = summarize_groups(Groups(chain, steps.count), part.duration_ns[there])
    where, different = _most_frequent(chain, places.at(part.layer.name, message), summary.count)
    unsynchronised = np.zeros(steps.count, np.int64)
    if part.layer in BETWEEN_HOSTS:
        unsynchronised = np.bincount(chain[apart[message]], minlength=steps.count)
    return _Found(part.hop, part.layer, summary, where, different, unsynchronised)


def _most_frequent(chain: Ints, place: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Return the place of most rows of each chain, of equals the first, and how many there are.

    `chain` ascends; `sizes` has how many rows each has.
    """
    first = np.append(place, NONE)[np.cumsum(sizes) - sizes]
    most, different = np.where(sizes > 0, first, NONE), np.minimum(sizes, 1)
    other = np.flatnonzero(place != first[chain])
    if not len(other):
        return most, different
    # Most chains have one place a layer; only of the others places are counted.
    mixed = np.zeros(len(sizes), bool)
    mixed[chain[other]] = True
    rows = np.flatnonzero(mixed[chain])
    width = int(place.max()) + 2
    keys, begin, count = np.unique(
        chain[rows] * width + place[rows] + 1, return_index=True, return_counts=True
    )
    of, code = np.divmod(keys, width)
    order = np.lexsort((begin, -count, of))
    own, largest, several = np.unique(of[order], return_index=True, return_counts=True)
    most[own], different[own] = code[order[largest]] - 1, several
    return most, different
