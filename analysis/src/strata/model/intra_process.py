# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Intra-process messages joined to those of the middleware: all traffic of a trace.

One call of publish() is one publication, whichever ways it goes: rclcpp first stores the message
in the ring buffers of its own process (rclcpp_intra_publish and one enqueue a subscription), then
hands a copy to the middleware when there are subscriptions elsewhere. The two belong together when
no other publication, callback or wait lies between on the thread and rcl_publish names the
publisher.

A subscription with intra-process communication also takes the copy from the middleware; rclcpp
drops it without a callback. Such a take is a *duplicate*: no message of its own, and no loss.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.dds.middleware import Middleware
from strata.model.entities import Entities
from strata.model.executions import Executions
from strata.model.matching import RING_BUFFER, RING_BUFFER_LOSSES, Matches
from strata.model.ring_buffers import Passages, births
from strata.model.rows import Rows, joined, picked
from strata.model.search import GroupedSearch, pick
from strata.model.timeline import EVENT_OF, Kind, Timeline
from strata.model.topics import Topics
from strata.model.traffic import Publications, Takes, started
from strata.model.windows import Windows, touched
from strata.schema.quality import Ledger

Flags = npt.NDArray[np.bool_]

_INTRA_PROCESS = (Kind.INTRA_PUBLISH, Kind.ENQUEUE, Kind.DEQUEUE)
_OTHER_WORK = (Kind.CALLBACK_START, Kind.CALLBACK_END, Kind.WAIT, Kind.READY)


@dataclass(frozen=True)
class Traffic:
    """All publications, takes and matches of a trace, each in order of time."""

    publications: Publications
    takes: Takes
    middleware: Middleware
    matches: Matches


@dataclass(frozen=True)
class Trace:
    """What the joining looks at."""

    events: EventColumns
    timeline: Timeline
    entities: Entities
    topics: Topics
    executions: Executions
    passages: Passages
    losses: Windows


def join_intra_process(trace: Trace, traffic: Traffic, ledger: Ledger) -> Traffic:
    """Return the traffic with that of the ring buffers; count what was lost or left over."""
    if not any(trace.events.count(EVENT_OF[kind]) for kind in _INTRA_PROCESS):
        return _counted(traffic, ledger)
    at = trace.timeline.positions(Kind.INTRA_PUBLISH)
    of_call = _publication_of_call(trace, at, traffic.publications)
    publications = _with_calls(trace, at, of_call, traffic.publications)
    alone = of_call == NONE
    of_call[alone] = len(traffic.publications) + np.arange(alone.sum())
    of_enqueue = _publication_of_enqueue(trace, at, of_call, publications, ledger)
    takes = _with_dequeues(trace, traffic.takes)
    duplicate = _duplicates(trace, traffic, of_enqueue)
    ledger.add("intra_process_duplicates", int(duplicate.sum()))
    matches = _matches(trace, traffic, publications, of_enqueue, duplicate, ledger)
    takes = replace(takes, duplicate=_flags(traffic.matches.take[duplicate], len(takes)))
    return _counted(_in_order(publications, takes, traffic.middleware, matches), ledger)


def _counted(traffic: Traffic, ledger: Ledger) -> Traffic:
    takes, matches = traffic.takes, traffic.matches
    none = int((~takes.duplicate & (takes.execution == NONE)).sum())
    ledger.add("takes_without_callback", none)
    untaken = int((~_flags(matches.publication, len(traffic.publications))).sum())
    ledger.add("untaken_publications", untaken)
    return traffic


def _publication_of_call(trace: Trace, at: Ints, publications: Publications) -> Ints:
    """The row of the middleware's publication that each rclcpp_intra_publish made, or `NONE`."""
    timeline, events = trace.timeline, trace.events
    if not len(publications) or not len(at):
        return np.full(len(at), NONE, np.int64)
    barrier = timeline.after(at, Kind.INTRA_PUBLISH, *_OTHER_WORK)
    rmw = timeline.within(at, barrier, Kind.RMW_PUBLISH)
    rcl = timeline.row_at(timeline.within(at, rmw, Kind.RCL_PUBLISH))
    rcl = np.where(rmw != NONE, rcl, NONE)
    calls = events.ints(EVENT_OF[Kind.INTRA_PUBLISH], "publisher_handle")[timeline.row_at(at)]
    named = events.ints(EVENT_OF[Kind.RCL_PUBLISH], "publisher_handle")
    same = (rcl != NONE) & (named[rcl] == calls) if len(named) else np.zeros(len(at), bool)
    order = np.argsort(publications.position)
    place = np.searchsorted(publications.position[order], rmw).clip(max=len(order) - 1)
    row = order[place]
    same &= ~touched(trace.losses, timeline.ns[at], timeline.ns_at(rmw))
    return np.where(same & (publications.position[row] == rmw), row, NONE)


