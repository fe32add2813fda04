# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the events of service calls."""

from __future__ import annotations

import numpy as np

from strata.model.columns import NONE, Ints
from strata.model.event_uses.cases import EARLIER, LOST, Case, Rule
from strata.model.event_uses.evidence import Evidence
from strata.model.joins import Flags, codes_of, flags_at
from strata.model.search import pick
from strata.model.service_calls import ServiceTraffic
from strata.model.service_events import ServiceEvents
from strata.model.timeline import EVENT_OF, Kind

_CALL = "a service call"


def _spread(evidence: Evidence, kind: Kind, found: ServiceEvents, flags: Flags) -> Flags:
    """Flags of a kind's events of the exchange, as flags of all its events."""
    at = evidence.at(kind)
    out = np.zeros(len(at), bool)
    out[np.searchsorted(at, found.position[flags])] = True
    return out


def _call_of(of: Ints, found: ServiceEvents) -> Ints:
    """The call of each event, or `NONE`."""
    out = np.full(len(found), NONE, np.int64)
    calls = np.flatnonzero(of != NONE)
    out[of[calls]] = calls
    return out


def _owned(evidence: Evidence, found: ServiceEvents, count: int) -> Flags:
    """Which events' client or service (of `count` known ones) is known, or need not be."""
    process = evidence.process(found.position)
    lost = evidence.lost_before(found.ns)
    return np.asarray((found.owner < count) | evidence.older(process) | lost, bool)


def _rest(evidence: Evidence, kind: Kind) -> list[Case]:
    """Cases of events whose partners are missing."""
    at = evidence.at(kind)
    return [
        Case(False, LOST, evidence.lost_before(evidence.timeline.ns[at])),
        Case(False, EARLIER, evidence.older(evidence.process(at))),
    ]


def _empty(evidence: Evidence, kind: Kind) -> Case:
    return Case(False, "nothing was taken", evidence.column(kind, "taken") == 0)


def _sent_requests(evidence: Evidence) -> list[Case]:
    """A request is the first of its call: only its client must be known."""
    traffic = evidence.model.service_traffic
    sent, at = traffic.exchange.sent_requests, evidence.at(Kind.SEND_REQUEST)
    call = _call_of(traffic.calls.request, sent)
    known = (call != NONE) & (sent.owner < len(traffic.clients))
    served = flags_at(traffic.calls.method != NONE, call)
    process, ns = evidence.process(at), evidence.timeline.ns[at]
    begun = _spread(evidence, Kind.SEND_REQUEST, sent, call != NONE)
    unknown = begun & (evidence.older(process) | evidence.lost_before(ns))
    return [
        Case(True, _CALL, _spread(evidence, Kind.SEND_REQUEST, sent, known & served)),
        Case(
            True, "a request that nothing took", _spread(evidence, Kind.SEND_REQUEST, sent, known)
        ),
        Case(True, "a request of a client that was made before the trace, or lost", unknown),
        *_rest(evidence, Kind.SEND_REQUEST),
    ]


def _taken_requests(evidence: Evidence) -> list[Case]:
    kind, traffic = Kind.TAKE_REQUEST, evidence.model.service_traffic
    taken, calls = traffic.exchange.taken_requests, traffic.calls
    owned = _owned(evidence, taken, len(traffic.services))
    call = np.where(owned, _call_of(calls.taken, taken), NONE)
    asked = flags_at(calls.request != NONE, call)
    # Another service may have taken the request, too: it has the call.
    client, known = pick(calls.client, call), np.flatnonzero(calls.request != NONE)
    number = pick(traffic.exchange.sent_requests.sequence, calls.request[known])
    own, every = codes_of([client, taken.sequence], [calls.client[known], number])
    shared = (client != NONE) & np.isin(own, every)
    absent = (call != NONE) & (taken.gid != NONE) & ~np.isin(taken.gid, traffic.clients.gid)
    served = _spread(evidence, kind, taken, asked | shared)
    early = (client != NONE) & (taken.sequence == pick(_latest(traffic), client) + 1)
    return [
        Case(True, _CALL, served),
        Case(
            True,
            "a request of a client that is not in the trace",
            _spread(evidence, kind, taken, absent),
        ),
        # rmw_send_request comes after the write: a request may be taken before.
        Case(
            True,
            "a request that was taken before the trace told its sending, and ended",
            _spread(evidence, kind, taken, early),
        ),
        _empty(evidence, kind),
        *_rest(evidence, kind),
    ]


def _latest(traffic: ServiceTraffic) -> Ints:
    """The greatest number of a request that each client sent; clients count from 1."""
    sent, known = traffic.exchange.sent_requests, traffic.calls.client
    last = np.zeros(max(sent.owner.max(initial=0), known.max(initial=0)) + 1, np.int64)
    np.maximum.at(last, sent.owner, sent.sequence)
    return last


def _sent_responses(evidence: Evidence) -> list[Case]:
    kind, traffic = Kind.SEND_RESPONSE, evidence.model.service_traffic
    sent, calls = traffic.exchange.sent_responses, traffic.calls
    taken = flags_at(calls.taken != NONE, _call_of(calls.response, sent))
    taken &= _owned(evidence, sent, len(traffic.services))
    return [
        Case(True, _CALL, _spread(evidence, kind, sent, taken)),
        *_rest(evidence, kind),
    ]


def _taken_responses(evidence: Evidence) -> list[Case]:
    kind, traffic = Kind.TAKE_RESPONSE, evidence.model.service_traffic
    taken, calls = traffic.exchange.taken_responses, traffic.calls
    # Of a service that took the request in the trace, the response must be there, too.
    told = (calls.response != NONE) | ((calls.request != NONE) & (calls.taken == NONE))
    called = flags_at(told, _call_of(calls.taken_response, taken))
    called &= _owned(evidence, taken, len(traffic.clients))
    return [
        Case(True, _CALL, _spread(evidence, kind, taken, called)),
        _empty(evidence, kind),
        *_rest(evidence, kind),
    ]


CALL_RULES: dict[str, Rule] = {
    EVENT_OF[Kind.SEND_REQUEST]: _sent_requests,
    EVENT_OF[Kind.TAKE_REQUEST]: _taken_requests,
    EVENT_OF[Kind.SEND_RESPONSE]: _sent_responses,
    EVENT_OF[Kind.TAKE_RESPONSE]: _taken_responses,
}
