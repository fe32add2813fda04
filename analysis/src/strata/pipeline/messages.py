# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages, and what is made of them: layers, hops, chains, blame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.analysis import Bottleneck
from strata.errors import TraceError
from strata.layers.between_hosts import clocks_of, count_between_hosts
from strata.layers.blockers import find_blockers
from strata.layers.chain_begins import causes_missing
from strata.layers.chains import Chain, Ways, find_chains, find_chains_of, find_ways
from strata.layers.cpu_waits import find_cpu_waits
from strata.layers.deliveries import Deliveries, find_deliveries
from strata.layers.endpoint_names import endpoint_names
from strata.layers.frames import (
    blockers_rows,
    link_proposals_frame,
    links_rows,
    messages_rows,
)
from strata.layers.link_proposals import FAN_IN, STORED, propose_links
from strata.layers.links import Links, link_messages
from strata.layers.readiness import Readiness, find_readiness
from strata.layers.scheduling import layer_times
from strata.layers.scheduling_frames import (
    layer_cpu_waits_frame,
    layer_scheduling_frame,
    preemptions_frame,
)
from strata.layers.transfers import Transfers, cut_layers
from strata.model import frames
from strata.model.build import Model
from strata.model.columns import Ints
from strata.model.links import NodeLink, find_links
from strata.schema import tables as declared
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.fates import LOST, UNKNOWN
from strata.schema.layers import WITHOUT_WAITS
from strata.schema.links import MessageLink
from strata.schema.quality import Ledger
from strata.schema.rows import NONE, Coded, Rows
from strata.stats.blame import blame_table
from strata.stats.bottleneck import find_bottlenecks
from strata.stats.callbacks import awaited, descriptions, python_nodes
from strata.stats.causes import Evidence, find_causes
from strata.stats.chain_facts import chain_facts
from strata.stats.chains import ChainTables, chain_tables
from strata.stats.groups import chain_groups
from strata.stats.hops import delivery_tables, hop_tables
from strata.stats.layer_places import LayerPlaces
from strata.stats.mode_tables import mode_tables
from strata.stats.scheduling import estimated_waits, held_up_by, scheduling_table


@dataclass(frozen=True)
class Wanted:
    """What the user asked for: declared message links, and the topics of one chain, or all."""

    links: tuple[MessageLink, ...] = ()
    chain: Sequence[str] | None = None


@dataclass(frozen=True)
class MessageResults:
    """Declared tables by name, and a bottleneck a chain."""

    tables: dict[str, pd.DataFrame]
    bottlenecks: tuple[Bottleneck, ...]


@dataclass(frozen=True)
class _Messages:
    """Transfers with their links, and what statistics need of them.

    `headless` marks messages whose cause is missing (strata.layers.chain_begins). `callbacks`
    describes each callback by its id.
    """

    transfers: Transfers
    links: Links
    ready: Readiness
    headless: npt.NDArray[np.bool_]
    deliveries: Deliveries
    messages: Rows
    blockers: Rows
    objects: pd.DataFrame
    proposals: pd.DataFrame
    callbacks: Coded
    places: LayerPlaces


def message_results(model: Model, wanted: Wanted, ledger: Ledger) -> MessageResults:
    """Return the tables of messages, hops and chains, and who is to blame for each chain.

    Raises TraceError when no message went the way of `wanted.chain`.
    """
    found = _messages(model, wanted, ledger)
    publications = frames.publications_frame(model)
    takes = frames.takes_frame(model)
    counts, losses = delivery_tables(found.deliveries)
    hops, hop_layers = hop_tables(found.messages, counts)
    _count_losses(hops, losses, ledger)
    links = links_rows(found.links)
    chains = _chains(found, hops, wanted.chain, ledger)
    of_chains = chain_tables(
        chains, found.messages, links, found.places, found.ready, clocks_of(model, found.transfers)
    )
    ledger.add("unfinished_chains", int(of_chains.chains["unfinished"].sum()))
    made = (found.messages, links, found.blockers, hop_layers, losses, of_chains.layers)
    tables: dict[str, pd.DataFrame] = {
        "publications": publications,
        "takes": takes,
        "link_proposals": found.proposals,
        "callback_objects": found.objects,
        **{rows.table.name: _frame(rows) for rows in made},
        "chain_segments": _frame(of_chains.segments.all()),
    }
    return _with_blame(model, found, hops, of_chains, tables)


