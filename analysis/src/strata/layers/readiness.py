# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""When both ends of a message's hop were ready for it: what was published before is *start-up*.

A hop is ready when its publisher and its subscription are made (their init events) and the executor
that takes its messages has begun to spin (it waits, or looks for work; not asked for where that is
not recorded). A message that came out of the writer's history (layer *history*) was published
before its reader was known to the writer: the hop was ready when the message was first sent. The
other way round, a reader that does not know the writer yet, or has not got its history, gets
messages and is told of them later, of all at once: where any message of a writer had arrived
`_UNKNOWN_NS` or more before the reader was notified of the first one, the hop was ready when it
was.

Without init events of both ends nothing is known: the trace may have begun long after them. Of ends
that were made in a part that was dropped, of which only their names are there, no first message and
no begin of spinning is known: the hop was ready when they were made. Ends that were there before
the trace were ready when it began.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine.groups import lower
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.search import pick
from strata.schema.layers import DDS_RECEIVE, HISTORY

Flags = npt.NDArray[np.bool_]

_UNKNOWN_NS = 1_000_000


@dataclass(frozen=True)
class Readiness:
    """One row a message: `ready_ns`, since the epoch, is `NONE` where it is not known.

    `by_publisher` flags hops whose publisher was made last; of the others it was the taking side.
    Nothing is known of a hop between hosts without a common clock; `apart` flags these.
    """

    ready_ns: Ints
    by_publisher: Flags
    apart: Flags


def find_readiness(model: Model, transfers: Transfers) -> Readiness:
    """Return when the hop of each matched message was ready."""
    entities = model.entities
    publisher = model.publications.publisher[transfers.publication]
    subscription = model.takes.subscription[transfers.take]
    made = pick(entities.publishers.begin_ns, publisher)
    subscribed = pick(entities.subscriptions.begin_ns, subscription)
    # What it did first, it did in what was dropped, or before the trace.
    began = subscribed < model.dropped_until_ns
    began |= model.was_there(entities.subscriptions, subscription)
    taking = np.maximum(subscribed, np.where(began, NONE, _executor_begin(model, transfers)))
    history = transfers.durations.get(HISTORY.column)
    if history is not None:
        taking = np.maximum(taking, np.where(history > 0, transfers.handed_ns + history, NONE))
    writer_known = _writer_known(transfers, publisher, subscription)
    began &= (made < model.dropped_until_ns) | model.was_there(entities.publishers, publisher)
    taking = np.maximum(taking, np.where(began, NONE, writer_known))
    apart = transfers.unsynchronised
    known = (publisher != NONE) & (subscription != NONE) & ~apart
    return Readiness(np.where(known, np.maximum(made, taking), NONE), made > taking, apart)


def _writer_known(transfers: Transfers, publisher: Ints, subscription: Ints) -> Ints:
    """When each message's reader knew its writer, where its first messages had to wait for that."""
    out = np.full(len(transfers), NONE, np.int64)
    waited_ns = transfers.durations.get(DDS_RECEIVE.column)
    told = np.flatnonzero(transfers.passage.notified_ns != NONE)
    if waited_ns is None or not len(told):
        return out
    notified_ns = transfers.passage.notified_ns[told]
    order = np.lexsort(
        (transfers.handed_ns[told], notified_ns, subscription[told], publisher[told])
    )
    rows = told[order]
    pair = np.stack([publisher[rows], subscription[rows]])
    begins = np.append(True, (pair[:, 1:] != pair[:, :-1]).any(axis=0))
    notified_ns = transfers.passage.notified_ns[rows]
    arrived_ns = np.minimum.reduceat(notified_ns - waited_ns[rows], np.flatnonzero(begins))
    first_ns = notified_ns[begins]
    known_ns = np.where(first_ns - arrived_ns >= _UNKNOWN_NS, first_ns, NONE)
    out[rows] = known_ns[np.cumsum(begins) - 1]
    return out


def _executor_begin(model: Model, transfers: Transfers) -> Ints:
    """When the executor that took each message first waited or looked for work."""
    thread, first_ns = model.facts.spin_begins()
    lane = model.executors.lane(thread)
    begin = np.full(int(lane.max(initial=NONE)) + 1, np.iinfo(np.int64).max, np.int64)
    lower(begin, lane, first_ns)
    taker = model.executors.lane(model.takes.thread[transfers.take])
    inside = taker < len(begin)
    out = np.full(len(taker), NONE, np.int64)
    out[inside] = begin[taker[inside]]
    return np.where(out == np.iinfo(np.int64).max, NONE, out)
