# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The matched messages and what they waited for, as declared tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from strata.layers.blockers import Blockers
from strata.layers.driver import Origin
from strata.layers.driver_columns import frames_of_model, sources_of_model
from strata.layers.endpoint_names import EndpointNames
from strata.layers.link_proposals import Proposal
from strata.layers.links import KINDS, Links
from strata.layers.middleware import Passage
from strata.layers.readiness import Readiness
from strata.layers.silent_readers import reader_silence
from strata.layers.transfers import Flags, Transfers
from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.matching import CONFIDENCES, METHODS, confidence_of
from strata.model.search import pick
from strata.schema import tables
from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.rows import Coded, Rows, Values

RING_BUFFER = "ring buffer"
"""The transport of messages that rclcpp hands over within a process."""


_NO_COLUMNS = ("transport", "sendable_ns", "lent")
"""Of `Passage`, what the table `messages` has not, or in other words."""


def messages_rows(
    model: Model, transfers: Transfers, names: EndpointNames, links: Links, ready: Readiness
) -> Rows:
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
    confidence = (*CONFIDENCES, UNSYNCHRONISED)
    return Rows(
        tables.MESSAGES,
        {
            "message_id": np.arange(len(transfers)),
            "hop_id": names.hop,
            "publication_id": transfers.publication,
            "take_id": transfers.take,
            **names.columns(),
            "method": Coded(transfers.method.astype(np.int64), METHODS),
            "confidence": Coded(
                np.where(
                    transfers.unsynchronised,
                    len(CONFIDENCES),
                    confidence_of(transfers.method),
                ),
                confidence,
            ),
            "callback_id": of_execution[transfers.execution],
            "publisher_callback_id": of_execution[source],
            **_origin(model, transfers.origin),
            "publish_ns": transfers.publish_ns,
            "rmw_publish_ns": np.where(within, NONE, transfers.handed_ns),
            "enqueue_ns": np.where(within, transfers.handed_ns, NONE),
            **_passage(transfers.passage, within),
            "ready_ns": transfers.ready_ns,
            "picked_ns": transfers.picked_ns,
            "rmw_take_ns": np.where(within, NONE, transfers.taken_ns),
            "dequeue_ns": np.where(within, transfers.taken_ns, NONE),
            "callback_start_ns": transfers.callback_start_ns,
            "callback_end_ns": transfers.callback_end_ns,
            **transfers.durations,
            "latency_ns": transfers.latency_ns,
            "complete": transfers.callback_end_ns != NONE,
            "start_up": transfers.publish_ns < ready.ready_ns,
            "reader_silent": silent_ns > 0,
            "reader_silent_ns": silent_ns,
            "parent_id": parent,
            "hold_ns": hold_ns,
        },
    )


def _origin(model: Model, origin: Origin) -> dict[str, Values]:
    source = pick(frames_of_model(model).source, origin.frame)
    places = Coded.of(sources_of_model(model).place.tolist())
    return {
        "frame_id": origin.frame,
        "driver_source": Coded(np.append(places.codes, NONE)[source], places.words),
        "driver_method": Coded(
            np.where(origin.frame != NONE, origin.inferred, NONE), ("frame", "last read")
        ),
        "begin_ns": origin.begin_ns,
        "arrival_ns": origin.arrival_ns,
        "read_ns": origin.read_ns,
        "sweep_ns": origin.sweep_ns,
        "conversion_ns": origin.conversion_ns,
    }


def _passage(passage: Passage, within: Flags) -> dict[str, Values]:
    columns = [item.name for item in fields(Passage) if item.name not in _NO_COLUMNS]
    transport = passage.transport
    words = (*transport.words, RING_BUFFER)
    return {
        **{column: getattr(passage, column) for column in columns},
        "transport": Coded(np.where(within, len(transport.words), transport.codes), words),
    }


def links_rows(links: Links) -> Rows:
    """Return the table `links`; its rows are numbered as `links` are."""
    return Rows(
        tables.LINKS,
        {
            "child_id": links.child,
            "parent_id": links.parent,
            "kind": Coded(links.kind.astype(np.int64), KINDS),
            "callback_ns": links.callback_ns,
            "suspended_ns": links.suspended_ns,
            "stored_ns": links.stored_ns,
            "hold_ns": links.hold_ns,
            "critical": links.critical,
        },
    )


def link_proposals_rows(model: Model, proposals: Sequence[Proposal]) -> Rows:
    """Return the table `link_proposals`."""
    processes = model.processes
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
    return Rows.of_records(tables.LINK_PROPOSALS, rows)


def blockers_rows(blockers: Blockers) -> Rows:
    """Return the table `executor_blockers`."""
    return Rows(
        tables.EXECUTOR_BLOCKERS,
        {
            "message_id": blockers.message,
            "callback_id": blockers.callback,
            "work": Coded(blockers.take.astype(np.int64), ("callback", "take")),
            "duration_ns": blockers.duration_ns,
        },
    )
