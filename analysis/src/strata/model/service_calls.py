# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which events are of one service call.

    client    rmw_send_request (sequence number)           rmw_take_response (sequence, timestamp)
                     \\                                        /
    service     rmw_take_request (GID, sequence) .. rmw_send_response (GID, sequence, timestamp)

A client numbers its requests; its GID and that number travel with the request and the response.
So the four events of a call have one client and one sequence number, exactly. Handles and GIDs that
are used again are told apart by the lifetimes of their clients.

* Several services may answer to one name: each of them takes the request. A response belongs to the
  serving with its source timestamp. The call goes with the serving whose response was taken first
  (none was: with the one that took it first); the other servings are rows of their own, counted.
* A client whose GID is unknown (the trace began late) is known by its responses: sequence number
  and source timestamp of a response are the same where it is sent and where it is taken, and one
  such pair tells the client's GID. Pairs that disagree tell nothing.
* Two requests of one client with one number, or two takes of one by one service, cannot be told
  apart (an init event was lost): they stay unmatched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from strata.lazy import pandas as pd
from strata.model.columns import NONE, EventColumns, Ints
from strata.model.dds.calls import BY_IDENTITY, BY_ORDER
from strata.model.entities import Entities
from strata.model.executions import Executions
from strata.model.hosts import HostClocks
from strata.model.joins import Flags, codes_of, flags_at, repeated, single
from strata.model.search import pick
from strata.model.service_callers import Callers, find_callers
from strata.model.service_events import Exchange, ServiceEvents, find_exchange
from strata.model.services import Clients, Gids, Services, find_clients, find_services
from strata.model.timeline import EVENT_OF, Kind, Timeline
from strata.model.windows import NO_LOSSES, Windows
from strata.schema.quality import Ledger

METHODS = (
    "gid+sequence",
    "client+sequence",
    "response timestamp",
    "dds identity",
    "thread order",
)
CONFIDENCES = ("exact", "exact", "inferred", "exact", "inferred")
"""What decided a match, and how sure that is, by `Calls.method`."""
_BY_GID, _BY_CLIENT, _BY_RESPONSE, _BY_IDENTITY, _BY_ORDER = range(5)

_LATEST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Calls:
    """One row a call, in order of its first event; each column is a row of that kind's events.

    `client` and `service` number the owners, `NONE` where none is known; `gid` is the client's.
    `method` is a row of `METHODS`, `NONE` for a call of which one side was seen. `further` rows are
    no calls of their own: of another row's call, what another service of the name served.
    """

    request: Ints
    taken: Ints
    response: Ints
    taken_response: Ints
    client: Ints
    service: Ints
    gid: Ints
    method: Ints
    further: Flags

    def __len__(self) -> int:
        return len(self.request)


@dataclass(frozen=True)
class ServiceTraffic:
    """Services, clients, what they sent and took, and their calls."""

    services: Services
    clients: Clients
    gids: Gids
    exchange: Exchange
    calls: Calls


def find_service_traffic(
    events: EventColumns,
    timeline: Timeline,
    entities: Entities,
    executions: Executions,
    ledger: Ledger,
    clocks: HostClocks,
    losses: Windows = NO_LOSSES,
) -> ServiceTraffic:
    """Find all about services in the events of a trace."""
    gids = Gids(events)
    services = find_services(events, entities.nodes, entities.callbacks)
    clients = find_clients(events, entities.nodes, gids)
    exchange = find_exchange(
        events, timeline, executions, entities.callbacks, services, clients, gids, ledger, losses
    )
    _count_unseen(events, entities, executions, ledger)
    calls = match_calls(exchange, clients, services, clocks, ledger)
    exchange = _before_responses(exchange, calls, executions)
    ledger.add("requests_without_callback", int((exchange.execution == NONE).sum()))
    return ServiceTraffic(services, clients, gids, exchange, calls)


def _before_responses(exchange: Exchange, calls: Calls, executions: Executions) -> Exchange:
    """Take a callback from a request that was answered before it began: it is a later one's."""
    start_ns = pick(executions.start_ns, pick(exchange.execution, calls.taken))
    answered_ns = pick(exchange.sent_responses.ns, calls.response)
    execution = exchange.execution.copy()
    execution[calls.taken[(answered_ns != NONE) & (start_ns > answered_ns)]] = NONE
    return replace(exchange, execution=execution)


