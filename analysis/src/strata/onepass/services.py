# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Services, clients, their calls, and what tells of goals and feedback, from the engine's rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from strata.model.columns import NONE, Ints, Words
from strata.model.entities import Callbacks
from strata.model.goal_columns import GoalColumns, goals_of_rows
from strata.model.search import Lifetimes, pick
from strata.model.service_calls import Calls, ServiceTraffic
from strata.model.service_events import Exchange, ServiceEvents, UnknownOwners
from strata.model.services import Clients, Gids, Services, service_of_callbacks
from strata.onepass.kept import KeptEvents
from strata.onepass.numbers import Numbers, positions
from strata.onepass.tables import EngineTables

_SENT, _TAKEN, _ANSWERED, _GOT = range(4)
"""StepKind of native/model/service_steps.hpp."""
_ONE_SIDE = 255
"""CallMethod::none of native/model/service_calls.hpp."""
_ACTION = 4
"""Of the engine's kinds of callbacks: of a goal or its feedback."""
_GUID_BYTES = 16


@dataclass(frozen=True)
class _Owners:
    """Clients or services: the known, then `others` by process and handle.

    `number` is the model's of each owner of the engine's, which numbers others as they come; one
    more for null.
    """

    others: UnknownOwners
    number: Ints


def find_traffic(
    tables: EngineTables, numbers: Numbers, kept: KeptEvents, callbacks: Callbacks
) -> ServiceTraffic:
    """Return services, clients, what they sent and took, and their calls."""
    gids, gid_number = _gids(tables)
    clients, services = _owners(tables, "clients"), _owners(tables, "services")
    kind = tables.ints("service_steps", "kind")
    rows = [np.flatnonzero(kind == one) for one in range(4)]
    sent, taken, answered, got = (
        _events(tables, of, owners.number, gid_number)
        for of, owners in zip(rows, (clients, services, services, clients), strict=True)
    )
    execution = numbers.execution_number[tables.ints("service_steps", "execution")]
    before_ns = tables.ints("service_steps", "before_ns")
    exchange = Exchange(
        sent,
        taken,
        answered,
        got,
        clients.others,
        services.others,
        execution[rows[_SENT]],
        before_ns[rows[_SENT]],
        execution[rows[_TAKEN]],
        before_ns[rows[_TAKEN]],
    )
    return ServiceTraffic(
        _services(tables, kept, callbacks),
        _clients(tables, gid_number),
        gids,
        exchange,
        _calls(tables, rows, (clients.number, services.number), gid_number),
    )


def find_goals(tables: EngineTables, numbers: Numbers) -> GoalColumns:
    """Return what tells of goals beside their calls."""
    found = goals_of_rows(tables.rows, tables.texts)
    order = numbers.execution_order
    return replace(
        found,
        answerer=_renumbered(tables.thread_number, found.answerer),
        goal_execution=numbers.execution_number[found.goal_execution],
        client_process=tables.ints("clients", "process"),
        service_process=tables.ints("services", "process"),
        start_ns=found.start_ns[order],
        finished_ns=found.finished_ns[order],
    )


def feedback_executions(tables: EngineTables, numbers: Numbers) -> Ints:
    """Return the execution of an action's callback that each take of feedback started.

    One row a take of the model; `NONE` for none, and for takes of anything else.
    """
    out = np.full(len(numbers.take_order), NONE, np.int64)
    at = tables.ints("feedback_takes", "at")
    if not len(at):
        return out
    # Takes of the engine are in the order of events, but for those that were found to be loans.
    taken = tables.ints("takes", "at")
    order = np.argsort(taken, kind="stable")
    place = np.searchsorted(taken[order], at).clip(max=max(len(order) - 1, 0))
    own = taken[order][place] == at if len(order) else np.zeros(len(at), bool)
    take = numbers.take_number[order[place[own]]]
    execution = tables.ints("feedback_takes", "execution")[own]
    callback = pick(tables.ints("executions", "callback"), execution)
    is_action = pick(tables.ints("callbacks", "kind"), callback) == _ACTION
    known = take != NONE
    started = numbers.execution_number[np.where(is_action, execution, NONE)]
    out[take[known]] = started[known]
    return out


