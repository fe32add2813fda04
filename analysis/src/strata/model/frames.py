# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The model as declared tables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import Endpoints, take
from strata.model.event_uses import event_uses
from strata.model.last_seen import ran_until
from strata.model.search import Lifetimes
from strata.schema import tables

Objects = npt.NDArray[np.object_]


def nullable(values: Ints) -> pd.Series[int]:
    """Return values as Int64 with null for `NONE`."""
    return pd.Series(values, dtype="Int64").mask(values == NONE)


def nodes_frame(model: Model) -> pd.DataFrame:
    """Return the table `nodes`."""
    nodes = model.entities.nodes
    return tables.NODES.frame(
        pd.DataFrame(
            {
                "node_id": np.arange(len(nodes.handle)),
                **place(model, nodes.process),
                "handle": nodes.handle.astype(np.uint64),
                "name": nodes.name,
                **life(model, nodes.process, nodes.handle, nodes.begin_ns),
            }
        )
    )


def publishers_frame(model: Model) -> pd.DataFrame:
    """Return the table `publishers`."""
    rows = _endpoints(model, model.entities.publishers, "publisher_id")
    return tables.PUBLISHERS.frame(rows)


def subscriptions_frame(model: Model) -> pd.DataFrame:
    """Return the table `subscriptions`."""
    rows = _endpoints(model, model.entities.subscriptions, "subscription_id")
    return tables.SUBSCRIPTIONS.frame(rows)


def _endpoints(model: Model, endpoints: Endpoints, key: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            key: np.arange(len(endpoints)),
            **place(model, endpoints.process),
            "handle": endpoints.handle.astype(np.uint64),
            "rmw_handle": endpoints.rmw_handle.astype(np.uint64),
            "node_id": nullable(endpoints.node),
            "topic": endpoints.topic,
            "queue_depth": endpoints.queue_depth,
            **life(model, endpoints.process, endpoints.handle, endpoints.begin_ns),
        }
    )


def callback_objects_frame(model: Model) -> pd.DataFrame:
    """Return the table `callback_objects`."""
    callbacks = model.entities.callbacks
    return tables.CALLBACK_OBJECTS.frame(
        pd.DataFrame(
            {
                "callback_id": np.arange(len(callbacks.address)),
                **place(model, callbacks.process),
                "address": callbacks.address.astype(np.uint64),
                "symbol": callbacks.symbol,
                "kind": callbacks.kind,
                "trigger": callbacks.trigger,
                "subscription_id": nullable(callbacks.subscription),
                "timer_id": nullable(callbacks.timer),
                "node_id": nullable(callbacks.node),
                "node": take(model.entities.nodes.name, callbacks.node, None),
                **life(model, callbacks.process, callbacks.address, callbacks.begin_ns),
            }
        )
    )


def callback_instances_frame(model: Model) -> pd.DataFrame:
    """Return the table `callback_instances`; `instance_id` is the row of the model's executions."""
    executions = model.executions
    frame = tables.CALLBACK_INSTANCES.frame(
        pd.DataFrame(
            {
                "instance_id": np.arange(len(executions)),
                "callback_id": executions.callback,
                **_thread(model, executions.thread),
                "start_ns": executions.start_ns,
                "end_ns": nullable(executions.end_ns),
                "until_ns": ran_until(model),
                "is_intra_process": executions.intra_process == 1,
                "execution_id": executions.first,
                "is_resumed": executions.resumed,
                "finished_ns": nullable(executions.finished_ns),
            }
        )
    )
    return frame.sort_values("start_ns", kind="stable").reset_index(drop=True)


def publications_frame(model: Model) -> pd.DataFrame:
    """Return the table `publications`."""
    publications = model.publications
    return tables.PUBLICATIONS.frame(
        pd.DataFrame(
            {
                "publication_id": np.arange(len(publications)),
                "publisher_id": nullable(publications.publisher),
                **_thread(model, publications.thread),
                "client_ns": nullable(publications.client_ns),
                "rmw_publish_ns": nullable(publications.rmw_publish_ns),
                "source_timestamp": nullable(publications.source_timestamp),
                "writer_gid": model.middleware.samples.writer_gids(model.middleware.writes.sample),
                "sequence_number": nullable(
                    model.middleware.samples.sequences(model.middleware.writes.sample)
                ),
                "instance_id": nullable(publications.execution),
            }
        )
    )


def takes_frame(model: Model) -> pd.DataFrame:
    """Return the table `takes`."""
    takes = model.takes
    return tables.TAKES.frame(
        pd.DataFrame(
            {
                "take_id": np.arange(len(takes)),
                "subscription_id": nullable(takes.subscription),
                **_thread(model, takes.thread),
                "picked_ns": nullable(takes.picked_ns),
                "rmw_take_ns": nullable(takes.rmw_take_ns),
                "dequeue_ns": nullable(takes.dequeue_ns),
                "source_timestamp": nullable(takes.source_timestamp),
                "writer_gid": model.middleware.samples.writer_gids(model.middleware.reads.sample),
                "sequence_number": nullable(
                    model.middleware.samples.sequences(model.middleware.reads.sample)
                ),
                "instance_id": nullable(takes.execution),
                "duplicate": takes.duplicate,
                "loaned": takes.loaned,
            }
        )
    )


def event_uses_frame(model: Model) -> pd.DataFrame:
    """Return the table `event_uses`."""
    rows = [(use.event, use.used, use.text, use.count) for use in event_uses(model)]
    return tables.EVENT_USES.frame(pd.DataFrame(rows, columns=tables.EVENT_USES.names))


def life(
    model: Model, process: Ints, handle: Ints, begin_ns: Ints
) -> dict[str, Ints | pd.Series[int]]:
    """Return the columns `begin_ns` and `end_ns` of entities."""
    again = Lifetimes(process, handle, begin_ns).ends(begin_ns)
    gone = model.events.processes.end_ns[process]
    return {"begin_ns": begin_ns, "end_ns": nullable(np.where(again != NONE, again, gone))}


def place(model: Model, process: Ints) -> dict[str, Objects | Ints]:
    """Return the columns `host` and `vpid` of processes."""
    processes = model.events.processes
    host = np.asarray(processes.host, dtype=object)
    return {"host": host[process], "vpid": processes.vpid[process]}


def _thread(model: Model, thread: Ints) -> dict[str, Objects | Ints]:
    processes = model.events.processes
    return {
        **place(model, processes.thread_process[thread]),
        "vtid": processes.thread_vtid[thread],
    }