def _frame(rows: Rows) -> pd.DataFrame:
    """Return rows as a frame whose text is text, not categories."""
    return rows.table.frame(rows.frame())


def _count_losses(hops: Rows, losses: Rows, ledger: Ledger) -> None:
    """Count what was lost on hops of the application, with the hop and the cause as its place."""
    codes = {LOST: "lost_messages", UNKNOWN: "unknown_deliveries"}
    own = ~hops.words("topic").are(*INTERNAL_TOPICS)
    told = losses.words("outcome").are(*codes) & own[losses["hop_id"]]
    for row in losses.take(told).records():
        hop = hops.record(row["hop_id"])
        way = f"{hop['topic']}, {hop['publisher_node']} -> {hop['subscription_node']}"
        place, span_ns = f"{way}: {row['cause']}", (row["begin_ns"], row["end_ns"])
        ledger.add(codes[row["outcome"]], row["count"], place=place, span_ns=span_ns)


def _messages(model: Model, wanted: Wanted, ledger: Ledger) -> _Messages:
    transfers = cut_layers(model, ledger)
    count_between_hosts(model, transfers, ledger)
    names = endpoint_names(model, transfers)
    node_links = find_links(model.events, model.entities, wanted.links, ledger)
    links = link_messages(model, transfers, node_links)
    ready = find_readiness(model, transfers)
    messages = messages_rows(model, transfers, names, links, ready)
    unsplit = np.zeros(len(messages), bool)
    for layer in WITHOUT_WAITS:
        unsplit |= messages.there(layer.column)
    unsplit &= ~transfers.unsynchronised
    hidden = unsplit & model.clocks.waits.known(transfers.waiting.lane)
    ledger.add("messages_without_executor_events", int((unsplit & ~hidden).sum()))
    ledger.add("messages_with_lost_waits", int(hidden.sum()))
    objects = frames.callback_objects_frame(model)
    callbacks = Coded.of(descriptions(objects))
    places = LayerPlaces.of_messages(messages, callbacks)
    blockers = blockers_rows(find_blockers(model, transfers))
    proposals = _proposals(model, node_links, ledger)
    deliveries = find_deliveries(model, transfers, names)
    known = (messages, blockers, objects, proposals, callbacks, places)
    headless = causes_missing(model, transfers)
    return _Messages(transfers, links, ready, headless, deliveries, *known)


def _proposals(model: Model, known: Sequence[NodeLink], ledger: Ledger) -> pd.DataFrame:
    """The table `link_proposals`; publications at which chains end or lose inputs are counted."""
    found = link_proposals_frame(model, propose_links(model, known))
    outputs = found[found["probable"]].drop_duplicates(["host", "vpid", "node", "output"])
    counts = outputs.groupby("cut")["publications"].sum()
    ledger.add("unlinked_publications", int(counts.get(STORED, 0)))
    ledger.add("fan_in_publications", int(counts.get(FAN_IN, 0)))
    return found


def _chains(
    found: _Messages, hops: Rows, topics: Sequence[str] | None, ledger: Ledger
) -> list[Chain]:
    own = ~hops.words("topic").are(*INTERNAL_TOPICS)
    hop = found.messages["hop_id"]
    hop = np.where(own[hop], hop, NONE)
    # Hops of which nothing was ever taken come after all others.
    names = [str(topic) for topic in hops.texts("topic")[hops["count"] > 0]]
    if topics:
        # Only what may be of the chain, so that it is found where all ways are too many.
        hop, allowed = _of_topics(found, hop, topics)
        return _chains_of(find_ways(hop, found.links, ledger, allowed=allowed), names, topics)
    ways = find_ways(hop, found.links, ledger, headless=found.headless)
    cut = ways.message[ways.headless & (ways.previous == NONE)]
    begun = found.messages.take(cut)
    ledger.add_each("chains_without_begin", begun.texts("topic"), begun["publish_ns"])
    reportable = set(hops["hop_id"][own].tolist())
    return find_chains(ways, reportable, ledger, names)