def _count_unseen(
    events: EventColumns, entities: Entities, executions: Executions, ledger: Ledger
) -> None:
    """Service callbacks of processes whose requests are not in the trace (Jazzy and older)."""
    ran = executions.callback[entities.callbacks.kind[executions.callback] == "service"]
    seen = np.unique(events.process(EVENT_OF[Kind.TAKE_REQUEST]))
    unseen = ~np.isin(entities.callbacks.process[ran], seen)
    ledger.add("service_calls_unseen", int(unseen.sum()))


@dataclass(frozen=True)
class _Servings:
    """One row a request that a service took or answered: rows of the events, or `NONE`.

    `key` numbers the call; `alone` are rows that match nothing else; `got` is the response's take.
    """

    taken: Ints
    response: Ints
    got: Ints
    key: Ints
    alone: Flags

    def __len__(self) -> int:
        return len(self.key)


def match_calls(
    exchange: Exchange, clients: Clients, services: Services, clocks: HostClocks, ledger: Ledger
) -> Calls:
    """Put together the events of each call; what has no counterpart is counted by its cause."""
    callers = find_callers(exchange, clients, clocks.of_process)
    parties = _parties(exchange, callers, clocks)
    call, serving, stamped = _keys(exchange, parties)
    alone = _alone(exchange, callers, parties, call, serving)
    served = _servings(exchange, call, serving, stamped, alone)
    primary = _primary(exchange, served)
    further = ~served.alone
    further[primary] = False
    ledger.add("requests_taken_by_several", int(further.sum()))
    ledger.add("ambiguous_service_events", int(sum(part.sum() for part in alone)))

    request = np.full(len(served), NONE, np.int64)
    request[primary] = single(served.key[primary], call[0], None, ~alone[0])
    # Where a response was not recorded, its take may be told without; not if others serve, too.
    only = np.zeros(len(served), bool)
    only[primary] = _unrivalled(exchange, services, served)[primary]
    left = np.setdiff1d(np.arange(len(call[0])), request).astype(np.int64)
    none = np.full(len(left), NONE, np.int64)
    key = np.concatenate([served.key, call[0][left]])
    response = np.concatenate([served.response, none])
    got = np.concatenate([served.got, none])
    lacking = np.concatenate([only, ~alone[0][left]]) & (got == NONE)
    got = _unstamped(exchange, got, key, response, lacking, call[3], ~alone[3])
    table = (np.concatenate([request, left]), np.concatenate([served.taken, none]), response, got)
    further = np.concatenate([further, np.zeros(len(left), bool)])
    calls = _calls(exchange, callers, table, further, clocks)
    _count(exchange, calls, ledger)
    return calls


def _servings(
    exchange: Exchange,
    call: tuple[Ints, ...],
    serving: tuple[Ints, ...],
    stamped: tuple[Ints, ...],
    alone: tuple[Flags, Flags, Flags, Flags],
) -> _Servings:
    taken, answered = exchange.taken_requests, exchange.sent_responses
    response_of = single(serving[0], serving[1], ~alone[1], ~alone[2])
    early = (response_of != NONE) & (pick(answered.ns, response_of) < taken.ns)
    response_of[early] = NONE
    told = ~alone[2] & (answered.stamp > 0) & ~repeated(stamped[0])
    got_of = single(stamped[0], stamped[1], told, ~alone[3])
    untaken = np.setdiff1d(np.arange(len(answered)), response_of).astype(np.int64)
    none = np.full(len(untaken), NONE, np.int64)
    response = np.concatenate([response_of, untaken])
    return _Servings(
        np.concatenate([np.arange(len(taken), dtype=np.int64), none]),
        response,
        pick(got_of, response),
        np.concatenate([call[1], call[2][untaken]]),
        np.concatenate([alone[1], alone[2][untaken]]),
    )


def _parties(
    exchange: Exchange, callers: Callers, clocks: HostClocks
) -> tuple[Ints, Ints, Ints, Ints]:
    """Whose call each event is of: a client's number, or past them all the number of a GID."""
    taken, answered = exchange.taken_requests, exchange.sent_responses
    asked = callers.at(taken.gid, taken.ns, clocks.of_thread[taken.thread])
    replied = callers.at(answered.gid, answered.ns, clocks.of_thread[answered.thread])
    count = len(callers.gid)
    return (
        exchange.sent_requests.owner,
        np.where(asked != NONE, asked, count + 1 + taken.gid),
        np.where(replied != NONE, replied, count + 1 + answered.gid),
        exchange.taken_responses.owner,
    )


