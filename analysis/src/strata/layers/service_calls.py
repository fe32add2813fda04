# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of every service call.

    send      picked  take      cb_start   cb_end    send        take
    request           request                        response    response
       | request | re-   | client | callback | respond |  response   |
       | middle- | quest | take   |          |         | middleware, |
       | ware,   | take  |        |          |         | executor    |
       | executor|       |        |          |         | wait + take |
       | wait    |       |        |          |         |             |

Request and response are divided as the path of a message (strata.layers.waiting): by what the
executor that took them was doing at every instant. Waiting for work: the request or response had
not come yet -> *middleware*; anything else -> *executor wait*. For a client no event marks the
pick, so its take is part of the executor wait.

A service may send its response inside its callback: then the callback counts up to there.

Fast DDS emits rmw_send_request after it wrote the request, so a service may take it before that
event. Where the events of the middleware were recorded, a call begins with the write (write_begin).
Where not, a call whose request was taken before its event begins with the take: what came before is
not known, and not counted.

Between hosts without a common clock, request and response each have one layer that lies between the
two; it may be negative, and nothing divides it. All else is of one clock: what the service did, and
the whole, from the client's request to its take of the response.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from strata.layers.call_columns import CallColumns, calls_of_model
from strata.layers.waiting import Waiting, observe_takers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.schema import service_layers as names
from strata.schema.quality import NOTHING_FOUND, Finding, Findings
from strata.units import format_ns

Flags = npt.NDArray[np.bool_]
_LATEST = np.iinfo(np.int64).max

Observer = Callable[[Ints, Ints, tuple[Ints, Ints]], Waiting]
"""What is known of the executors of threads that took things: thread, execution that each started,
begin and end of the time in which each was under way (strata.layers.waiting.observe_takers)."""


@dataclass(frozen=True)
class CallLayers:
    """Checkpoints of the calls of the model, in ns; `NONE` is null.

    `durations` holds one array a layer column (strata.schema.service_layers), `NONE` where the
    layer is not in the row. `complete` are calls from the sent request to the taken response.
    `unsynchronised` are calls between hosts whose clocks are not synchronised.
    """

    begin_ns: Ints
    write_request_ns: Ints
    send_request_ns: Ints
    picked_ns: Ints
    take_request_ns: Ints
    callback_start_ns: Ints
    callback_end_ns: Ints
    send_response_ns: Ints
    take_response_ns: Ints
    latency_ns: Ints
    complete: Flags
    unsynchronised: Flags
    durations: dict[str, Ints]


@dataclass(frozen=True)
class _Checkpoints:
    """Checkpoints of all calls, as they were seen, then those that are of use.

    Of use, `end_ns` ends the callback's part: at most at the response.
    """

    begin_ns: Ints
    asked: Flags
    picked_ns: Ints
    taken_ns: Ints
    start_ns: Ints
    end_ns: Ints
    answered_ns: Ints
    got_ns: Ints


@dataclass(frozen=True)
class _Idle:
    """How long a taker was idle in an interval; not `known` without waits of its executor."""

    known: Flags
    ns: Ints


def cut_calls(model: Model) -> tuple[CallLayers, Findings]:
    """Cut every call of the model at its checkpoints; tell what is wrong with them."""

    def observe(thread: Ints, execution: Ints, interval: tuple[Ints, Ints]) -> Waiting:
        return observe_takers(model, thread, execution, interval)

    return cut_columns(calls_of_model(model), observe)


def cut_columns(calls: CallColumns, observe: Observer) -> tuple[CallLayers, Findings]:
    """Cut calls at their checkpoints; `observe` says what takers' executors did."""
    written_ns, sent_ns, apart = calls.written_ns, calls.sent_ns, calls.unsynchronised
    seen = _Checkpoints(
        np.where(written_ns != NONE, written_ns, sent_ns),
        sent_ns != NONE,
        calls.picked_ns,
        calls.taken_ns,
        calls.start_ns,
        calls.finished_ns,
        calls.answered_ns,
        calls.got_ns,
    )
    usable, odd = _usable(seen, apart)
    at = _without_null(usable, apart)
    durations = _durations(at, *_waiting(calls, observe, at))
    findings = odd + _count_apart(durations, apart)
    last_ns = np.max([at.begin_ns, at.taken_ns, at.start_ns, at.end_ns, at.answered_ns], axis=0)
    served_ns = np.max([at.taken_ns, at.start_ns, at.end_ns, at.answered_ns], axis=0)
    # By two clocks the greatest is not the last.
    last_ns = np.where(apart & (served_ns != NONE), served_ns, last_ns)
    last_ns = np.where(at.got_ns != NONE, at.got_ns, last_ns)
    cut = CallLayers(
        at.begin_ns,
        written_ns,
        sent_ns,
        seen.picked_ns,
        seen.taken_ns,
        seen.start_ns,
        seen.end_ns,
        seen.answered_ns,
        seen.got_ns,
        last_ns - at.begin_ns,
        at.asked & (at.got_ns != NONE),
        apart,
        durations,
    )
    return cut, findings


