# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Events of service calls where the rmw traces none (Jazzy and older), from those of the DDS hooks.

A service is two topics, and each of its four steps is a write or a take on one of them:

    client     write of rq/NAMERequest            take of rr/NAMEReply
    service    take of rq/NAMERequest             write of rr/NAMEReply

For rmw_send_request and rmw_send_response stands the `write_begin`, for rmw_take_request and
rmw_take_response the `take_end`. Whose call each is:

* `write_related`, just before the write, and `take_related`, just after the take, name the client
  and the request's number; without a number (requests of Fast DDS) it is the sample's own.
* Where the hooks are older and tell neither, the client is the writer of the request. A response
  names no request: it is of the request that its thread took last for that service, if no other
  response was sent since (rule `BY_ORDER`, which is inferred). Where it is taken, it is known again
  as the sample that was written.
* A client takes every response of its topic; those of others are none of its calls.

The objects of rmw are those of rcl_client_init and rcl_service_init: the writer and the reader that
their thread made last for the topic before that event.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from strata.lazy import pyarrow as pa
from strata.model.columns import NONE, EventColumns, Ints, Words
from strata.model.dds.endpoints import Endpoints, find_endpoints, nearest_only
from strata.model.dds.samples import number_words
from strata.model.joins import Flags
from strata.model.search import GroupedSearch, pick, runs

BY_IDENTITY, BY_ORDER = 1, 2
"""What told an event: the identity in the middleware, or the order of the thread's work."""

_STOCK = (
    "ros2:rmw_client_init",
    "ros2:rmw_send_request",
    "ros2:rmw_take_request",
    "ros2:rmw_send_response",
    "ros2:rmw_take_response",
)
_WRITE, _TAKE = "dds:write_begin", "dds:take_end"


class _Steps(NamedTuple):
    """Rows of `write_begin` or `take_end` in time order, each a step of a call.

    `owner` is a row of the endpoints, `guid` who asked (zeros: not known), `number` the request's,
    `stamp` the sample's source timestamp; `told` by which rule. `sample` and `by` name the sample.
    """

    row: Ints
    owner: Ints
    guid: Words
    number: Ints
    stamp: Ints
    told: Ints
    by: Words
    sample: Ints


def add_call_events(events: EventColumns) -> None:
    """Add what stands for the events of service calls in processes whose rmw traces none."""
    if not events.count("dds:create_writer") or not (events.count(_WRITE) or events.count(_TAKE)):
        return
    stock = np.unique(np.concatenate([events.process(name) for name in _STOCK]))
    clients = find_endpoints(events, "client", stock)
    services = find_endpoints(events, "service", stock)
    requests, responses = _writes(events, clients), _writes(events, services)
    asked, got = _takes(events, services), _takes(events, clients)
    requests, gid = _asking(requests, clients, events)
    asked = _of_writers(asked)
    responses = _ordered(events, responses, asked)
    got = _known_again(got, responses)
    own = (got.guid == gid[got.owner]).all(axis=1) & got.guid.any(axis=1)
    _announce(events, clients, gid)
    _add(events, "ros2:rmw_send_request", _WRITE, requests, clients)
    _add(events, "ros2:rmw_take_request", _TAKE, asked, services)
    _add(events, "ros2:rmw_send_response", _WRITE, responses, services)
    _add(events, "ros2:rmw_take_response", _TAKE, _chosen(got, own), clients)


def _chosen(steps: _Steps, rows: Flags) -> _Steps:
    return _Steps._make(column[rows] for column in steps)


# --- what was written and taken ----------------------------------------------------------------


def _writes(events: EventColumns, ends: Endpoints) -> _Steps:
    """The writes of the endpoints' writers, with what names the sample and the call."""
    row, owner = ends.writer.used(events, _WRITE)
    thread, ns = events.thread(_WRITE)[row], events.timestamps(_WRITE)[row]
    by, handle = ends.writer.guid[owner], ends.writer.handle[owner]
    number, stamp = _numbered(events, thread, ns, by)
    said = _near(events, "dds:write_related", "writer", thread, ns, handle, after=False)
    return _steps(events, "dds:write_related", said, row, owner, by, number, stamp)