def _of_topics(
    found: _Messages, hop: Ints, topics: Sequence[str]
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Leave out messages of other topics, and links that do not lead from one to the next."""
    number = {topic: at for at, topic in enumerate(dict.fromkeys(topics))}
    words = found.messages.words("topic")
    of = np.array([*(number.get(word, NONE) for word in words.words), NONE], np.int64)[words.codes]
    steps = [number[one] * len(number) + number[two] for one, two in pairwise(topics)]
    parent, child = of[found.links.parent], of[found.links.child]
    allowed = np.isin(parent * len(number) + child, steps) & (parent >= 0) & (child >= 0)
    return np.where(of >= 0, hop, NONE), allowed


def _chains_of(ways: Ways, topic_of_hop: list[str], topics: Sequence[str]) -> list[Chain]:
    unknown = [topic for topic in topics if topic not in topic_of_hop]
    if unknown:
        known = ", ".join(dict.fromkeys(t for t in topic_of_hop if t not in INTERNAL_TOPICS))
        raise TraceError(
            f"Cannot follow {' -> '.join(topics)}: no message of {unknown[0]} was "
            f"matched. Topics with messages: {known or 'none'}."
        )
    found = find_chains_of(ways, topic_of_hop, topics)
    if not found:
        raise TraceError(
            f"Cannot follow {' -> '.join(topics)}: no message went that way "
            "through callbacks. If a node on the way stores messages (a timer, fan-in), declare it "
            "with --links (docs/method.md)."
        )
    return found


def _with_blame(
    model: Model,
    found: _Messages,
    hops: Rows,
    of_chains: ChainTables,
    tables: dict[str, pd.DataFrame],
) -> MessageResults:
    """Add what chains spent their time on: blame, modes, what threads did in each layer."""
    times, taken = layer_times(model, found.transfers, found.links)
    waits = find_cpu_waits(model, found.transfers, found.links)
    tables["layer_scheduling"] = layer_scheduling_frame(model, times)
    tables["preemptions"] = preemptions_frame(taken)
    tables["layer_cpu_waits"] = layer_cpu_waits_frame(model, waits)
    scheduling, preemptions, cpu_waits = (
        Rows.of_frame(table, tables[table.name])
        for table in (declared.LAYER_SCHEDULING, declared.PREEMPTIONS, declared.LAYER_CPU_WAITS)
    )
    began = awaited(found.objects["callback_id"], found.objects)
    evidence = Evidence(
        places=found.places,
        messages=found.messages,
        blockers=found.blockers,
        callbacks=found.callbacks,
        awaited=Coded.of(text or None for text in began),
        held_up=held_up_by(scheduling, preemptions),
        cpu_waits=estimated_waits(scheduling, cpu_waits),
    )
    segments = of_chains.segments
    modes = mode_tables(
        of_chains.chains,
        of_chains.instances,
        segments,
        hops,
        found.messages,
        lambda chosen: find_causes(chosen, evidence),
    )
    groups = chain_groups(modes.instances)
    blame = blame_table(modes.instances, segments, evidence, groups)
    made = (
        modes.hops,
        modes.chains,
        modes.instances,
        modes.modes,
        blame,
        scheduling_table(segments, of_chains.layers, scheduling, preemptions),
    )
    tables |= {rows.table.name: _frame(rows) for rows in made}
    facts = chain_facts(modes.chains, modes.instances, segments, found.messages, modes.hops, groups)
    of_python = python_nodes(found.objects)
    return MessageResults(
        tables, find_bottlenecks(modes.chains, blame, modes.modes, facts, of_python)
    )
