# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The model as declared tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import Endpoints
from strata.model.last_seen import ran_until
from strata.model.search import Lifetimes, column_at, pick
from strata.schema import tables
from strata.schema.rows import Again, Coded, Later, Rows, Values, row_numbers

Objects = npt.NDArray[np.object_]


def named(names: Objects, rows: Ints) -> Coded:
    """Return `names[rows]` as a column of text; null where the row is `NONE` or the name None."""
    known = Coded.of(names.tolist())
    return Coded(pick(known.codes, rows), known.words)


def nodes_rows(model: Model) -> Rows:
    """Return the table `nodes`."""
    nodes = model.entities.nodes
    return Rows(
        tables.NODES,
        {
            "node_id": np.arange(len(nodes.handle)),
            **place(model, nodes.process),
            "handle": nodes.handle,
            "name": Coded.of(nodes.name.tolist()),
            **life(model, nodes.process, nodes.handle, nodes.begin_ns),
        },
    )


def publishers_rows(model: Model) -> Rows:
    """Return the table `publishers`."""
    return Rows(tables.PUBLISHERS, _endpoints(model, model.entities.publishers, "publisher_id"))


def subscriptions_rows(model: Model) -> Rows:
    """Return the table `subscriptions`."""
    endpoints = model.entities.subscriptions
    return Rows(tables.SUBSCRIPTIONS, _endpoints(model, endpoints, "subscription_id"))


def _endpoints(model: Model, endpoints: Endpoints, key: str) -> dict[str, Values]:
    return {
        key: np.arange(len(endpoints)),
        **place(model, endpoints.process),
        "handle": endpoints.handle,
        "rmw_handle": endpoints.rmw_handle,
        "node_id": endpoints.node,
        "topic": Coded.of(endpoints.topic.tolist()),
        "queue_depth": endpoints.queue_depth,
        **life(model, endpoints.process, endpoints.handle, endpoints.begin_ns),
    }


def callback_objects_rows(model: Model) -> Rows:
    """Return the table `callback_objects`."""
    callbacks = model.entities.callbacks
    return Rows(
        tables.CALLBACK_OBJECTS,
        {
            "callback_id": np.arange(len(callbacks.address)),
            **place(model, callbacks.process),
            "address": callbacks.address,
            "symbol": Coded.of(callbacks.symbol.tolist()),
            "kind": Coded.of(callbacks.kind.tolist()),
            "trigger": Coded.of(callbacks.trigger.tolist()),
            "subscription_id": callbacks.subscription,
            "timer_id": callbacks.timer,
            "node_id": callbacks.node,
            "node": named(model.entities.nodes.name, callbacks.node),
            **life(model, callbacks.process, callbacks.address, callbacks.begin_ns),
        },
    )


def callback_instances_rows(model: Model) -> Rows:
    """Return the table `callback_instances`; `instance_id` is the row of the model's executions."""
    executions = model.executions
    rows = Rows(
        tables.CALLBACK_INSTANCES,
        {
            "instance_id": row_numbers(len(executions)),
            "callback_id": Again(lambda: executions.callback),
            **_thread(model, lambda: executions.thread),
            "start_ns": Again(lambda: executions.start_ns),
            "end_ns": Again(lambda: executions.end_ns),
            "until_ns": Again(lambda: ran_until(model)),
            "is_intra_process": Again(lambda: executions.intra_process == 1),
            "execution_id": Again(lambda: executions.first),
            "is_resumed": Again(lambda: executions.resumed),
            "finished_ns": Again(lambda: executions.finished_ns),
        },
    )
    return rows.take(np.argsort(executions.start_ns, kind="stable"))


def publications_rows(model: Model) -> Rows:
    """Return the table `publications`."""
    publications = model.publications
    samples = model.middleware.samples
    return Rows(
        tables.PUBLICATIONS,
        {
            "publication_id": row_numbers(len(publications)),
            "publisher_id": Again(lambda: publications.publisher),
            **_thread(model, lambda: publications.thread),
            "client_ns": Again(lambda: publications.client_ns),
            "rmw_publish_ns": Again(lambda: publications.rmw_publish_ns),
            "source_timestamp": Again(lambda: publications.source_timestamp),
            "writer_gid": Again(lambda: samples.writer_gids(model.middleware.writes.sample)),
            "sequence_number": Again(lambda: samples.sequences(model.middleware.writes.sample)),
            "instance_id": Again(lambda: publications.execution),
        },
    )


def takes_rows(model: Model) -> Rows:
    """Return the table `takes`."""
    takes = model.takes
    samples = model.middleware.samples
    return Rows(
        tables.TAKES,
        {
            "take_id": row_numbers(len(takes)),
            "subscription_id": Again(lambda: takes.subscription),
            **_thread(model, lambda: takes.thread),
            "picked_ns": Again(lambda: takes.picked_ns),
            "rmw_take_ns": Again(lambda: takes.rmw_take_ns),
            "dequeue_ns": Again(lambda: takes.dequeue_ns),
            "source_timestamp": Again(lambda: takes.source_timestamp),
            "writer_gid": Again(lambda: samples.writer_gids(model.middleware.reads.sample)),
            "sequence_number": Again(lambda: samples.sequences(model.middleware.reads.sample)),
            "instance_id": Again(lambda: takes.execution),
            "duplicate": Again(lambda: takes.duplicate),
            "loaned": Again(lambda: takes.loaned),
        },
    )


def event_uses_rows(model: Model) -> Rows:
    """Return the table `event_uses`."""
    names = tables.EVENT_USES.names
    uses = [(use.event, use.used, use.text, use.count) for use in model.facts.event_uses()]
    return Rows.of_records(tables.EVENT_USES, [dict(zip(names, use, strict=True)) for use in uses])


def life(model: Model, process: Ints, handle: Ints, begin_ns: Ints) -> dict[str, Ints]:
    """Return the columns `begin_ns` and `end_ns` of entities."""
    again = Lifetimes(process, handle, begin_ns).ends(begin_ns)
    gone = model.processes.end_ns[process]
    return {"begin_ns": begin_ns, "end_ns": np.where(again != NONE, again, gone)}


def place(model: Model, process: Ints) -> dict[str, Values]:
    """Return the columns `host` and `vpid` of processes."""
    processes = model.processes
    host = np.asarray(processes.host, dtype=object)
    if len(set(processes.host)) == 1 and len(process) and process.min() >= 0:
        return {
            "host": Coded(np.broadcast_to(np.int64(0), len(process)), (str(host[0]),)),
            "vpid": column_at(processes.vpid, process),
        }
    return {"host": named(host, process), "vpid": processes.vpid[process]}


def _thread(model: Model, thread: Callable[[], Ints]) -> dict[str, Later]:
    """Return the columns `host`, `vpid` and `vtid` of threads."""
    processes = model.processes

    def of(column: str) -> Later:
        return Again(lambda: place(model, processes.thread_process[thread()])[column])

    return {
        "host": of("host"),
        "vpid": of("vpid"),
        "vtid": Again(lambda: processes.thread_vtid[thread()]),
    }
