# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Declared message links, brought to the entities of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.entities import Endpoints, Entities, take
from strata.schema.links import LINK_KINDS, MessageLink
from strata.schema.quality import Finding, Findings


@dataclass(frozen=True)
class NodeLink:
    """One declared link: `inputs` are rows of subscriptions, one array an input.

    `publishers` are rows of publishers. A link holds within one process.
    """

    kind: str
    inputs: tuple[Ints, ...]
    publishers: Ints

    @property
    def partial_sync(self) -> bool:
        """Whether only messages since the last publish are causes."""
        return self.kind == "partial_sync"


def find_links(
    events: EventColumns, entities: Entities, declared: Sequence[MessageLink]
) -> tuple[tuple[NodeLink, ...], Findings]:
    """Return the links that nodes annotated, and those that the user declared.

    What names no entity of the trace is counted (`unresolved_links`).
    """
    found = [link for kind in LINK_KINDS for link in _annotated(events, entities, kind)]
    found += [_declared(entities, link) for link in declared]
    some = [link for link in found if len(link.publishers) and any(map(len, link.inputs))]
    whole = [link for link in some if all(map(len, link.inputs))]
    return tuple(some), Findings(Finding("unresolved_links", len(found) - len(whole)))


def _annotated(events: EventColumns, entities: Entities, kind: str) -> list[NodeLink]:
    """Links of `message_link_*` events: a few a node, so a loop over them is fine."""
    event = f"ros2:message_link_{kind}"
    out = []
    ends = zip(events.lists(event, "subs"), events.lists(event, "pubs"), strict=True)
    for row, (subscriptions, publishers) in enumerate(ends):
        process, at_ns = events.process(event)[row], events.timestamps(event)[row]
        inputs = _rows(entities.subscriptions, process, subscriptions, at_ns)
        outputs = _rows(entities.publishers, process, publishers, at_ns)
        parts = tuple(item[item != NONE] for item in inputs[:, None])
        out.append(NodeLink(kind, parts, outputs[outputs != NONE]))
    return out


def _rows(endpoints: Endpoints, process: int, handles: Ints, at_ns: int) -> Ints:
    count = len(handles)
    return endpoints.by_handle.find(np.full(count, process), handles, np.full(count, at_ns))


def _declared(entities: Entities, link: MessageLink) -> NodeLink:
    inputs = tuple(
        _of_node(entities, entities.subscriptions, link.node, (topic,)) for topic in link.inputs
    )
    return NodeLink(
        link.kind, inputs, _of_node(entities, entities.publishers, link.node, link.outputs)
    )


def _of_node(entities: Entities, endpoints: Endpoints, node: str, topics: Sequence[str]) -> Ints:
    names = take(entities.nodes.name, endpoints.node, None)
    same = (names == node) & np.isin(endpoints.topic.astype(str), list(topics))
    return np.flatnonzero(same).astype(np.int64)
