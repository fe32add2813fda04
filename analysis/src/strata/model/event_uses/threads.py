# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of what executors do: callbacks, waits and what they pick."""

from __future__ import annotations

import numpy as np

from strata.model.columns import NONE, Ints
from strata.model.entities import of_actions
from strata.model.event_uses.cases import EARLIER, LOST, Case, Rule
from strata.model.event_uses.evidence import WORK, Evidence
from strata.model.joins import Flags, flags_at
from strata.model.search import Lifetimes, pick
from strata.model.timeline import EVENT_OF, Kind
from strata.model.windows import touched

_EXECUTOR = (Kind.WAIT, Kind.READY, Kind.EXECUTE)
_DONE = (
    Kind.CALLBACK_END,
    Kind.READY,
    Kind.EXECUTE,
    Kind.RMW_TAKE,
    Kind.RCL_TAKE,
    Kind.RCLCPP_TAKE,
    Kind.TAKE_REQUEST,
    Kind.SEND_RESPONSE,
    Kind.TAKE_RESPONSE,
)
"""The last of what was picked before; of services and waitables an executor tells nothing."""
_SENT = (Kind.RMW_PUBLISH, Kind.INTRA_PUBLISH, Kind.ENQUEUE, Kind.SEND_REQUEST)
_PICKED = (Kind.RMW_TAKE, Kind.TAKE_REQUEST, Kind.TAKE_RESPONSE, Kind.DEQUEUE)


def _callback_starts(evidence: Evidence) -> list[Case]:
    model, timeline, at = evidence.model, evidence.timeline, evidence.at(Kind.CALLBACK_START)
    ran, callbacks = model.executions, model.entities.callbacks
    given = flags_at(np.asarray(callbacks.kind != "unknown", bool), ran.callback)
    known = given | evidence.older(evidence.process(at)) | evidence.lost_before(timeline.ns[at])
    ended = ran.end_ns != NONE
    following = timeline.after(at, *WORK)
    kind = evidence.kind(following)
    told = np.isin(timeline.thread, timeline.thread[timeline.positions(*_EXECUTOR)])
    left = np.isin(kind, (*_EXECUTOR, Kind.CALLBACK_END)) | (
        (kind == Kind.CALLBACK_START) & ~told[at]
    )
    return [
        Case(True, "begin of an execution", known & ended),
        Case(
            True,
            "begin of an execution whose end is not known, as events were lost",
            known & ~ended & touched(model.losses, ran.start_ns, ran.until_ns),
        ),
        Case(True, "begin of an execution that did not return (its callback threw)", known & left),
        Case(True, "begin of an execution at the end of its thread", known & (following == NONE)),
    ]


def _callback_ends(evidence: Evidence) -> list[Case]:
    ran, at = evidence.model.executions, evidence.at(Kind.CALLBACK_END)
    work = evidence.timeline.before(at, *WORK)
    # A start that is missing came after the last that the executor did.
    before = _before_of_callback(evidence)
    begun = evidence.kind(before) == Kind.CALLBACK_START
    since = np.where(begun, before, np.maximum(before, evidence.timeline.before(at, *_EXECUTOR)))
    lost = evidence.lost_since(since, at)
    return [
        Case(True, "end of an execution", np.isin(at, ran.until[ran.end_ns != NONE])),
        Case(False, "may end a later execution, as events were lost", begun & lost),
        Case(False, LOST, lost),
        Case(False, EARLIER, (work == NONE) & evidence.older(evidence.process(at))),
    ]


def _before_of_callback(evidence: Evidence) -> Ints:
    """The start or end before each callback_end, on its thread and of its callback; or `NONE`."""
    starts, ends = evidence.at(Kind.CALLBACK_START), evidence.at(Kind.CALLBACK_END)
    at = np.concatenate([starts, ends])
    kinds = (Kind.CALLBACK_START, Kind.CALLBACK_END)
    address = np.concatenate([evidence.column(kind, "callback") for kind in kinds])
    thread = evidence.timeline.thread[at]
    order = np.lexsort((at, address, thread))
    same = (address[order][1:] == address[order][:-1]) & (thread[order][1:] == thread[order][:-1])
    before = np.full(len(at), NONE, np.int64)
    before[order[1:][same]] = at[order[:-1][same]]
    return before[len(starts) :]


