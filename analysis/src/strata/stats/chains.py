# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chains of hops: end-to-end latency per message, cut into contiguous layer segments.

A chain's time is cut into the layers of its hops: of every hop but the last the transfer layers and
the link to the next (*hold*; of stored messages *callback*, *stored* and *link hold*), of the last
the transfer layers and the *callback*; of coroutine callbacks *suspended*, too. Segments of one
instance add up to its latency exactly.

Instances are the messages whose last callback ended, as in the statistics of hops. A callback that
threw has no end: its messages would stop at its start, and mix two different latencies. Where no
message of a chain reaches the end of a callback (callbacks were not recorded), all are instances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strata.layers.chains import Chain
from strata.layers.readiness import Readiness
from strata.schema import tables
from strata.schema.rows import NONE, Coded, Flags, Ints, Rows, Values
from strata.stats._grouped import Groups
from strata.stats.chain_layers import chain_layers
from strata.stats.chain_steps import Steps, find_steps
from strata.stats.layer_places import LayerPlaces
from strata.stats.segments import Segments
from strata.stats.start_up import find_start_ups
from strata.stats.summary import summarize_groups


@dataclass(frozen=True)
class ChainTables:
    """The four declared tables of chains; `segments` is made when it is asked for."""

    chains: Rows
    instances: Rows
    segments: Segments
    layers: Rows


def chain_tables(
    chains: Sequence[Chain],
    messages: Rows,
    links: Rows,
    places: LayerPlaces,
    ready: Readiness | None = None,
    clocks: tuple[Ints, Ints] | None = None,
) -> ChainTables:
    """Return the tables of chains.

    `messages` and `links` are the tables of these names. Without `ready` no message is of the
    start-up. `clocks` number the clocks of the publisher and the reader of each message; without it
    all have one.
    """
    kept, unfinished = _finished(chains, messages)
    steps = find_steps(chains, messages, links, kept)
    instances = _instances(steps, clocks)
    started = find_start_ups(steps, instances["begin_ns"], ready)
    groups = Groups(steps.chain, len(chains))
    latency = summarize_groups(groups, instances["latency_ns"])
    rows = Rows(
        tables.CHAINS,
        {
            "chain_id": np.arange(len(chains)),
            **_names(chains, kept, messages),
            "hop_count": np.array([len(chain.hops) for chain in chains], np.int64),
            "count": groups.sizes,
            **latency.prefixed("latency_"),
            "start_up": np.bincount(steps.chain[started.early], minlength=len(chains)),
            "start_up_end_ns": started.ready_ns,
            "start_up_node": started.node,
            "unfinished": unfinished,
            "cut_short": np.array([chain.cut_short for chain in chains], np.int64),
            "unsynchronised": np.bincount(
                steps.chain[instances["unsynchronised"]], minlength=len(chains)
            ),
        },
    )
    layers, segments = chain_layers(steps, latency.total, places)
    instances = instances.with_columns({"start_up": started.early})
    return ChainTables(rows, instances, segments, layers)


def _finished(chains: Sequence[Chain], messages: Rows) -> tuple[list[Flags], Ints]:
    """Flag the instances of each chain whose last callback has an end; all where none has one.

    And return how many of those that are left out began one.
    """
    ended = messages.there("callback_end_ns")
    # What started no callback (feedback of another client's goal) did not leave one unfinished.
    begun = messages.there("callback_start_ns") & ~ended
    kept, unfinished = [], np.zeros(len(chains), np.int64)
    for at, chain in enumerate(chains):
        last = chain.messages[:, -1]
        own = ended[last]
        if own.any():
            unfinished[at] = begun[last].sum()
        kept.append(own if own.any() else np.ones(len(own), bool))
    return kept, unfinished


def _names(chains: Sequence[Chain], kept: Sequence[Flags], messages: Rows) -> dict[str, Values]:
    """Return what chains and their nodes are called, after one message each."""
    topics, publishers, readers = (
        messages.words(name) for name in ("topic", "publisher_node", "subscription_node")
    )
    names, nodes = [], []
    for chain, own in zip(chains, kept, strict=True):
        rows = chain.messages[int(own.argmax())].tolist()
        names.append(" -> ".join(str(topics.at(row)) for row in rows))
        way = [str(publishers.at(rows[0])), *(str(readers.at(row)) for row in rows)]
        nodes.append(" -> ".join(way))
    return {"name": Coded.of(names), "nodes": Coded.of(nodes)}


def _instances(steps: Steps, clocks: tuple[Ints, Ints] | None) -> Rows:
    """Return the table `chain_instances`, without what is of the start-up."""
    messages = steps.messages
    first, last = steps.firsts, steps.lasts
    begin_ns = messages["begin_ns"][first]
    end_ns = messages["begin_ns"][last] + messages["latency_ns"][last]
    critical = np.ones(len(steps), bool)
    for step in steps.steps:
        linked = step.link != NONE
        critical[step.instance[linked]] &= steps.links["critical"][step.link[linked]]
    apart = np.zeros(len(steps), bool)
    if clocks is not None:
        # By another clock than it ends; hops in between may be apart.
        apart = clocks[0][first] != clocks[1][last]
    return Rows(
        tables.CHAIN_INSTANCES,
        {
            "chain_instance_id": np.arange(len(steps)),
            "chain_id": steps.chain,
            "message_id": last,
            "begin_ns": begin_ns,
            "end_ns": end_ns,
            "latency_ns": end_ns - begin_ns,
            "critical": critical,
            "start_up": np.zeros(len(steps), bool),
            "unsynchronised": apart,
        },
    )