def _usable(seen: _Checkpoints, apart: Flags) -> tuple[_Checkpoints, Findings]:
    """Put the checkpoints in order: drop those after the end, begin with the first.

    Those of two clocks, of calls that are `apart`, are not compared with each other.
    """
    limit = np.where(apart, _LATEST, _or_late(seen.got_ns))
    inner = (seen.taken_ns, seen.start_ns, seen.answered_ns)
    taken_ns, start_ns, answered_ns = (np.where(ns <= limit, ns, NONE) for ns in inner)
    disordered = np.any([ns > limit for ns in inner], axis=0)
    served_ns = np.minimum(_or_late(taken_ns), _or_late(answered_ns))
    first_ns = np.minimum(served_ns, _or_late(seen.got_ns))
    begin_ns = np.minimum(_or_late(seen.begin_ns), first_ns)
    begin_ns = np.where(apart, np.where(seen.asked, seen.begin_ns, served_ns), begin_ns)
    late = seen.asked & ~apart & (first_ns < seen.begin_ns)
    findings = Findings(
        Finding("disordered_service_checkpoints", int(disordered.sum())),
        Finding("late_request_events", int(late.sum())),
    )
    # Picked before it could be: the service was ready for an earlier request.
    picked = seen.asked & (taken_ns != NONE) & (apart | (seen.picked_ns >= begin_ns))
    picked &= seen.picked_ns != NONE
    usable = _Checkpoints(
        begin_ns,
        seen.asked,
        np.where(picked, seen.picked_ns, NONE),
        taken_ns,
        start_ns,
        _callback_part(start_ns, seen.end_ns, answered_ns, limit),
        answered_ns,
        seen.got_ns,
    )
    return usable, findings


def _without_null(at: _Checkpoints, apart: Flags) -> _Checkpoints:
    """Drop checkpoints beside which a layer between hosts would be -1 ns, which is null."""
    inner = [at.picked_ns, at.taken_ns, at.start_ns, at.end_ns, at.answered_ns]
    picked, taken, start, end, answered = (ns.copy() for ns in inner)
    for _ in inner:
        came = np.where(picked != NONE, picked, np.where(taken != NONE, taken, answered))
        left = np.max([taken, start, end, answered], axis=0)
        early = apart & at.asked & (came != NONE) & (came - at.begin_ns == NONE)
        late = apart & (left != NONE) & (at.got_ns != NONE) & (at.got_ns - left == NONE)
        # What the service did after the request is merged with it when the take is dropped.
        unpicked = early & (picked == NONE)
        answered = np.where(
            (unpicked & (taken == NONE)) | (late & (left == answered)), NONE, answered
        )
        end = np.where(unpicked | (late & (left == end)), NONE, end)
        start = np.where(unpicked | (late & (left == start)), NONE, start)
        taken = np.where(unpicked | (late & (left == taken)), NONE, taken)
        picked = np.where(early | (taken == NONE), NONE, picked)
    return replace(
        at, picked_ns=picked, taken_ns=taken, start_ns=start, end_ns=end, answered_ns=answered
    )


def _count_apart(durations: dict[str, Ints], apart: Flags) -> Findings:
    """Count calls between hosts without a common clock, and say what is seen of both ways."""
    if not apart.any():
        return NOTHING_FOUND
    told = []
    early = np.zeros(len(apart), bool)
    for way, layers in (("requests", names.REQUESTS), ("responses", names.RESPONSES)):
        ns = np.max([durations[layer.column] for layer in layers], axis=0)
        ns = np.where(ns == NONE, np.min([durations[x.column] for x in layers], axis=0), ns)
        own = ns[apart & (ns != NONE)]
        if len(own):
            told.append(f"{way} {format_ns(int(own.min()))} to {format_ns(int(own.max()))}")
        early |= apart & (ns < NONE)
    return Findings(
        Finding("unsynchronised_calls", int(apart.sum()), tuple(told)),
        Finding("calls_before_sending", int(early.sum())),
    )