def _gids(tables: EngineTables) -> tuple[Gids, Ints]:
    """The GIDs that rows name, and the number of each of the engine's; one more for null."""
    named = [tables.ints(name, "gid") for name in ("clients", "service_steps", "service_calls")]
    used = np.unique(np.concatenate(named))
    used = used[used != NONE]
    runs = tables.engine.bytes
    words: Words = np.zeros((len(used), 2), np.uint64)
    for row, number in enumerate(used.tolist()):
        words[row] = np.frombuffer(runs[number][:_GUID_BYTES], np.uint64)
    number = np.full(int(used.max(initial=NONE)) + 2, NONE, np.int64)
    number[used] = np.arange(len(used))
    return Gids.of_words(words), number


def _owners(tables: EngineTables, known: str) -> _Owners:
    count = tables.size(known)
    process = tables.ints(f"nameless_{known}", "process")
    handle = tables.ints(f"nameless_{known}", "rmw_handle")
    order = np.lexsort((handle, process))
    number = np.full(count + len(order) + 1, NONE, np.int64)
    number[:count] = np.arange(count)
    number[count + order] = count + np.arange(len(order))
    return _Owners(UnknownOwners(process[order], handle[order]), number)


def _events(
    tables: EngineTables, rows: Ints, owner_number: Ints, gid_number: Ints
) -> ServiceEvents:
    def column(name: str) -> Ints:
        return tables.ints("service_steps", name)[rows]

    thread = column("thread")
    return ServiceEvents(
        positions(thread, column("at")),
        column("ns"),
        thread,
        owner_number[column("owner")],
        gid_number[column("gid")],
        column("sequence"),
        column("stamp"),
        column("told"),
    )


def _services(tables: EngineTables, kept: KeptEvents, callbacks: Callbacks) -> Services:
    def column(name: str) -> Ints:
        return tables.ints("services", name)

    process, handle, begin_ns = column("process"), column("handle"), column("begin_ns")
    return Services(
        process,
        handle,
        column("rmw_handle"),
        column("node"),
        tables.text("services", "name"),
        begin_ns,
        Lifetimes(process, column("rmw_handle"), begin_ns),
        service_of_callbacks(kept, callbacks, Lifetimes(process, handle, begin_ns)),
    )


def _clients(tables: EngineTables, gid_number: Ints) -> Clients:
    def column(name: str) -> Ints:
        return tables.ints("clients", name)

    process, rmw_handle, begin_ns = column("process"), column("rmw_handle"), column("begin_ns")
    return Clients(
        process,
        column("handle"),
        rmw_handle,
        column("node"),
        tables.text("clients", "name"),
        gid_number[column("gid")],
        begin_ns,
        Lifetimes(process, rmw_handle, begin_ns),
    )


def _calls(
    tables: EngineTables, rows: list[Ints], owner_numbers: tuple[Ints, Ints], gid_number: Ints
) -> Calls:
    """Calls, whose steps are numbered within their kind."""

    def column(name: str) -> Ints:
        return tables.ints("service_calls", name)

    place = np.full(tables.size("service_steps") + 1, NONE, np.int64)
    for of in rows:
        place[of] = np.arange(len(of))
    client_number, service_number = owner_numbers
    method = column("method")
    return Calls(
        place[column("request")],
        place[column("taken")],
        place[column("response")],
        place[column("taken_response")],
        client_number[column("client")],
        service_number[column("service")],
        gid_number[column("gid")],
        np.where(method == _ONE_SIDE, NONE, method),
        column("further") == 1,
    )


def _renumbered(numbers: Ints, rows: Ints) -> Ints:
    return np.asarray(np.append(numbers, NONE)[rows], np.int64)