def _keys(
    exchange: Exchange, parties: tuple[Ints, Ints, Ints, Ints]
) -> tuple[tuple[Ints, ...], tuple[Ints, ...], tuple[Ints, ...]]:
    """Keys of the four kinds' calls; of the servings; of responses with their timestamps."""
    sent, taken = exchange.sent_requests, exchange.taken_requests
    answered, got = exchange.sent_responses, exchange.taken_responses
    call = codes_of(
        *([p, e.sequence] for p, e in zip(parties, (sent, taken, answered, got), strict=True))
    )
    serving = codes_of([call[1], taken.owner], [call[2], answered.owner])
    return call, serving, codes_of([call[2], answered.stamp], [call[3], got.stamp])


def _alone(
    exchange: Exchange,
    callers: Callers,
    parties: tuple[Ints, Ints, Ints, Ints],
    call: tuple[Ints, ...],
    serving: tuple[Ints, ...],
) -> tuple[Flags, Flags, Flags, Flags]:
    """Which events cannot be told apart from another of their kind, and so match nothing."""
    odd = callers.contradictory
    size = len(odd)
    by_party = [np.where(p < size, flags_at(odd, np.minimum(p, size - 1)), False) for p in parties]
    sent = repeated(call[0]) | by_party[0]
    taken = repeated(serving[0]) | by_party[1] | (exchange.taken_requests.gid == NONE)
    answered = repeated(serving[1]) | by_party[2] | (exchange.sent_responses.gid == NONE)
    # A GID of several lives: what came late, of the life before, looks as if it were this one's.
    late_taken = _late(
        callers, parties[0], exchange.sent_requests, parties[1], exchange.taken_requests
    )
    late_answer = _late(
        callers, parties[1], exchange.taken_requests, parties[2], exchange.sent_responses
    )
    return sent, taken | late_taken, answered | late_answer, by_party[3]


def _late(
    callers: Callers, before: Ints, first: ServiceEvents, after: Ints, second: ServiceEvents
) -> Flags:
    """Second events that may be of an earlier client of their GID, whose own has not come.

    `before` and `after` are whose call the first and the second events are of.
    """
    out = np.zeros(len(second), bool)
    reused = callers.reused()
    if not reused.any():
        return out
    due, came = (
        pd.DataFrame({"client": party, "sequence": event.sequence, "row": np.arange(len(event))})
        for party, event in ((before, first), (after, second))
    )
    due, came = (part[np.isin(part["client"], np.flatnonzero(reused))] for part in (due, came))
    due = due.merge(came[["client", "sequence"]].drop_duplicates(), how="left", indicator=True)
    due = due[due["_merge"] == "left_only"]
    both = came.assign(gid=callers.gid[came["client"]]).merge(
        due.assign(gid=callers.gid[due["client"]]), on=["gid", "sequence"], suffixes=("", "_due")
    )
    earlier = callers.begin_ns[both["client_due"]] < callers.begin_ns[both["client"]]
    out[both.loc[earlier, "row"]] = True
    return out


def _unrivalled(exchange: Exchange, services: Services, served: _Servings) -> Flags:
    """Servings of services that have their name alone."""
    alone = ~repeated(pd.factorize(services.name)[0].astype(np.int64))
    service = pick(exchange.taken_requests.owner, served.taken)
    return flags_at(alone, np.where(service < len(services), service, NONE))


def _primary(exchange: Exchange, served: _Servings) -> Ints:
    """The serving of each call that counts: its response was taken first, else it came first."""
    got_ns = pick(exchange.taken_responses.ns, served.got)
    first_ns = np.where(
        served.taken != NONE,
        pick(exchange.taken_requests.ns, served.taken),
        pick(exchange.sent_responses.ns, served.response),
    )
    order = np.lexsort((first_ns, np.where(got_ns != NONE, got_ns, _LATEST), served.key))
    order = order[~served.alone[order]]
    first = np.ones(len(order), bool)
    first[1:] = served.key[order[1:]] != served.key[order[:-1]]
    return order[first].astype(np.int64)