def _takes(events: EventColumns, ends: Endpoints) -> _Steps:
    """The takes of the endpoints' readers that took something.

    Where a process tells of takes whose call they are, one that is told without is no request or
    response: when a writer goes, Cyclone DDS hands its readers a sample without a value.
    """
    row, owner = ends.reader.used(events, _TAKE)
    some = events.ints(_TAKE, "taken")[row] > 0
    row, owner = row[some], owner[some]
    thread, ns = events.thread(_TAKE)[row], events.timestamps(_TAKE)[row]
    related = "dds:take_related"
    said = _near(events, related, "reader", thread, ns, ends.reader.handle[owner], after=True)
    of_call = ~np.isin(events.process(_TAKE)[row], events.process(related)) | (said != NONE)
    row, owner, said = row[of_call], owner[of_call], said[of_call]
    by = events.words(_TAKE, "writer_guid")[row]
    number, stamp = (
        events.ints(_TAKE, name)[row] for name in ("sequence_number", "source_timestamp")
    )
    return _steps(events, related, said, row, owner, by, number, stamp)


def _steps(
    events: EventColumns,
    related: str,
    said: Ints,
    row: Ints,
    owner: Ints,
    by: Words,
    sample: Ints,
    stamp: Ints,
) -> _Steps:
    """Steps whose caller is the one that `said`, a row of `related`, names; else not known."""
    guid = np.zeros((len(row), 2), np.uint64)
    if events.count(related):
        guid[said != NONE] = events.words(related, "related_guid")[said[said != NONE]]
    given = pick(events.ints(related, "related_sequence"), said)
    return _Steps(
        row,
        owner,
        guid,
        np.where(given > 0, given, sample),
        stamp,
        np.full(len(row), BY_IDENTITY, np.int64),
        by,
        sample,
    )


def _near(
    events: EventColumns,
    related: str,
    column: str,
    thread: Ints,
    ns: Ints,
    handle: Ints,
    *,
    after: bool,
) -> Ints:
    """The event just before (or after) each step on its thread that names the same object.

    One that lies nearer to another step of the object is that one's.
    """
    if not events.count(related) or not len(ns):
        return np.full(len(ns), NONE, np.int64)
    search = GroupedSearch(events.thread(related), events.timestamps(related))
    row = search.first_row if after else search.last_row
    found = row(thread, ns, after_equal=not after)
    found[pick(events.ints(related, column), found) != handle] = NONE
    return nearest_only(found, ns, after=after)


def _numbered(events: EventColumns, thread: Ints, ns: Ints, by: Words) -> tuple[Ints, Ints]:
    """Number and source timestamp of the sample that each write made; 0 where nothing tells.

    The first event after the write's begin on its thread that names a sample of the writer:
    writer_history_add, or where there is none (Cyclone DDS), send_begin.
    """
    number, stamp = np.zeros(len(ns), np.int64), np.zeros(len(ns), np.int64)
    for name in ("dds:send_begin", "dds:writer_history_add"):
        if not events.count(name) or not len(ns):
            continue
        writers, _ = number_words(np.concatenate([by, events.words(name, "writer_guid")]))
        width = int(writers.max()) + 1
        search = GroupedSearch(
            events.thread(name) * width + writers[len(by) :], events.timestamps(name)
        )
        group = thread * width + writers[: len(by)]
        found = search.first_row(group, ns, after_equal=False)
        found = nearest_only(np.where(by.any(axis=1), found, NONE), ns, after=True)
        known = found != NONE
        number[known] = events.ints(name, "sequence_number")[found[known]]
        stamp[known] = events.ints(name, "source_timestamp")[found[known]]
    return number, stamp


# --- whose call ----------------------------------------------------------------------------------


def _asking(requests: _Steps, clients: Endpoints, events: EventColumns) -> tuple[_Steps, Words]:
    """Requests with their client's GUID, and that of every client.

    It is what its requests say; else the GUID of its reader (Fast DDS), or where the hooks tell
    no relations at all, that of its writer, which names its requests.
    """
    told = requests.guid.any(axis=1)
    tells = events.count("dds:write_related") or events.count("dds:take_related")
    gid = (clients.reader if tells else clients.writer).guid.copy()
    gid[requests.owner[told][::-1]] = requests.guid[told][::-1]
    return requests._replace(guid=gid[requests.owner]), gid


