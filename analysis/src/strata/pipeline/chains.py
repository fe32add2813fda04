# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chains of messages, and what their time went on: blame, modes, what threads did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from strata.analysis import Bottleneck
from strata.layers.chains import Chain, find_chains, find_chains_of, find_ways
from strata.layers.cpu_waits import find_cpu_waits
from strata.layers.links import Links
from strata.layers.readiness import Readiness
from strata.layers.scheduling import layer_times
from strata.layers.scheduling_frames import (
    layer_cpu_waits_rows,
    layer_scheduling_rows,
    preemptions_rows,
)
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.pipeline.absent_chain import absent_chain
from strata.pipeline.messages import Wanted
from strata.pipeline.stages import FINDINGS, stage
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.quality import Finding, Findings
from strata.schema.rows import NONE, Coded, Flags, Ints, Rows
from strata.stats.blame import blame_table
from strata.stats.bottleneck import find_bottlenecks
from strata.stats.callbacks import described, python_nodes
from strata.stats.causes import Evidence, find_causes
from strata.stats.chain_facts import chain_facts
from strata.stats.chains import ChainTables, chain_tables
from strata.stats.evidence import evidence_of
from strata.stats.groups import ChainGroups, chain_groups
from strata.stats.layer_places import LayerPlaces
from strata.stats.mode_tables import mode_tables
from strata.stats.scheduling import scheduling_table
from strata.stats.segments import Segments


def _chains(
    messages: Rows, links: Links, headless: Flags, hops: Rows, wanted: Wanted
) -> tuple[list[Chain], Findings]:
    own = ~hops.words("topic").are(*INTERNAL_TOPICS)
    hop = messages["hop_id"]
    hop = np.where(own[hop], hop, NONE)
    # Hops of which nothing was ever taken come after all others.
    names = [str(topic) for topic in hops.texts("topic")[hops["count"] > 0]]
    if wanted.chain:
        # Only what may be of the chain, so that it is found where all ways are too many.
        hop, allowed = _of_topics(messages, links, hop, wanted.chain)
        ways, unfollowed = find_ways(hop, links, allowed=allowed)
        found = find_chains_of(ways, names, wanted.chain) if _has_all(names, wanted.chain) else []
        if found:
            return found, unfollowed
        everything = replace(wanted, chain=None)
        raise absent_chain(
            wanted.chain,
            list(dict.fromkeys(topic for topic in names if topic not in INTERNAL_TOPICS)),
            lambda: _chain_names(_chains(messages, links, headless, hops, everything)[0], names),
        )
    ways, unfollowed = find_ways(hop, links, headless=headless)
    cut = ways.message[ways.headless & (ways.previous == NONE)]
    begun = messages.take(cut)
    without = Findings.at("chains_without_begin", begun.texts("topic"), begun["publish_ns"])
    reportable = set(hops["hop_id"][own].tolist())
    chains, truncated = find_chains(ways, reportable, names)
    return chains, unfollowed + without + truncated


def _of_topics(
    messages: Rows, links: Links, hop: Ints, topics: Sequence[str]
) -> tuple[Ints, Flags]:
    """Leave out messages of other topics, and links that do not lead from one to the next."""
    number = {topic: at for at, topic in enumerate(dict.fromkeys(topics))}
    words = messages.words("topic")
    of = np.array([*(number.get(word, NONE) for word in words.words), NONE], np.int64)[words.codes]
    steps = [number[one] * len(number) + number[two] for one, two in pairwise(topics)]
    parent, child = of[links.parent], of[links.child]
    allowed = np.isin(parent * len(number) + child, steps) & (parent >= 0) & (child >= 0)
    return np.where(of >= 0, hop, NONE), allowed


def _has_all(topics: Sequence[str], wanted: Sequence[str]) -> bool:
    return set(wanted) <= set(topics)


def _chain_names(chains: Sequence[Chain], topic_of_hop: Sequence[str]) -> list[str]:
    names = (" -> ".join(topic_of_hop[hop] for hop in chain.hops) for chain in chains)
    return list(dict.fromkeys(names))


