# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Views of the declared tables: the most common queries, declared once (docs/sql.md)."""

from __future__ import annotations

from dataclasses import dataclass

from strata.schema.layers import BY_NAME


@dataclass(frozen=True)
class View:
    """A query over declared tables under a name; `tables` are those that it reads."""

    name: str
    tables: tuple[str, ...]
    query: str
    doc: str


def _message_layers() -> str:
    columns = ", ".join(f"{layer.column} AS '{layer.name}'" for layer in _OF_MESSAGES)
    return (
        "SELECT message_id, hop_id, topic, publisher_node, subscription_node, layer, duration_ns "
        "FROM (UNPIVOT (SELECT message_id, hop_id, topic, publisher_node, subscription_node, "
        f"{columns} FROM messages) ON COLUMNS(* EXCLUDE (message_id, hop_id, topic, "
        "publisher_node, subscription_node)) INTO NAME layer VALUE duration_ns)"
    )


# The others belong to chains, which count them between two messages.
_OF_MESSAGES = tuple(
    layer
    for layer in BY_NAME.values()
    if layer.column not in ("hold_ns", "stored_ns", "link_hold_ns")
)

VIEWS = (
    View(
        "hops_messages",
        ("messages", "hops"),
        "SELECT m.*, h.count AS hop_count, h.latency_p50_ns AS hop_latency_p50_ns "
        "FROM messages AS m JOIN hops AS h USING (hop_id)",
        "The messages of reported hops, with the number of messages and the median latency of "
        "the hop.",
    ),
    View(
        "chain_latencies",
        ("chain_instances", "chains"),
        "SELECT i.*, c.name AS chain, c.nodes, c.hop_count "
        "FROM chain_instances AS i JOIN chains AS c USING (chain_id)",
        "One row per instance of a chain: `chain_instances` with the chain's name and nodes.",
    ),
    View(
        "callback_durations",
        ("callback_instances", "callback_objects"),
        'SELECT i.*, o.node, o.symbol, o.kind, o."trigger", i.end_ns - i.start_ns AS duration_ns '
        "FROM callback_instances AS i "
        'JOIN (SELECT callback_id, node, symbol, kind, "trigger" FROM callback_objects) AS o '
        "USING (callback_id)",
        "One row per piece of an execution that ran: `callback_instances` with the callback's "
        "node, symbol, kind and trigger; `duration_ns` is null where it never ended.",
    ),
    View(
        "message_layers",
        ("messages",),
        _message_layers(),
        "One row per message and layer that it has; the durations of a message add up to its "
        "`latency_ns`.",
    ),
)
"""Every view, in the order of docs/data-model.md."""