def _of_writers(asked: _Steps) -> _Steps:
    """Name those who asked by the writer of the request, where nothing else does."""
    known = np.asarray(asked.guid.any(axis=1), bool)
    guid = np.where(known[:, np.newaxis], asked.guid, asked.by)
    return asked._replace(guid=guid)


def _ordered(events: EventColumns, responses: _Steps, asked: _Steps) -> _Steps:
    """Give responses that name no request the one that their thread took last for the service.

    A request that two responses would be given is neither's.
    """
    lacking = np.flatnonzero(~responses.guid.any(axis=1))
    if not len(lacking) or not len(asked.row):
        return responses
    width = int(max(asked.owner.max(), responses.owner.max())) + 1
    thread = events.thread(_TAKE)[asked.row] * width + asked.owner
    search = GroupedSearch(thread, events.timestamps(_TAKE)[asked.row])
    group = events.thread(_WRITE)[responses.row[lacking]] * width + responses.owner[lacking]
    ns = events.timestamps(_WRITE)[responses.row[lacking]]
    found = search.last_row(group, ns, after_equal=True)
    _, times = runs(np.sort(found), found)
    found[times > 1] = NONE
    known, taken = lacking[found != NONE], found[found != NONE]
    guid, number, told = responses.guid.copy(), responses.number.copy(), responses.told.copy()
    guid[known], number[known], told[known] = asked.guid[taken], asked.number[taken], BY_ORDER
    number[lacking[found == NONE]] = 0
    return responses._replace(guid=guid, number=number, told=told)


def _known_again(got: _Steps, responses: _Steps) -> _Steps:
    """Give taken responses that name no request that of the response which was written."""
    lacking = np.flatnonzero(~got.guid.any(axis=1))
    if not len(lacking) or not len(responses.row):
        return got
    writers, _ = number_words(np.concatenate([got.by[lacking], responses.by]))
    width = int(max(got.sample.max(), responses.sample.max())) + 1
    key = writers * width + np.concatenate([got.sample[lacking], responses.sample])
    first, times = runs(np.sort(key[len(lacking) :]), key[: len(lacking)])
    order = np.argsort(key[len(lacking) :], kind="stable")
    of = order[np.minimum(first, len(order) - 1)]
    sure = np.asarray((times == 1) & (got.sample[lacking] > 0), bool)
    guid, number, told = got.guid.copy(), got.number.copy(), got.told.copy()
    at = lacking[sure]
    guid[at], number[at] = responses.guid[of[sure]], responses.number[of[sure]]
    told[at] = responses.told[of[sure]]
    return got._replace(guid=guid, number=number, told=told)


# --- as events of the rmw ------------------------------------------------------------------------


def _guids(words: Words) -> pa.Array:
    content = np.ascontiguousarray(words).tobytes()
    return pa.array([content[at : at + 16] for at in range(0, len(content), 16)], pa.binary())


def _announce(events: EventColumns, clients: Endpoints, gid: Words) -> None:
    """Stand for rmw_client_init, at the making of the client's writer."""
    payload = {
        "rmw_client_handle": pa.array(clients.rmw_handle.astype(np.uint64)),
        "gid": _guids(gid),
    }
    told = np.full(len(clients), BY_IDENTITY, np.int64)
    events.add_stand_ins(_STOCK[0], "dds:create_writer", clients.writer.made, told, payload)


def _add(events: EventColumns, name: str, source: str, steps: _Steps, ends: Endpoints) -> None:
    usable = steps.guid.any(axis=1) & (steps.number > 0)
    steps = _chosen(steps, usable)
    count = len(steps.row)
    handle, value = {
        "ros2:rmw_send_request": ("rmw_client_handle", "request"),
        "ros2:rmw_take_request": ("rmw_service_handle", "request"),
        "ros2:rmw_send_response": ("rmw_service_handle", "response"),
        "ros2:rmw_take_response": ("rmw_client_handle", "response"),
    }[name]
    payload = {
        handle: pa.array(ends.rmw_handle[steps.owner].astype(np.uint64)),
        value: pa.array(np.zeros(count, np.uint64)),
        "client_gid": _guids(steps.guid),
        "sequence_number": pa.array(steps.number),
        "source_timestamp": pa.array(steps.stamp),
        "taken": pa.array(np.ones(count, np.int64)),
    }
    events.add_stand_ins(name, source, steps.row, steps.told, payload)