def _chain_tables(
    chains: Sequence[Chain],
    messages: Rows,
    links: Rows,
    places: LayerPlaces,
    ready: Readiness,
    clocks: tuple[Ints, Ints],
) -> tuple[Rows, Rows, Segments, Rows, Findings]:
    found: ChainTables = chain_tables(chains, messages, links, places, ready, clocks)
    unfinished = Finding("unfinished_chains", int(found.chains["unfinished"].sum()))
    return found.chains, found.instances, found.segments, found.layers, Findings(unfinished)


def _threads(model: Model, transfers: Transfers, links: Links) -> tuple[Rows, Rows, Rows]:
    times, taken = layer_times(model, transfers, links)
    waits = find_cpu_waits(model, transfers, links)
    vtid = model.processes.thread_vtid
    return (
        layer_scheduling_rows(vtid, times),
        preemptions_rows(taken),
        layer_cpu_waits_rows(vtid, waits),
    )


def _evidence(
    places: LayerPlaces,
    messages: Rows,
    blockers: Rows,
    callbacks: Coded,
    objects: Rows,
    scheduling: Rows,
    preemptions: Rows,
    cpu_waits: Rows,
) -> Evidence:
    return evidence_of(
        messages,
        blockers,
        objects,
        scheduling,
        preemptions,
        cpu_waits,
        places=places,
        callbacks=callbacks,
    )


def _modes(
    chains: Rows,
    instances: Rows,
    segments: Segments,
    hops: Rows,
    messages: Rows,
    evidence: Evidence,
) -> tuple[Rows, Rows, Rows, Rows]:
    found = mode_tables(
        chains, instances, segments, hops, messages, lambda chosen: find_causes(chosen, evidence)
    )
    return found.hops, found.chains, found.instances, found.modes


def _bottlenecks(
    chains: Rows,
    instances: Rows,
    segments: Segments,
    messages: Rows,
    hops: Rows,
    modes: Rows,
    blame: Rows,
    groups: ChainGroups,
    objects: Rows,
) -> tuple[Bottleneck, ...]:
    facts = chain_facts(chains, instances, segments, messages, hops, groups)
    return find_bottlenecks(chains, blame, modes, facts, python_nodes(objects))


CHAIN_STAGES = (
    stage("callback_words", described, "callback_objects"),
    stage("layer_places", LayerPlaces.of_messages, "messages", "callback_words"),
    stage(
        ("ways_of_chains", FINDINGS),
        _chains,
        "messages",
        "message_links",
        "headless",
        "plain_hops",
        "wanted",
    ),
    stage(
        ("plain_chains", "plain_instances", "segments", "chain_layers", FINDINGS),
        _chain_tables,
        "ways_of_chains",
        "messages",
        "links",
        "layer_places",
        "readiness",
        "message_clocks",
    ),
    stage("chain_segments", Segments.all, "segments"),
    stage(
        ("layer_scheduling", "preemptions", "layer_cpu_waits"),
        _threads,
        "model",
        "transfers",
        "message_links",
    ),
    stage(
        "evidence",
        _evidence,
        "layer_places",
        "messages",
        "executor_blockers",
        "callback_words",
        "callback_objects",
        "layer_scheduling",
        "preemptions",
        "layer_cpu_waits",
    ),
    stage(
        ("hops", "chains", "chain_instances", "modes"),
        _modes,
        "plain_chains",
        "plain_instances",
        "segments",
        "plain_hops",
        "messages",
        "evidence",
    ),
    stage("groups_of_chains", chain_groups, "chain_instances"),
    stage("blame", blame_table, "chain_instances", "segments", "evidence", "groups_of_chains"),
    stage(
        "chain_scheduling",
        scheduling_table,
        "segments",
        "chain_layers",
        "layer_scheduling",
        "preemptions",
    ),
    stage(
        "bottlenecks",
        _bottlenecks,
        "chains",
        "chain_instances",
        "segments",
        "messages",
        "hops",
        "modes",
        "blame",
        "groups_of_chains",
        "callback_objects",
    ),
)
"""What makes the tables of chains; `plain_chains`, `plain_instances` are those without modes."""
