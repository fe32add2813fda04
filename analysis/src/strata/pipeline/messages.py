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
from strata.layers.frames import (
    blockers_frame,
    endpoint_names,
    link_proposals_frame,
    links_frame,
    messages_frame,
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
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.fates import LOST, UNKNOWN
from strata.schema.layers import BY_NAME, WITHOUT_WAITS
from strata.schema.links import MessageLink
from strata.schema.quality import Ledger
from strata.stats.blame import blame_table, find_causes
from strata.stats.bottleneck import find_bottlenecks
from strata.stats.callbacks import awaited, descriptions, python_nodes
from strata.stats.chain_facts import chain_facts
from strata.stats.chains import ChainTables, chain_tables, place_of_layer
from strata.stats.hops import delivery_tables, hop_tables
from strata.stats.mode_tables import mode_tables
from strata.stats.scheduling import estimated_waits, scheduling_table, thread_causes

_WAY = ["topic", "publisher_node", "subscription_node"]


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

    `headless` marks messages whose cause is missing (strata.layers.chain_begins). `where` names the
    place of each message (row) and layer (column).
    """

    transfers: Transfers
    links: Links
    ready: Readiness
    headless: npt.NDArray[np.bool_]
    deliveries: Deliveries
    messages: pd.DataFrame
    blockers: pd.DataFrame
    objects: pd.DataFrame
    described: pd.Series[str]
    where: pd.DataFrame
    proposals: pd.DataFrame


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
    links = links_frame(found.links)
    chains = _chains(found, hops, wanted.chain, ledger)
    of_chains = chain_tables(
        chains, found.messages, links, found.where, found.ready, clocks_of(model, found.transfers)
    )
    ledger.add("unfinished_chains", int(of_chains.chains["unfinished"].sum()))
    tables = {
        "publications": publications,
        "takes": takes,
        "messages": found.messages,
        "links": links,
        "link_proposals": found.proposals,
        "executor_blockers": found.blockers,
        "callback_objects": found.objects,
        "hop_layers": hop_layers,
        "hop_losses": losses,
        "chain_segments": of_chains.segments,
        "chain_layers": of_chains.layers,
    }
    return _with_blame(model, found, hops, of_chains, tables)


def _count_losses(hops: pd.DataFrame, losses: pd.DataFrame, ledger: Ledger) -> None:
    """Count what was lost on hops of the application, with the hop and the cause as its place."""
    codes = {LOST: "lost_messages", UNKNOWN: "unknown_deliveries"}
    own = hops.loc[~hops["topic"].isin(INTERNAL_TOPICS), ["hop_id", *_WAY]]
    for row in losses[losses["outcome"].isin(codes)].merge(own, on="hop_id").to_dict("records"):
        place = (
            f"{row['topic']}, {row['publisher_node']} -> {row['subscription_node']}: {row['cause']}"
        )
        span_ns = (row["begin_ns"], row["end_ns"])
        ledger.add(codes[row["outcome"]], row["count"], place=place, span_ns=span_ns)


def _messages(model: Model, wanted: Wanted, ledger: Ledger) -> _Messages:
    transfers = cut_layers(model, ledger)
    count_between_hosts(model, transfers, ledger)
    names = endpoint_names(model, transfers)
    node_links = find_links(model.events, model.entities, wanted.links, ledger)
    links = link_messages(model, transfers, node_links)
    ready = find_readiness(model, transfers)
    messages = messages_frame(model, transfers, names, links, ready)
    unsplit = messages[[layer.column for layer in WITHOUT_WAITS]].notna().any(axis=1)
    unsplit &= ~transfers.unsynchronised
    hidden = unsplit.to_numpy(bool) & model.clocks.waits.known(transfers.waiting.lane)
    ledger.add("messages_without_executor_events", int((unsplit & ~hidden).sum()))
    ledger.add("messages_with_lost_waits", int(hidden.sum()))
    objects = frames.callback_objects_frame(model)
    described = descriptions(objects)
    where = pd.DataFrame(
        {name: place_of_layer(layer, messages, described) for name, layer in BY_NAME.items()}
    )
    blockers = blockers_frame(find_blockers(model, transfers))
    proposals = _proposals(model, node_links, ledger)
    deliveries = find_deliveries(model, transfers, names)
    known = (messages, blockers, objects, described, where, proposals)
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
    found: _Messages, hops: pd.DataFrame, topics: Sequence[str] | None, ledger: Ledger
) -> list[Chain]:
    reportable = set(hops.loc[~hops["topic"].isin(INTERNAL_TOPICS), "hop_id"].astype(int))
    hop = found.messages["hop_id"].to_numpy(np.int64)
    hop = np.where(np.isin(hop, list(reportable)), hop, -1)
    # Hops of which nothing was ever taken come after all others.
    names = hops.loc[hops["count"] > 0, "topic"].tolist()
    if topics:
        # Only what may be of the chain, so that it is found where all ways are too many.
        hop, allowed = _of_topics(found, hop, topics)
        return _chains_of(find_ways(hop, found.links, ledger, allowed=allowed), names, topics)
    ways = find_ways(hop, found.links, ledger, headless=found.headless)
    cut = ways.message[ways.headless & (ways.previous == -1)]
    published_ns = found.messages["publish_ns"].to_numpy(np.int64)[cut]
    ledger.add_each(
        "chains_without_begin", found.messages["topic"].to_numpy(object)[cut], published_ns
    )
    return find_chains(ways, reportable, ledger, names)


def _of_topics(
    found: _Messages, hop: Ints, topics: Sequence[str]
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Leave out messages of other topics, and links that do not lead from one to the next."""
    number = {topic: at for at, topic in enumerate(dict.fromkeys(topics))}
    of = found.messages["topic"].map(number).fillna(-1).to_numpy(np.int64)
    steps = [number[one] * len(number) + number[two] for one, two in pairwise(topics)]
    parent, child = of[found.links.parent], of[found.links.child]
    allowed = np.isin(parent * len(number) + child, steps) & (parent >= 0) & (child >= 0)
    return np.where(of >= 0, hop, -1), allowed


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
    hops: pd.DataFrame,
    of_chains: ChainTables,
    tables: dict[str, pd.DataFrame],
) -> MessageResults:
    """Add what chains spent their time on: blame, modes, what threads did in each layer."""
    times, taken = layer_times(model, found.transfers, found.links)
    scheduling, preemptions = layer_scheduling_frame(model, times), preemptions_frame(taken)
    waits = find_cpu_waits(model, found.transfers, found.links)
    cpu_waits = layer_cpu_waits_frame(model, waits)
    of_threads = thread_causes(scheduling, preemptions)
    estimated = estimated_waits(scheduling, cpu_waits)
    until = awaited(found.messages["publisher_callback_id"], found.objects)
    known = (
        found.where,
        found.blockers,
        found.described,
        found.messages,
        of_threads,
        until,
        estimated,
    )
    modes = mode_tables(
        of_chains.chains,
        of_chains.instances,
        of_chains.segments,
        hops,
        found.messages,
        lambda segments: find_causes(segments, *known),
    )
    blame = blame_table(modes.instances, of_chains.segments, *known)
    threads = scheduling_table(of_chains.segments, of_chains.layers, scheduling, preemptions)
    tables |= {
        "hops": modes.hops,
        "chains": modes.chains,
        "chain_instances": modes.instances,
        "modes": modes.modes,
        "blame": blame,
        "layer_scheduling": scheduling,
        "preemptions": preemptions,
        "layer_cpu_waits": cpu_waits,
        "chain_scheduling": threads,
    }
    facts = chain_facts(
        modes.chains, modes.instances, of_chains.segments, found.messages, modes.hops
    )
    of_python = python_nodes(found.objects)
    return MessageResults(
        tables, find_bottlenecks(modes.chains, blame, modes.modes, facts, of_python)
    )
