# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of messages that are published to, and taken from, the middleware."""

from __future__ import annotations

import numpy as np

from strata.model.client_events import client_events, rclpy_calls
from strata.model.columns import NONE, Ints
from strata.model.event_uses.cases import EARLIER, LOST, Case, Rule
from strata.model.event_uses.evidence import WORK, Evidence
from strata.model.joins import Flags, codes_of
from strata.model.timeline import EVENT_OF, Kind

_GRAPH = "of the middleware itself (graph topics)"
_OLDER = "of an endpoint that was made before the trace"
_UNANNOUNCED = "of an endpoint whose init event was lost"
_REPEATS = "repeats rmw_take, which tells more"


def _rmw_publishes(evidence: Evidence) -> list[Case]:
    at, timeline = evidence.at(Kind.RMW_PUBLISH), evidence.timeline
    process, ns = evidence.process(at), timeline.ns[at]
    published, publisher = evidence.publisher(at)
    older, lost = evidence.older(process), evidence.lost_before(ns)
    return [
        Case(True, "a publication", published & (publisher != NONE)),
        Case(True, f"a publication {_UNANNOUNCED}", published & lost),
        Case(True, f"a publication {_OLDER}", published & older),
        Case(False, _GRAPH, ~published & (_own_publishers(evidence) | older)),
        # The middleware's own publish before the node is announced that tells them.
        Case(False, _UNANNOUNCED, ~published & evidence.lost_ever(len(at))),
    ]


def _own_publishers(evidence: Evidence) -> Flags:
    """Which rmw_publish are of the middleware's own publishers.

    Those that it announced, and rcl never did; those that published when it made a node (Cyclone
    DDS announces none); and where the event names no publisher (Iron and older), those of no
    client.
    """
    at, timeline = evidence.at(Kind.RMW_PUBLISH), evidence.timeline
    process, ns = evidence.process(at), timeline.ns[at]
    handle = evidence.column(Kind.RMW_PUBLISH, "rmw_publisher_handle")
    announced = evidence.internal("publisher").find(process, handle, ns) != NONE
    known = evidence.model.entities.publishers.by_rmw_handle.find(process, handle, ns) != NONE
    called = _called(evidence, at)
    early = ~known & ~called & evidence.before_node(timeline.thread[at], ns)
    (owner,) = codes_of([process, handle])
    same = np.isin(owner, owner[early & (handle != NONE)])
    return np.asarray((announced | same | (handle == NONE)) & ~known & ~called, bool)


def _called(evidence: Evidence, at: Ints) -> Flags:
    """Tell which rmw_publish hand on the message of the client's event just before."""
    before, message = evidence.before(at), evidence.column(Kind.RMW_PUBLISH, "message")
    out = np.zeros(len(at), bool)
    for kind in (Kind.RCLCPP_PUBLISH, Kind.RCL_PUBLISH):
        same = evidence.column_at(before, kind, "message") == message
        out |= (evidence.kind(before) == kind) & same
    return out


def _client_publishes(kind: Kind) -> Rule:
    """The rule of publish() in rclcpp, or in rcl: the message has one address in all of a call."""

    def rule(evidence: Evidence) -> list[Case]:
        at, timeline = evidence.at(kind), evidence.timeline
        until = timeline.after(at, kind, Kind.RMW_TAKE, Kind.DEQUEUE, *WORK)
        rmw = timeline.within(at, until, Kind.RMW_PUBLISH)
        handed = evidence.column_at(rmw, Kind.RMW_PUBLISH, "message")
        same = (rmw != NONE) & (handed == evidence.column(kind, "message"))
        published, _ = evidence.publisher(np.maximum(rmw, 0))
        ever = timeline.after(at, Kind.RMW_PUBLISH, *WORK)
        return [
            Case(True, "begin of a publication", same & published),
            Case(False, LOST, evidence.lost_until(at, until)),
            Case(False, "its thread ends before its rmw_publish", ever == NONE),
        ]

    return rule


def _library_publishes(evidence: Evidence) -> list[Case]:
    """The rule of the client library: rclcpp names the message, rclpy the publisher."""
    at, model = evidence.at(Kind.RCLCPP_PUBLISH), evidence.model
    rmw = evidence.at(Kind.RMW_PUBLISH)
    _, publisher = evidence.publisher(rmw)
    _, rcl = client_events(model.events, evidence.timeline, rmw)
    calls = rclpy_calls(model.events, evidence.timeline, model.entities, rmw, (publisher, rcl))
    process, ns = evidence.process(at), evidence.timeline.ns[at]
    handle = evidence.column(Kind.RCLCPP_PUBLISH, "message")
    named = model.entities.publishers.by_handle.find(process, handle, ns) != NONE
    said = evidence.at(Kind.RCL_PUBLISH)
    own, others = codes_of(
        [process, handle],
        [evidence.process(said), evidence.column(Kind.RCL_PUBLISH, "publisher_handle")],
    )
    return [
        Case(True, "begin of a publication", np.isin(at, calls[calls != NONE])),
        *_client_publishes(Kind.RCLCPP_PUBLISH)(evidence),
        Case(False, "rclpy's publish() raised, nothing was sent", named | np.isin(own, others)),
        _refused(evidence),
    ]