def _with_calls(trace: Trace, at: Ints, of_call: Ints, publications: Publications) -> Publications:
    """Publications, and after them those that stayed in their process."""
    timeline, events = trace.timeline, trace.events
    shared = of_call != NONE
    client_ns = publications.client_ns.copy()
    client_ns[of_call[shared]] = timeline.ns[at[shared]]
    alone = at[~shared]
    row = timeline.row_at(alone)
    name = EVENT_OF[Kind.INTRA_PUBLISH]
    handle = events.ints(name, "publisher_handle")[row]
    known = trace.entities.publishers.by_handle
    publisher = known.find(events.process(name)[row], handle, timeline.ns[alone])
    none = np.full(len(alone), NONE, np.int64)
    more = Publications(
        alone,
        publisher,
        handle,
        timeline.thread[alone],
        timeline.ns[alone],
        none,
        none,
        trace.executions.enclosing(alone),
    )
    return joined(replace(publications, client_ns=client_ns), more)


def _publication_of_enqueue(
    trace: Trace, at: Ints, of_call: Ints, publications: Publications, ledger: Ledger
) -> Ints:
    """The publication of each enqueue event (one row an event of its table), or `NONE`."""
    timeline, passages = trace.timeline, trace.passages
    enqueue = timeline.positions(Kind.ENQUEUE)
    row = timeline.row[enqueue]
    out = np.full(len(row), NONE, np.int64)
    call = timeline.before(enqueue, Kind.INTRA_PUBLISH)
    replayed = _replayed(trace, enqueue, call)
    if len(at):
        barrier = timeline.before(enqueue, Kind.RMW_PUBLISH, *_OTHER_WORK)
        own = (call != NONE) & (call > barrier)
        # A call stores nothing in a buffer that was made after it.
        own &= timeline.ns_at(call) >= births(trace.events)[0][row]
        own &= ~touched(trace.losses, timeline.ns_at(call), timeline.ns[enqueue])
        # A call stores one message in a buffer: of a second one the call was lost.
        own &= _before_in_group(passages.buffer[row], enqueue) <= call
        found = of_call[np.searchsorted(at, call).clip(max=len(at) - 1)]
        own &= _one_topic(trace, publications.publisher[found], passages.subscription[row])
        out[row] = np.where(own, found, NONE)
    unknown = passages.stored & (out == NONE)
    ledger.add("replayed_messages", int((unknown & replayed).sum()))
    ledger.add("enqueues_without_publication", int((unknown & ~replayed).sum()))
    return out


def _replayed(trace: Trace, enqueue: Ints, call: Ints) -> Flags:
    """Tell which enqueue events (rows of their table) stored what a late subscription gets.

    A publisher had stored something in a buffer of its own. The thread that made the subscription's
    buffer stores it there, and it has published nothing within the process since; `call` is the
    rclcpp_intra_publish before each of the positions `enqueue`, or `NONE`.
    Another subscription of a publish that the trace lost would be on that thread, too: not where
    events were lost meanwhile.
    """
    timeline, row = trace.timeline, trace.timeline.row[enqueue]
    made_ns, thread = births(trace.events)
    made_ns, ns = made_ns[row], timeline.ns[enqueue]
    own = (made_ns != NONE) & (thread[row] == timeline.thread[enqueue])
    own &= timeline.ns_at(call) < made_ns
    # It goes on from the making of the subscription: nothing is run or waited for in between.
    own &= timeline.ns_at(timeline.before(enqueue, *_OTHER_WORK)) < made_ns
    own &= ~touched(trace.losses, np.where(own, made_ns, ns), ns)
    # A publisher of the process had something to give.
    name = EVENT_OF[Kind.ENQUEUE]
    kept = ~trace.passages.stored
    search = GroupedSearch(trace.events.process(name)[kept], trace.events.timestamps(name)[kept])
    process = trace.events.process(name)[row]
    own &= search.position(process, made_ns, after_equal=False) > search.begin(process)
    out = np.zeros(len(row), bool)
    out[row] = own
    return out


def _before_in_group(group: Ints, value: Ints) -> Ints:
    """The value before each in its group; `NONE` for the first."""
    order = np.lexsort((value, group))
    before = np.full(len(value), NONE, np.int64)
    same = group[order][1:] == group[order][:-1]
    before[order[1:][same]] = value[order[:-1][same]]
    return before


def _one_topic(trace: Trace, publisher: Ints, subscription: Ints) -> Flags:
    """Tell whether publishers and subscriptions have one topic, as far as both are known."""
    ours = pick(trace.topics.of_publisher, publisher)
    theirs = pick(trace.topics.of_subscription, subscription)
    return np.asarray((ours == theirs) | (ours == NONE) | (theirs == NONE))


def _with_dequeues(trace: Trace, takes: Takes) -> Takes:
    """Takes, and after them one an event of the dequeues' table, in its order."""
    timeline, events = trace.timeline, trace.events
    name = EVENT_OF[Kind.DEQUEUE]
    at = timeline.positions(Kind.DEQUEUE)
    at = at[np.argsort(timeline.row[at])]
    subscription = trace.passages.taker
    execution = started(
        timeline,
        trace.executions,
        trace.entities,
        (at, subscription),
        trace.losses,
        intra=True,
    )
    none = np.full(len(at), NONE, np.int64)
    more = Takes(
        at,
        subscription,
        events.ints(name, "buffer"),
        timeline.thread[at],
        timeline.ns[at],
        none,
        timeline.ns[at],
        none,
        execution,
        np.zeros(len(at), bool),
        np.zeros(len(at), bool),
    )
    return joined(takes, more)