def _waits(evidence: Evidence) -> list[Case]:
    at = evidence.at(Kind.WAIT)
    work = evidence.timeline.after(at, *WORK)
    return [
        Case(True, "begin of a wait", np.isin(at, evidence.waits[0])),
        Case(False, LOST, evidence.lost_until(at, work)),
        Case(
            False,
            "its executor stopped spinning after the wait (its time was over, or it was "
            "cancelled or shut down): it looked for no work",
            _left(evidence, at, work),
        ),
        Case(False, "the last that the thread's executor did", work == NONE),
    ]


def _left(evidence: Evidence, at: Ints, work: Ints) -> Flags:
    """Tell which waits an executor left without a look for work, as rclcpp's do.

    spin_some and spin_all look only while their time is not over, spin_once while nobody cancelled
    it (rclcpp's executor.cpp). Of what the thread can do next, two things show on the timeline:
    spin_some and spin_all begin with a wait of no time, and a callback that spins ends.
    """
    kind, around = evidence.kind(work), evidence.model.executions.enclosing(at)
    again = evidence.column_at(work, Kind.WAIT, "timeout") == 0
    within = (kind == Kind.CALLBACK_END) & (around != NONE)
    return np.asarray(((kind == Kind.WAIT) & again) | within, bool)


def _readies(evidence: Evidence) -> list[Case]:
    timeline, ran, at = evidence.timeline, evidence.model.executions, evidence.at(Kind.READY)
    kind = evidence.kind(evidence.before(at))
    thrown = np.isin(at, ran.until[ran.end_ns == NONE])
    around = ran.enclosing(at)
    within = (around != NONE) & (pick(ran.end_ns, around) != NONE)
    return [
        Case(True, "end of a wait", np.isin(at, evidence.waits[1])),
        Case(True, "end of a wait that began before the trace", np.isin(at, evidence.opening)),
        Case(False, "looked for more work without a wait", np.isin(kind, _DONE) | thrown),
        Case(False, "first look for work of its thread", timeline.before(at, *_EXECUTOR) == NONE),
        Case(False, "looked for work within a callback, which spins", within),
        Case(
            False,
            "looked for work after what the thread sent outside of callbacks",
            np.isin(kind, _SENT) & (around == NONE),
        ),
        Case(False, LOST, evidence.lost_since(evidence.before(at), at)),
    ]


def _executes(evidence: Evidence) -> list[Case]:
    timeline, at = evidence.timeline, evidence.at(Kind.EXECUTE)
    process = evidence.process(at)
    following = timeline.after(at, *_PICKED, *WORK)
    kind = evidence.kind(following)
    subscription, timer, service, client = _named(evidence, at, process)
    unnamed = (subscription == NONE) & (timer == NONE) & (service == NONE) & (client == NONE)
    before = unnamed & (evidence.older(process) | evidence.lost_before(timeline.ns[at]))
    entities, traffic = evidence.model.entities, evidence.model.service_traffic
    fires, serves = _starts(evidence, following, timer, service)
    lent, unseen = _loaned(evidence, at, following, subscription)

    def taken(of: Kind, what: str, row: Ints, rmw_handle: Ints) -> Flags:
        handle = evidence.column_at(following, of, f"rmw_{what}_handle")
        same = (row != NONE) & (handle == pick(rmw_handle, row))
        return np.asarray((kind == of) & (same | before), bool)

    started = kind == Kind.CALLBACK_START
    asked = taken(Kind.TAKE_REQUEST, "service", service, traffic.services.rmw_handle)
    idle = np.isin(kind, (*_EXECUTOR, NONE))
    return [
        Case(
            True,
            "a subscription was picked",
            taken(Kind.RMW_TAKE, "subscription", subscription, entities.subscriptions.rmw_handle)
            | lent,
        ),
        Case(
            False,
            "a subscription was picked, of whose take there is no event (a loaned message)",
            unseen,
        ),
        Case(True, "a timer was picked", fires | (started & before)),
        Case(True, "a service was picked", asked | serves),
        Case(
            True,
            "a goal of an action was picked",
            of_actions(evidence.column(Kind.EXECUTE, "handle")),
        ),
        Case(
            True,
            "a client was picked",
            taken(Kind.TAKE_RESPONSE, "client", client, traffic.clients.rmw_handle),
        ),
        Case(False, LOST, evidence.lost_until(at, evidence.after(at))),
        Case(
            False,
            "nothing was taken or called: the thread went on, or its events end",
            idle & (~unnamed | before),
        ),
    ]