def _refused(evidence: Evidence) -> Case:
    """The case of publish() in rclcpp whose context was shut down: rcl returns before its event.

    (rclcpp's publisher.hpp: do_inter_process_publish passes over RCL_RET_PUBLISHER_INVALID then.)
    Nothing that began later in the process was published: else its context still was there. Of
    several contexts in a process no event tells which one a publisher is of.
    """
    at, timeline = evidence.at(Kind.RCLCPP_PUBLISH), evidence.timeline
    publications = evidence.model.publications
    until = timeline.after(at, Kind.RCLCPP_PUBLISH, Kind.RMW_TAKE, Kind.DEQUEUE, *WORK)
    rcl = timeline.within(at, until, Kind.RCL_PUBLISH)
    rmw = timeline.within(at, until, Kind.RMW_PUBLISH)
    # The middleware's own publications, as of a node that is destroyed, are of other messages.
    message = evidence.column_at(rmw, Kind.RMW_PUBLISH, "message")
    handed = (rcl != NONE) | (
        (rmw != NONE) & (message == evidence.column(Kind.RCLCPP_PUBLISH, "message"))
    )
    of_thread = evidence.events.processes.thread_process
    begun = publications.client_ns != NONE
    last_ns = np.full(int(of_thread.max(initial=-1)) + 1, NONE, np.int64)
    sender = of_thread[publications.thread[begun]]
    np.maximum.at(last_ns, sender, publications.client_ns[begun])
    process = evidence.process(at)
    # The context may have gone at any time until the thread went on.
    gone = (until == NONE) | (timeline.ns_at(until) > last_ns[process])
    gone |= evidence.several_contexts(process) | evidence.older(process)
    return Case(False, "publish() after the context was shut down: refused", ~handed & gone)


def _intra_publishes(evidence: Evidence) -> list[Case]:
    at, publishers = evidence.at(Kind.INTRA_PUBLISH), evidence.model.entities.publishers
    process, ns = evidence.process(at), evidence.timeline.ns[at]
    handle = evidence.column(Kind.INTRA_PUBLISH, "publisher_handle")
    known = publishers.by_handle.find(process, handle, ns) != NONE
    begin = "begin of a publication"
    return [
        Case(True, begin, known),
        Case(True, f"{begin} {_UNANNOUNCED}", evidence.lost_before(ns)),
        Case(True, f"{begin} {_OLDER}", evidence.older(process)),
    ]


def _rmw_takes(evidence: Evidence) -> list[Case]:
    at, takes = evidence.at(Kind.RMW_TAKE), evidence.model.takes
    process, ns = evidence.process(at), evidence.timeline.ns[at]
    handle = evidence.column(Kind.RMW_TAKE, "rmw_subscription_handle")
    taken = evidence.column(Kind.RMW_TAKE, "taken")
    stamped = evidence.column(Kind.RMW_TAKE, "source_timestamp") > 0
    subscriptions = evidence.model.entities.subscriptions.by_rmw_handle
    known = subscriptions.find(process, handle, ns) != NONE
    own = np.isin(at, takes.position[takes.rmw_take_ns != NONE])
    copied = np.isin(at, takes.position[takes.duplicate])
    # Only the middleware takes without a stamp: it asks for none.
    (owner,) = codes_of([process, handle])
    graph = np.isin(owner, owner[~known & (taken == 1) & ~stamped])
    graph |= evidence.internal("subscription").find(process, handle, ns) != NONE
    older, lost = evidence.older(process), evidence.lost_before(ns)
    somebody = known | graph | older | lost
    return [
        Case(True, "a copy of an intra-process message", copied & (known | older | lost)),
        Case(True, "a take", own & known),
        Case(True, f"a take {_UNANNOUNCED}", own & lost),
        Case(True, f"a take {_OLDER}", own & older),
        Case(False, "nothing was taken", (taken == 0) & somebody),
        Case(
            False,
            "no source timestamp (graph topics)",
            (taken == 1) & ~stamped & ~known & graph,
        ),
        Case(False, "no source timestamp: nothing to match it by", (taken == 1) & ~stamped & known),
    ]


def _repeated_takes(kind: Kind) -> Rule:
    """The rule of events that follow rmw_take in rcl and the client library."""

    def rule(evidence: Evidence) -> list[Case]:
        at, timeline = evidence.at(kind), evidence.timeline
        work = timeline.before(at, kind, *WORK)
        take = timeline.before(at, Kind.RMW_TAKE)
        message = evidence.column_at(take, Kind.RMW_TAKE, "message")
        same = (take > work) & (message == evidence.column(kind, "message"))
        first = timeline.before(at, Kind.RMW_TAKE, *WORK) == NONE
        return [
            Case(False, _REPEATS, same),
            Case(False, LOST, evidence.lost_since(work, at)),
            Case(False, EARLIER, first & evidence.older(evidence.process(at))),
        ]

    return rule


MESSAGE_RULES: dict[str, Rule] = {
    EVENT_OF[Kind.RMW_PUBLISH]: _rmw_publishes,
    EVENT_OF[Kind.RCL_PUBLISH]: _client_publishes(Kind.RCL_PUBLISH),
    EVENT_OF[Kind.RCLCPP_PUBLISH]: _library_publishes,
    EVENT_OF[Kind.INTRA_PUBLISH]: _intra_publishes,
    EVENT_OF[Kind.RMW_TAKE]: _rmw_takes,
    EVENT_OF[Kind.RCL_TAKE]: _repeated_takes(Kind.RCL_TAKE),
    EVENT_OF[Kind.RCLCPP_TAKE]: _repeated_takes(Kind.RCLCPP_TAKE),
}