def _or_late(ns: Ints) -> Ints:
    return np.where(ns != NONE, ns, _LATEST)


def _callback_part(start_ns: Ints, end_ns: Ints, answered_ns: Ints, limit: Ints) -> Ints:
    """The end of the callback, or the response that was sent before it."""
    until = np.where(answered_ns != NONE, np.minimum(end_ns, answered_ns), end_ns)
    return np.where((start_ns != NONE) & (end_ns != NONE) & (until <= limit), until, NONE)


def _waiting(calls: CallColumns, observe: Observer, at: _Checkpoints) -> tuple[_Idle, _Idle]:
    """Of the request's way and of the response's; of those between hosts nothing is known."""
    apart = calls.unsynchronised
    picked = np.where(at.picked_ns != NONE, at.picked_ns, at.taken_ns)
    came = at.asked & (at.taken_ns != NONE) & ~apart
    back = (at.answered_ns != NONE) & (at.got_ns != NONE) & ~apart
    none = np.full(len(calls), NONE, np.int64)
    return (
        _waited(observe, calls.server, calls.execution, (at.begin_ns, picked), came),
        _waited(observe, calls.asker, none, (at.answered_ns, at.got_ns), back),
    )


def _waited(
    observe: Observer, thread: Ints, execution: Ints, interval: tuple[Ints, Ints], there: Flags
) -> _Idle:
    known, ns = np.zeros(len(thread), bool), np.zeros(len(thread), np.int64)
    begin_ns, end_ns = interval[0][there], interval[1][there]
    takers = observe(thread[there], execution[there], (begin_ns, end_ns))
    known[there] = takers.known
    ns[there] = takers.idle(begin_ns, end_ns)
    return _Idle(known, ns)


def _durations(at: _Checkpoints, request: _Idle, response: _Idle) -> dict[str, Ints]:
    taken, ran, ended = at.taken_ns != NONE, at.start_ns != NONE, at.end_ns != NONE
    answered, got, picked = at.answered_ns != NONE, at.got_ns != NONE, at.picked_ns != NONE
    came = at.asked & taken
    until_picked, until_taken = at.picked_ns - at.begin_ns, at.taken_ns - at.begin_ns
    on_way = at.got_ns - at.answered_ns
    split, back = request.known, answered & got
    missing = ~answered & got
    layers = [
        (names.REQUEST_MIDDLEWARE, came & split, request.ns),
        (names.REQUEST_EXECUTOR_WAIT, came & split & picked, until_picked - request.ns),
        (names.REQUEST_MIDDLEWARE_EXECUTOR_WAIT, came & ~split & picked, until_picked),
        (names.REQUEST_TAKE, came & picked, at.taken_ns - at.picked_ns),
        (names.REQUEST_EXECUTOR_WAIT_TAKE, came & split & ~picked, until_taken - request.ns),
        (names.REQUEST_MIDDLEWARE_EXECUTOR_WAIT_TAKE, came & ~split & ~picked, until_taken),
        (names.CLIENT_TAKE, taken & ran, at.start_ns - at.taken_ns),
        (names.CALLBACK, ran & ended, at.end_ns - at.start_ns),
        (names.RESPOND, ran & ended & answered, at.answered_ns - at.end_ns),
        (names.CALLBACK_RESPOND, ran & ~ended & answered, at.answered_ns - at.start_ns),
        (names.SERVICE, taken & ~ran & answered, at.answered_ns - at.taken_ns),
        (names.REQUEST_SERVICE, at.asked & ~taken & answered, at.answered_ns - at.begin_ns),
        (names.RESPONSE_MIDDLEWARE, back & response.known, response.ns),
        (names.RESPONSE_EXECUTOR_WAIT_TAKE, back & response.known, on_way - response.ns),
        (names.RESPONSE_MIDDLEWARE_EXECUTOR_WAIT_TAKE, back & ~response.known, on_way),
        (names.RESPOND_RESPONSE, ran & ended & missing, at.got_ns - at.end_ns),
        (names.CALLBACK_RESPOND_RESPONSE, ran & ~ended & missing, at.got_ns - at.start_ns),
        (names.SERVICE_RESPONSE, taken & ~ran & missing, at.got_ns - at.taken_ns),
        (names.REQUEST_SERVICE_RESPONSE, at.asked & ~taken & missing, at.got_ns - at.begin_ns),
    ]
    return {layer.column: np.where(there, ns, NONE) for layer, there, ns in layers}