def _named(evidence: Evidence, at: Ints, process: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """The subscription, timer, service and client whose handle was picked: rows, or `NONE`."""
    handle, ns = evidence.column(Kind.EXECUTE, "handle"), evidence.timeline.ns[at]
    entities, traffic = evidence.model.entities, evidence.model.service_traffic
    service, client = (
        Lifetimes(of.process, of.handle, of.begin_ns).find(process, handle, ns)
        for of in (traffic.services, traffic.clients)
    )
    subscription = entities.subscriptions.by_handle.find(process, handle, ns)
    return subscription, entities.timers.find(process, handle, ns), service, client


def _starts(evidence: Evidence, at: Ints, timer: Ints, service: Ints) -> tuple[Flags, Flags]:
    """Tell where a callback of the timer starts, or of the service, as far as is known."""
    model = evidence.model
    callbacks, services = model.entities.callbacks, model.service_traffic.services
    callback = _started(evidence, at)
    nobodys = flags_at(np.asarray(callbacks.kind == "unknown", bool), callback)
    unlinked = nobodys & evidence.lost_before(evidence.timeline.ns_at(at))
    fires = (timer != NONE) & ((pick(callbacks.timer, callback) == timer) | unlinked)
    serves = (service != NONE) & ((pick(services.of_callback, callback) == service) | unlinked)
    return fires, serves


def _loaned(evidence: Evidence, at: Ints, until: Ints, picked: Ints) -> tuple[Flags, Flags]:
    """Tell where a loaned message is taken before the next event, and where it must have been.

    The second: the callback of the subscription that was `picked` follows without any take.
    """
    model, timeline = evidence.model, evidence.timeline
    lent = np.sort(model.takes.position[model.takes.loaned])
    next_lent = pick(np.append(lent, len(timeline)), np.searchsorted(lent, at))
    taken = next_lent < np.where(until != NONE, until, at)
    repeated = timeline.after(at, Kind.RCL_TAKE, Kind.RCLCPP_TAKE)
    alone = (repeated == NONE) | (repeated > until)
    listens = pick(model.entities.callbacks.subscription, _started(evidence, until)) == picked
    return taken, np.asarray(listens & (picked != NONE) & alone & ~taken, bool)


def _started(evidence: Evidence, at: Ints) -> Ints:
    """The callback that starts at each position; `NONE` where none does."""
    ran = evidence.model.executions
    if not len(ran):
        return np.full(len(at), NONE, np.int64)
    row = np.searchsorted(ran.start, at).clip(max=len(ran) - 1)
    return np.where(ran.start[row] == at, ran.callback[row], NONE)


THREAD_RULES: dict[str, Rule] = {
    EVENT_OF[Kind.CALLBACK_START]: _callback_starts,
    EVENT_OF[Kind.CALLBACK_END]: _callback_ends,
    EVENT_OF[Kind.WAIT]: _waits,
    EVENT_OF[Kind.READY]: _readies,
    EVENT_OF[Kind.EXECUTE]: _executes,
}
