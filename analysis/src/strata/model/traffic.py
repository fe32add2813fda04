# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Publications and takes: what a thread did around each rmw_publish and rmw_take.

On the publishing thread: [rclcpp_publish] -> [rcl_publish] -> rmw_publish, of one call
(strata.model.client_events), and no events lost: of which call the ones before are, is not known
then.

On the taking thread: [execute] -> rmw_take -> [rcl_take] -> [rclcpp_take] -> [callback_start]. An
execute belongs to a take when no other take, callback or wait lies between them and it names the
take's subscription; a callback_start when no other take, execute or wait lies between and the
callback is not another subscription's. Neither reaches over a time in which events were lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.client_events import by_rcl_publish, client_events, rclpy_calls
from strata.model.columns import NONE, EventColumns, Ints
from strata.model.entities import Entities
from strata.model.executions import Executions, first_after
from strata.model.loans import count_unseen_takes, find_loaned_takes
from strata.model.search import known_or, pick
from strata.model.timeline import EVENT_OF, Kind, Timeline
from strata.model.windows import NO_LOSSES, Windows, touched
from strata.schema.quality import Ledger


@dataclass(frozen=True)
class Publications:
    """Messages published by rcl publishers, in time order; `NONE` is null.

    `position` in the timeline is that of the rmw_publish; of messages that stayed in their process,
    for which `rmw_publish_ns` is null, of the rclcpp_intra_publish. Of these `rmw_handle` is the
    rcl handle: it only tells unknown publishers apart.
    """

    position: Ints
    publisher: Ints
    rmw_handle: Ints
    thread: Ints
    client_ns: Ints
    rmw_publish_ns: Ints
    source_timestamp: Ints
    execution: Ints

    def __len__(self) -> int:
        return len(self.publisher)

    @property
    def begin_ns(self) -> Ints:
        """When publish() was called, as far as was recorded."""
        return known_or(self.client_ns, self.rmw_publish_ns)

    @property
    def handed_ns(self) -> Ints:
        """When each was handed to the middleware or, within the process, to the ring buffers."""
        return known_or(self.rmw_publish_ns, self.client_ns)


@dataclass(frozen=True)
class Takes:
    """Messages taken, in time order; `NONE` is null.

    Either from the middleware (`rmw_take_ns`, with a source timestamp) or from a ring buffer
    (`dequeue_ns`, which is `picked_ns` too). `position` is that of the event in the timeline. Of
    takes from a ring buffer `rmw_handle` is the buffer's address. `duplicate` marks copies of
    intra-process messages, which rclcpp drops. `loaned` marks messages that the middleware lent,
    without an rmw_take: theirs is the time and position of the take_end.
    """

    position: Ints
    subscription: Ints
    rmw_handle: Ints
    thread: Ints
    picked_ns: Ints
    rmw_take_ns: Ints
    dequeue_ns: Ints
    source_timestamp: Ints
    execution: Ints
    duplicate: npt.NDArray[np.bool_]
    loaned: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.subscription)

    @property
    def taken_ns(self) -> Ints:
        """When each was taken, from wherever."""
        return known_or(self.rmw_take_ns, self.dequeue_ns)


def find_publications(
    events: EventColumns,
    timeline: Timeline,
    entities: Entities,
    executions: Executions,
    ledger: Ledger,
    losses: Windows = NO_LOSSES,
) -> Publications:
    """Return the application's publications; the middleware's own are counted and left out."""
    name = EVENT_OF[Kind.RMW_PUBLISH]
    at = timeline.positions(Kind.RMW_PUBLISH)
    row = timeline.row[at]
    process = events.process(name)[row]
    handle = events.ints(name, "rmw_publisher_handle")[row]
    publisher = entities.publishers.by_rmw_handle.find(process, handle, timeline.ns[at])

    rclcpp, rcl = client_events(events, timeline, at)
    unnamed = np.flatnonzero(handle == NONE)
    publisher[unnamed] = by_rcl_publish(events, timeline, entities, at[unnamed], rcl[unnamed])
    entered = rclpy_calls(events, timeline, entities, at, (publisher, rcl))
    rclcpp = np.where(rclcpp != NONE, rclcpp, entered)
    client = np.where(rclcpp != NONE, rclcpp, rcl)

    # Graph topics (ros_discovery_info) have an rmw publisher only: no rcl init event, no
    # rcl_publish. Without init events, an rcl_publish tells the application's messages.
    stamp = events.ints(name, "source_timestamp")[row]
    taken = events.ints(EVENT_OF[Kind.RMW_TAKE], "source_timestamp")
    taken = taken[events.ints(EVENT_OF[Kind.RMW_TAKE], "taken") == 1]
    # Graph topics are taken without a stamp: what was taken by its stamp is the application's.
    graph = (publisher == NONE) & (client == NONE) & ~(np.isin(stamp, taken) & (stamp > 0))
    ledger.add("graph_publications", int(graph.sum()))
    keep = ~graph
    ledger.add("publications_without_timestamp", int((keep & (stamp == NONE)).sum()))
    ledger.add("publications_without_client_event", int((keep & (client == NONE)).sum()))
    order = np.flatnonzero(keep)
    order = order[np.argsort(timeline.ns[at[order]], kind="stable")]
    kept = at[order]
    for place in (rclcpp, rcl):
        place[touched(losses, timeline.ns_at(place), timeline.ns[at])] = NONE
    client = np.where(rclcpp != NONE, rclcpp, rcl)[order]
    return Publications(
        kept,
        publisher[order],
        handle[order],
        timeline.thread[kept],
        timeline.ns_at(client),
        timeline.ns[kept],
        stamp[order],
        executions.enclosing(kept),
    )