def _duplicates(trace: Trace, traffic: Traffic, of_enqueue: Ints) -> Flags:
    """Which matches are copies of messages that their subscription got within the process."""
    publication, take = traffic.matches.publication, traffic.matches.take
    takes, passages = traffic.takes, trace.passages
    stored = passages.stored & (of_enqueue != NONE)
    width = len(trace.entities.subscriptions) + 1
    within = of_enqueue[stored] * width + passages.subscription[stored]
    subscription = takes.subscription[take]
    known = (subscription != NONE) & np.isin(publication * width + subscription, within)
    # Without init events the buffer's subscription is unknown: the missing callback tells.
    process = trace.events.processes.thread_process
    sender = process[traffic.publications.thread[publication]]
    unknown = of_enqueue[stored & (passages.subscription == NONE)]
    same = (sender == process[takes.thread[take]]) & np.isin(publication, unknown)
    return np.asarray(known | (same & (takes.execution[take] == NONE)))


def _matches(
    trace: Trace,
    traffic: Traffic,
    publications: Publications,
    of_enqueue: Ints,
    duplicate: Flags,
    ledger: Ledger,
) -> Matches:
    """The matches of the middleware without duplicates, and those of the ring buffers."""
    passages, old = trace.passages, traffic.matches
    publication = of_enqueue[passages.enqueue]
    found = publication != NONE
    dequeues = len(passages.taker)
    unmatched = dequeues - int(found.sum())
    ledger.add("unmatched_dequeues", dequeues - len(passages.dequeue))
    enqueue_ns = trace.events.timestamps(EVENT_OF[Kind.ENQUEUE])[passages.enqueue][found]
    dequeue_ns = trace.events.timestamps(EVENT_OF[Kind.DEQUEUE])[passages.dequeue][found]
    lossy = touched(trace.losses, publications.begin_ns[publication[found]], dequeue_ns)
    method = np.where(lossy, RING_BUFFER_LOSSES, RING_BUFFER)
    displaced = passages.displaced & (of_enqueue != NONE)
    ledger.add("ring_buffers_with_losses", int((method == RING_BUFFER_LOSSES).sum()))
    return replace(
        old,
        publication=np.concatenate([old.publication[~duplicate], publication[found]]),
        take=np.concatenate([old.take[~duplicate], len(traffic.takes) + passages.dequeue[found]]),
        method=np.concatenate([old.method[~duplicate], method]),
        enqueue_ns=np.concatenate([old.enqueue_ns[~duplicate], enqueue_ns]),
        unmatched_take_count=old.unmatched_take_count + unmatched,
        overwritten=(of_enqueue[displaced], passages.subscription[displaced]),
    )


def _in_order(
    publications: Publications, takes: Takes, middleware: Middleware, matches: Matches
) -> Traffic:
    """Number publications and takes in order of time, and matches in order of take."""
    published = np.argsort(publications.handed_ns, kind="stable")
    taken = np.argsort(takes.taken_ns, kind="stable")
    writes = _padded(middleware.writes, len(publications), published)
    reads = _padded(middleware.reads, len(takes), taken)
    notified = _padded(middleware.notified, len(takes), taken)
    to_published, to_taken = _inverse(published), _inverse(taken)
    take = to_taken[matches.take]
    order = np.argsort(take, kind="stable")
    return Traffic(
        picked(publications, published),
        picked(takes, taken),
        replace(middleware, writes=writes, reads=reads, notified=notified),
        replace(
            matches,
            publication=to_published[matches.publication][order],
            take=take[order],
            method=matches.method[order],
            enqueue_ns=matches.enqueue_ns[order],
            doubtful=(to_taken[matches.doubtful[0]], to_published[matches.doubtful[1]]),
            overwritten=(to_published[matches.overwritten[0]], matches.overwritten[1]),
        ),
    )


def _inverse(order: Ints) -> Ints:
    out = np.empty(len(order), np.int64)
    out[order] = np.arange(len(order))
    return out


def _padded(rows: Rows, size: int, order: Ints) -> Rows:
    """Rows of the middleware for all: what it did not see is null, or zero in words."""
    columns = []
    for item in fields(rows):
        values = getattr(rows, item.name)
        if isinstance(values, np.ndarray):
            null = NONE if values.dtype == np.int64 else 0
            rest = np.full((size - len(values), *values.shape[1:]), null, values.dtype)
            values = np.concatenate([values, rest])[order]
        columns.append(values)
    return type(rows)(*columns)


def _flags(rows: Ints, size: int) -> Flags:
    out = np.zeros(size, bool)
    out[rows] = True
    return out
