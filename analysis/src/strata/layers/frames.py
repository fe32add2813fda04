# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The matched messages and what they waited for, as declared tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import pandas as pd

from strata.layers.blockers import Blockers
from strata.layers.driver import Origin
from strata.layers.link_proposals import Proposal
from strata.layers.links import KINDS, Links
from strata.layers.middleware import Passage
from strata.layers.readiness import Readiness
from strata.layers.silent_readers import reader_silence
from strata.layers.transfers import Flags, Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import UNKNOWN, Endpoints, take
from strata.model.frames import Objects, nullable
from strata.model.matching import CONFIDENCES, METHODS, UNSYNCHRONISED, confidence_of
from strata.model.naming import owner_names
from strata.model.search import pick
from strata.schema import tables


def endpoint_names(model: Model, transfers: Transfers) -> pd.DataFrame:
    """Return topic, publisher_node, subscription_node and hop_id of every matched message.

    A topic that one side does not know is the other side's; see `UNKNOWN` for none. An endpoint
    without init events is named by its process and rmw handle, so that two are never one.
    """
    publications, takes = model.publications, model.takes
    publisher = publications.publisher[transfers.publication]
    subscription = takes.subscription[transfers.take]
    entities = model.entities
    topic = take(entities.publishers.topic, publisher, None)
    other = take(entities.subscriptions.topic, subscription, UNKNOWN)
    frame = pd.DataFrame(
        {
            "topic": np.where(topic == None, other, topic),  # noqa: E711 (elementwise)
            "publisher_node": _node_names(
                model,
                entities.publishers,
                publisher,
                publications.thread[transfers.publication],
                publications.rmw_handle[transfers.publication],
            ),
            "subscription_node": _node_names(
                model,
                entities.subscriptions,
                subscription,
                takes.thread[transfers.take],
                takes.rmw_handle[transfers.take],
            ),
        }
    )
    frame["hop_id"] = frame.groupby(
        ["topic", "publisher_node", "subscription_node"], sort=True
    ).ngroup()
    return frame


def _node_names(
    model: Model, endpoints: Endpoints, rows: Ints, thread: Ints, rmw_handle: Ints
) -> Objects:
    processes = model.events.processes
    return owner_names(
        model.entities.nodes,
        processes,
        pick(endpoints.node, rows),
        processes.thread_process[thread],
        rmw_handle,
    )


def messages_frame(
    model: Model, transfers: Transfers, names: pd.DataFrame, links: Links, ready: Readiness
) -> pd.DataFrame:
    """Return the table `messages`."""
    within = transfers.intra_process
    of_execution = np.append(model.executions.callback, NONE)
    source = model.publications.execution[transfers.publication]
    by_callback = links.kind == KINDS.index("callback")
    parent = np.full(len(transfers), NONE, np.int64)
    hold_ns = np.full(len(transfers), NONE, np.int64)
    parent[links.child[by_callback]] = links.parent[by_callback]
    hold_ns[links.child[by_callback]] = links.hold_ns[by_callback]
    silent_ns = reader_silence(model, transfers)
    return tables.MESSAGES.frame(
        pd.DataFrame(
            {
                "message_id": np.arange(len(transfers)),
                "hop_id": names["hop_id"],
                "publication_id": transfers.publication,
                "take_id": transfers.take,
                "topic": names["topic"],
                "publisher_node": names["publisher_node"],
                "subscription_node": names["subscription_node"],
                "method": np.asarray(METHODS, dtype=object)[transfers.method],
                "confidence": np.where(
                    transfers.unsynchronised,
                    UNSYNCHRONISED,
                    np.asarray(CONFIDENCES, dtype=object)[confidence_of(transfers.method)],
                ),
                "callback_id": nullable(of_execution[transfers.execution]),
                "publisher_callback_id": nullable(of_execution[source]),
                **_origin(model, transfers.origin),
                "publish_ns": transfers.publish_ns,
                "rmw_publish_ns": nullable(np.where(within, NONE, transfers.handed_ns)),
                "enqueue_ns": nullable(np.where(within, transfers.handed_ns, NONE)),
                **_passage(transfers.passage, within),
                "ready_ns": nullable(transfers.ready_ns),
                "picked_ns": nullable(transfers.picked_ns),
                "rmw_take_ns": nullable(np.where(within, NONE, transfers.taken_ns)),
                "dequeue_ns": nullable(np.where(within, transfers.taken_ns, NONE)),
                "callback_start_ns": nullable(transfers.callback_start_ns),
                "callback_end_ns": nullable(transfers.callback_end_ns),
                **{column: nullable(ns) for column, ns in transfers.durations.items()},
                "latency_ns": transfers.latency_ns,
                "complete": transfers.callback_end_ns != NONE,
                "start_up": transfers.publish_ns < ready.ready_ns,
                "reader_silent": silent_ns > 0,
                "reader_silent_ns": silent_ns,
                "parent_id": nullable(parent),
                "hold_ns": nullable(hold_ns),
            }
        )
    )


