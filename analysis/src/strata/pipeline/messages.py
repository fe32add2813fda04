# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages, and what happened to them: layers, links, deliveries, hops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strata.layers.between_hosts import clocks_of, count_between_hosts
from strata.layers.blockers import find_blockers
from strata.layers.chain_begins import causes_missing
from strata.layers.deliveries import find_deliveries
from strata.layers.endpoint_names import EndpointNames, endpoint_names
from strata.layers.frames import blockers_rows, link_proposals_rows, links_rows, messages_rows
from strata.layers.link_proposals import FAN_IN, STORED, propose_links
from strata.layers.links import Links, link_messages
from strata.layers.readiness import Readiness, find_readiness
from strata.layers.transfers import Transfers, cut_layers
from strata.model import frames
from strata.model.build import Model
from strata.model.links import NodeLink, find_links
from strata.pipeline.stages import FINDINGS, stage
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.fates import LOST, UNKNOWN
from strata.schema.layers import WITHOUT_WAITS
from strata.schema.links import MessageLink
from strata.schema.quality import Finding, Findings
from strata.schema.rows import Rows
from strata.stats.hops import delivery_tables, hop_tables


@dataclass(frozen=True)
class Wanted:
    """What the user asked for: declared message links, the topics of one chain, or all.

    And quantiles beside the declared ones, as fractions of 1.
    """

    links: tuple[MessageLink, ...] = ()
    chain: Sequence[str] | None = None
    quantiles: tuple[float, ...] = ()


def _transfers(model: Model) -> tuple[Transfers, Findings]:
    transfers, findings = cut_layers(model)
    return transfers, findings + count_between_hosts(model, transfers)


def _node_links(model: Model, wanted: Wanted) -> tuple[tuple[NodeLink, ...], Findings]:
    return find_links(model.events, model.entities, wanted.links)


def _messages(
    model: Model,
    transfers: Transfers,
    names: EndpointNames,
    links: Links,
    ready: Readiness,
) -> tuple[Rows, Findings]:
    messages = messages_rows(model, transfers, names, links, ready)
    unsplit = np.zeros(len(messages), bool)
    for layer in WITHOUT_WAITS:
        unsplit |= messages.there(layer.column)
    unsplit &= ~transfers.unsynchronised
    hidden = unsplit & model.clocks.waits.known(transfers.waiting.lane)
    return messages, Findings(
        Finding("messages_without_executor_events", int((unsplit & ~hidden).sum())),
        Finding("messages_with_lost_waits", int(hidden.sum())),
    )


def _blockers(model: Model, transfers: Transfers) -> Rows:
    return blockers_rows(find_blockers(model, transfers))


def _proposals(model: Model, known: Sequence[NodeLink]) -> tuple[Rows, Findings]:
    """The table `link_proposals`; publications at which chains end or lose inputs are counted."""
    found = link_proposals_rows(model, propose_links(model, known))
    counts = {STORED: 0, FAN_IN: 0}
    outputs = set()
    for row in found.take(found["probable"]).records():
        output = (row["host"], row["vpid"], row["node"], row["output"])
        if output not in outputs:
            outputs.add(output)
            counts[row["cut"]] += row["publications"]
    return found, Findings(
        Finding("unlinked_publications", counts[STORED]),
        Finding("fan_in_publications", counts[FAN_IN]),
    )


def _hops(
    messages: Rows, model: Model, transfers: Transfers, names: EndpointNames
) -> tuple[Rows, Rows, Rows, Findings]:
    # What happened to each publication is as much as all messages: it is not kept.
    counts, losses = delivery_tables(find_deliveries(model, transfers, names))
    hops, layers = hop_tables(messages, counts)
    return hops, layers, losses, count_losses(hops, losses)


def count_losses(hops: Rows, losses: Rows) -> Findings:
    """Count what was lost on hops of the application, with the hop and the cause as its place."""
    found = []
    codes = {LOST: "lost_messages", UNKNOWN: "unknown_deliveries"}
    own = ~hops.words("topic").are(*INTERNAL_TOPICS)
    counted = losses.words("outcome").are(*codes) & own[losses["hop_id"]]
    for row in losses.take(counted).records():
        hop = hops.record(row["hop_id"])
        way = f"{hop['topic']}, {hop['publisher_node']} -> {hop['subscription_node']}"
        place, span_ns = f"{way}: {row['cause']}", (row["begin_ns"], row["end_ns"])
        found.append(Finding(codes[row["outcome"]], row["count"], place=place, span_ns=span_ns))
    return Findings(*found)


MESSAGE_STAGES = (
    stage("publications", frames.publications_rows, "model"),
    stage("takes", frames.takes_rows, "model"),
    stage(("transfers", FINDINGS), _transfers, "model"),
    stage("endpoint_names", endpoint_names, "model", "transfers"),
    stage(("node_links", FINDINGS), _node_links, "model", "wanted"),
    stage("message_links", link_messages, "model", "transfers", "node_links"),
    stage("links", links_rows, "message_links"),
    stage("readiness", find_readiness, "model", "transfers"),
    stage(
        ("messages", FINDINGS),
        _messages,
        "model",
        "transfers",
        "endpoint_names",
        "message_links",
        "readiness",
    ),
    stage("executor_blockers", _blockers, "model", "transfers"),
    stage(("link_proposals", FINDINGS), _proposals, "model", "node_links"),
    stage(
        ("plain_hops", "hop_layers", "hop_losses", FINDINGS),
        _hops,
        "messages",
        "model",
        "transfers",
        "endpoint_names",
    ),
    stage("headless", causes_missing, "model", "transfers"),
    stage("message_clocks", clocks_of, "model", "transfers"),
)
"""What makes the tables of messages and hops; `plain_hops` is `hops` without modes."""