def find_takes(
    events: EventColumns,
    timeline: Timeline,
    entities: Entities,
    executions: Executions,
    ledger: Ledger,
    losses: Windows = NO_LOSSES,
) -> Takes:
    """Return the takes of messages; empty ones and the middleware's own are counted.

    Those of loaned messages come from the middleware's own events (strata.model.loans).
    """
    told = _told(events, timeline, ledger)
    lent, borrower = find_loaned_takes(events, timeline, entities, executions, losses)
    ledger.add("loaned_takes", len(lent))
    at = np.concatenate([told, lent])
    order = np.lexsort((at, timeline.ns[at]))
    at, loaned = at[order], order >= len(told)
    name = EVENT_OF[Kind.RMW_TAKE]
    row = np.where(loaned, NONE, timeline.row[at])
    process = events.processes.thread_process[timeline.thread[at]]
    handle = pick(events.ints(name, "rmw_subscription_handle"), row)
    subscription = entities.subscriptions.by_rmw_handle.find(process, handle, timeline.ns[at])
    subscription[loaned] = borrower[order[loaned] - len(told)]
    handle[loaned] = entities.subscriptions.rmw_handle[subscription[loaned]]
    stamp = pick(events.ints(name, "source_timestamp"), row)
    ended = events.ints(EVENT_OF[Kind.TAKE_END], "source_timestamp")
    stamp[loaned] = ended[timeline.row[at[loaned]]]

    execution = started(timeline, executions, entities, (at, subscription), losses, intra=False)
    count_unseen_takes(events, timeline, entities, executions, execution, losses, ledger)
    picked = _picked(events, timeline, entities, at, subscription)
    picked[touched(losses, timeline.ns_at(picked), timeline.ns[at])] = NONE
    return Takes(
        at,
        subscription,
        handle,
        timeline.thread[at],
        timeline.ns_at(picked),
        timeline.ns[at],
        np.full(len(at), NONE, np.int64),
        stamp,
        execution,
        np.zeros(len(at), bool),
        loaned,
    )


def _told(events: EventColumns, timeline: Timeline, ledger: Ledger) -> Ints:
    """Positions of the rmw_take of messages, with a source timestamp."""
    name = EVENT_OF[Kind.RMW_TAKE]
    every = timeline.positions(Kind.RMW_TAKE)
    taken = events.ints(name, "taken")[timeline.row[every]] == 1
    stamp = events.ints(name, "source_timestamp")[timeline.row[every]]
    ledger.add("empty_takes", int((~taken).sum()))
    ledger.add("takes_without_source_timestamp", int((taken & (stamp <= 0)).sum()))
    found: Ints = every[taken & (stamp > 0)]
    return found


def _picked(
    events: EventColumns, timeline: Timeline, entities: Entities, at: Ints, subscription: Ints
) -> Ints:
    """Position of the execute of each take, or `NONE`."""
    execute = timeline.before(at, Kind.EXECUTE)
    barrier = timeline.before(
        at, Kind.RMW_TAKE, Kind.CALLBACK_START, Kind.CALLBACK_END, Kind.WAIT, Kind.READY
    )
    near = (execute != NONE) & (execute > barrier)
    row = timeline.row[np.maximum(execute, 0)]
    named = events.ints(EVENT_OF[Kind.EXECUTE], "handle")
    known = near & (subscription != NONE)
    same = np.ones(len(at), bool)
    same[known] = named[row[known]] == entities.subscriptions.handle[subscription[known]]
    return np.where(near & same, execute, NONE)


def started(
    timeline: Timeline,
    executions: Executions,
    entities: Entities,
    takes: tuple[Ints, Ints],
    losses: Windows,
    *,
    intra: bool,
) -> Ints:
    """Return the execution that each take started, or `NONE`.

    `takes` are positions and subscriptions; `intra` tells whether they are of ring buffers.
    """
    at, subscription = takes
    row = first_after(timeline, executions, at, losses)
    callback = pick(executions.callback, row)
    owner = pick(entities.callbacks.subscription, callback)
    foreign = (owner != NONE) & (subscription != NONE) & (owner != subscription)
    within = pick(executions.intra_process, row) == 1
    # The outermost callback after the take is its own; one inside another was started there.
    return np.where(~foreign & (within == intra), row, NONE)