def _origin(model: Model, origin: Origin) -> dict[str, pd.Series[int] | Objects | Ints]:
    driver = model.driver
    source = pick(driver.frames.source, origin.frame)
    return {
        "frame_id": nullable(origin.frame),
        "driver_source": take(driver.sources.place, source, None),
        "driver_method": take(
            np.asarray(("frame", "last read"), dtype=object),
            np.where(origin.frame != NONE, origin.inferred, NONE),
            None,
        ),
        "begin_ns": origin.begin_ns,
        "arrival_ns": nullable(origin.arrival_ns),
        "read_ns": nullable(origin.read_ns),
        "sweep_ns": nullable(origin.sweep_ns),
        "conversion_ns": nullable(origin.conversion_ns),
    }


def _passage(passage: Passage, within: Flags) -> dict[str, pd.Series[int] | Objects]:
    columns = [item.name for item in fields(Passage) if item.name not in ("durations", "transport")]
    return {
        **{column: nullable(getattr(passage, column)) for column in columns},
        "transport": np.where(within, "ring buffer", passage.transport),
    }


def links_frame(links: Links) -> pd.DataFrame:
    """Return the table `links`; its rows are numbered as `links` are."""
    return tables.LINKS.frame(
        pd.DataFrame(
            {
                "child_id": links.child,
                "parent_id": links.parent,
                "kind": np.asarray(KINDS, dtype=object)[links.kind],
                "callback_ns": nullable(links.callback_ns),
                "suspended_ns": nullable(links.suspended_ns),
                "stored_ns": nullable(links.stored_ns),
                "hold_ns": nullable(links.hold_ns),
                "critical": links.critical,
            }
        )
    )


def link_proposals_frame(model: Model, proposals: Sequence[Proposal]) -> pd.DataFrame:
    """Return the table `link_proposals`."""
    processes = model.events.processes
    rows = [
        {
            "host": processes.host[item.output.process],
            "vpid": int(processes.vpid[item.output.process]),
            "node": item.output.node,
            "output": item.output.topic,
            "input": item.input,
            "cut": item.cut,
            "kind": item.kind,
            "probable": item.probable,
            "published": item.published,
            "publications": item.publications,
            "new": item.new,
            "stored": item.stored,
            "decided": item.decided or None,
            "foretold": item.foretold if item.decided else None,
        }
        for item in proposals
    ]
    return tables.LINK_PROPOSALS.frame(pd.DataFrame(rows, columns=tables.LINK_PROPOSALS.names))


def blockers_frame(blockers: Blockers) -> pd.DataFrame:
    """Return the table `executor_blockers`."""
    return tables.EXECUTOR_BLOCKERS.frame(
        pd.DataFrame(
            {
                "message_id": blockers.message,
                "callback_id": nullable(blockers.callback),
                "work": np.where(blockers.take, "take", "callback").astype(object),
                "duration_ns": blockers.duration_ns,
            }
        )
    )