def _unstamped(
    exchange: Exchange,
    got: Ints,
    key: Ints,
    response: Ints,
    lacking: Flags,
    got_key: Ints,
    usable: Flags,
) -> Ints:
    """Give `lacking` rows, whose response's send is not known, the one take of their response."""
    usable = usable & ~np.isin(np.arange(len(got_key)), got)
    found = single(key, got_key, lacking, usable)
    sent_stamp = pick(exchange.sent_responses.stamp, response)
    # Where both have a timestamp, it differs: the response is another service's.
    other = (sent_stamp > 0) & (pick(exchange.taken_responses.stamp, found) > 0)
    told = np.isin(key, key[got != NONE])
    return np.where((found != NONE) & ~other & ~told, found, got)


def _calls(
    exchange: Exchange,
    callers: Callers,
    table: tuple[Ints, Ints, Ints, Ints],
    further: Flags,
    clocks: HostClocks,
) -> Calls:
    """Order the rows by their first event, and name client, service and method of each."""
    asked, taken, replied, took = (
        exchange.sent_requests,
        exchange.taken_requests,
        exchange.sent_responses,
        exchange.taken_responses,
    )
    kinds = zip((asked, taken, replied, took), table, strict=True)
    times = [np.where(of != NONE, pick(kind.ns, of), _LATEST) for kind, of in kinds]
    order = np.argsort(np.min(times, axis=0), kind="stable")
    request, take, response, got = (of[order] for of in table)

    def either(first: Ints, second: Ints) -> Ints:
        return np.where(first != NONE, first, second)

    gid = either(pick(taken.gid, take), pick(replied.gid, response))
    served_ns = either(pick(taken.ns, take), pick(replied.ns, response))
    client = either(pick(asked.owner, request), pick(took.owner, got))
    served_by = either(pick(taken.thread, take), pick(replied.thread, response))
    client = either(client, callers.at(gid, served_ns, pick(clocks.of_thread, served_by)))
    service = either(pick(taken.owner, take), pick(replied.owner, response))
    table = (request, take, response, got)
    method = _methods(exchange, callers, table, client)
    gid = either(gid, pick(callers.gid, client))
    return Calls(request, take, response, got, client, service, gid, method, further[order])


def _methods(
    exchange: Exchange, callers: Callers, table: tuple[Ints, Ints, Ints, Ints], client: Ints
) -> Ints:
    kinds = (
        exchange.sent_requests,
        exchange.taken_requests,
        exchange.sent_responses,
        exchange.taken_responses,
    )
    rules = [pick(kind.told, of) for kind, of in zip(kinds, table, strict=True)]
    rule = np.max(rules, axis=0)
    request, take, response, got = (of != NONE for of in table)
    called, served = request | got, take | response
    told = pick(callers.learned.astype(np.int64), client) == 1
    by_gid = (served & called) | (take & response)
    method = np.where(by_gid & called & told, _BY_RESPONSE, np.where(by_gid, _BY_GID, NONE))
    method = np.where(~served & request & got, _BY_CLIENT, method)
    method = np.where((method == _BY_GID) & (rule == BY_IDENTITY), _BY_IDENTITY, method)
    return np.where((method != NONE) & (rule == BY_ORDER), _BY_ORDER, method)


def _count(exchange: Exchange, calls: Calls, ledger: Ledger) -> None:
    request, take = calls.request != NONE, calls.taken != NONE
    response, got = calls.response != NONE, calls.taken_response != NONE
    served = take | response
    ledger.add("untaken_requests", int((request & ~served & ~got).sum()))
    ledger.add("calls_of_unseen_services", int((request & ~served & got).sum()))
    ledger.add("unmatched_requests", int((take & ~request & ~calls.further).sum()))
    ledger.add("unanswered_requests", int((take & ~response & ~got).sum()))
    ledger.add("untaken_responses", int((response & ~got).sum()))
    ledger.add("unmatched_responses", len(exchange.taken_responses) - int(got.sum()))
    ledger.add("inferred_calls", int((calls.method == _BY_RESPONSE).sum()))
    ledger.add("calls_by_thread_order", int((calls.method == _BY_ORDER).sum()))
