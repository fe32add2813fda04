# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Causes of messages by NumPy, as strata.layers.links has them: the oracle of the engine's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from strata.layers.links import KINDS, Links
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.links import NodeLink
from strata.model.rows import joined
from strata.model.search import GroupedSearch, pick, runs, spread

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Causes:
    """One row a (publication, message that it was made from); see `Links`."""

    publication: Ints
    parent: Ints
    kind: Ints
    callback_ns: Ints
    suspended_ns: Ints
    stored_ns: Ints
    hold_ns: Ints
    there_ns: Ints


def link_messages(model: Model, transfers: Transfers, declared: Sequence[NodeLink]) -> Links:
    """Link every message to what it was made from, within the trace."""
    message_of = np.full(len(model.executions) + 1, NONE, np.int64)
    ran = transfers.execution != NONE
    message_of[transfers.execution[ran]] = np.flatnonzero(ran)
    found = [_by_callback(model, transfers, message_of)]
    for link in declared:
        found += [_stored(model, link, rows, message_of) for rows in link.inputs]
    return _of_messages(transfers, _once(joined(*found)))


def _by_callback(model: Model, transfers: Transfers, message_of: Ints) -> _Causes:
    publications = model.publications
    source = publications.execution
    parent = message_of[source]
    publication = np.flatnonzero(parent != NONE).astype(np.int64)
    parent = parent[publication]
    begin_ns = transfers.callback_start_ns[parent]
    none = np.full(len(publication), NONE, np.int64)
    piece = model.executions.innermost(publications.position[publication])
    suspended_ns = np.maximum(pick(model.executions.paused_ns, piece), 0)
    hold_ns = publications.begin_ns[publication] - begin_ns - suspended_ns
    # The callback that publishes is there last: nothing else was waited for.
    last = np.full(len(publication), np.iinfo(np.int64).max)
    kind = np.zeros_like(none)
    suspended_ns = np.where(suspended_ns > 0, suspended_ns, NONE)
    return _Causes(publication, parent, kind, none, suspended_ns, none, hold_ns, last)


def _stored(model: Model, link: NodeLink, subscriptions: Ints, message_of: Ints) -> _Causes:
    """Causes from one input of a declared link: the newest message that its node had stored."""
    executions, publications = model.executions, model.publications
    owner = np.append(model.entities.callbacks.subscription, NONE)[executions.callback]
    entry = np.flatnonzero(np.isin(owner, subscriptions) & ~executions.resumed)
    process = model.processes.thread_process
    asked = np.flatnonzero(np.isin(publications.publisher, link.publishers))
    at_ns = publications.begin_ns[asked]
    search = GroupedSearch(process[executions.thread[entry]], executions.over_ns[entry])
    group = process[publications.thread[asked]]
    place = search.position(group, at_ns, after_equal=True) - 1
    known = place >= search.begin(group)
    source = publications.execution[asked]
    # Published in the callback of this very input: that link is known without any declaration.
    known &= ~np.isin(np.where(source != NONE, np.append(owner, NONE)[source], NONE), subscriptions)
    asked, source, place = asked[known], source[known], place[known]
    row = entry[search.order[place]] if len(entry) else place
    if link.partial_sync:
        fresh = executions.start_ns[row] > _previous_ns(model, asked)
        asked, source, row = asked[fresh], source[fresh], row[fresh]
    kept = message_of[row] != NONE
    return _telescoped(model, asked[kept], source[kept], row[kept], message_of, link.kind)


def _telescoped(
    model: Model, publication: Ints, source: Ints, row: Ints, message_of: Ints, kind: str
) -> _Causes:
    executions = model.executions
    until_ns, suspended_ns = executions.over_ns[row], executions.suspended_ns[row]
    publish_ns = model.publications.begin_ns[publication]
    inside = source != NONE
    begun_ns = np.where(inside, np.append(executions.start_ns, NONE)[source], publish_ns)
    # Another thread's callback may have ended only while the one that publishes ran.
    begun_ns = np.maximum(begun_ns, until_ns)
    return _Causes(
        publication,
        message_of[row],
        np.full(len(row), KINDS.index(kind), np.int64),
        until_ns - executions.start_ns[row] - suspended_ns,
        np.where(suspended_ns > 0, suspended_ns, NONE),
        begun_ns - until_ns,
        np.where(inside, publish_ns - begun_ns, NONE),
        until_ns,
    )


def _previous_ns(model: Model, publication: Ints) -> Ints:
    """When the publisher of each publication published before; 0 for its first."""
    publications = model.publications
    search = GroupedSearch(publications.publisher, publications.begin_ns)
    group = publications.publisher[publication]
    place = search.position(group, publications.begin_ns[publication], after_equal=False) - 1
    before = publications.begin_ns[search.order[np.maximum(place, 0)]]
    return np.where(place >= search.begin(group), before, 0)


def _once(causes: _Causes) -> _Causes:
    """One row a pair: a link that was declared twice, or is known by its callback, is one."""
    order = np.lexsort((causes.kind, causes.parent, causes.publication))
    publication, parent = causes.publication[order], causes.parent[order]
    first = np.ones(len(order), bool)
    first[1:] = (publication[1:] != publication[:-1]) | (parent[1:] != parent[:-1])
    return picked(causes, order[first])


def _of_messages(transfers: Transfers, causes: _Causes) -> Links:
    """Causes of publications as links of all messages that were made of these."""
    order = np.argsort(transfers.publication, kind="stable")
    taken = transfers.publication[order]
    place, row = spread(*runs(taken, causes.publication))
    child = order[place].astype(np.int64)
    by_child = np.lexsort((causes.there_ns[row], child))
    child, row = child[by_child], row[by_child]
    critical = np.ones(len(child), bool)
    critical[:-1] = child[1:] != child[:-1]
    return Links(
        child,
        causes.parent[row],
        causes.kind[row],
        causes.callback_ns[row],
        causes.suspended_ns[row],
        causes.stored_ns[row],
        causes.hold_ns[row],
        critical,
    )


def picked(rows: Any, order: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Any:
    """Return rows of a dataclass of columns; `order` are their numbers, or a mask."""
    return type(rows)(*(getattr(rows, item.name)[order] for item in fields(rows)))
