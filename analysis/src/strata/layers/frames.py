# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The matched messages and what they waited for, as declared tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from strata.layers.blockers import Blockers
from strata.layers.driver import Origin
from strata.layers.endpoint_names import EndpointNames
from strata.layers.link_proposals import Proposal
from strata.layers.links import KINDS, Links
from strata.layers.middleware import Passage
from strata.layers.readiness import Readiness
from strata.layers.silent_readers import reader_silence
from strata.layers.transfers import Flags, Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.matching import CONFIDENCES, METHODS, confidence_of
from strata.model.search import pick
from strata.schema import tables
from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.rows import Again, Coded, Later, Rows, Values, nulls, row_numbers
from strata.schema.transports import RING_BUFFER

_NO_COLUMNS = ("transport", "sendable_ns", "lent")
"""Of `Passage`, what the table `messages` has not, or in other words."""


def messages_rows(
    model: Model, transfers: Transfers, names: EndpointNames, links: Links, ready: Readiness
) -> Rows:
    """Return the table `messages`."""
    within = transfers.intra_process
    by_callback = links.kind == KINDS.index("callback")
    silent_ns = reader_silence(model, transfers)

    def of_child(values: Ints) -> Ints:
        found = np.full(len(transfers), NONE, np.int64)
        found[links.child[by_callback]] = values[by_callback]
        return found

    def where(flags: Flags, values: Ints) -> Ints:
        return np.where(flags, values, NONE) if flags.any() else nulls(len(values))

    def outside(values: Ints) -> Ints:
        return np.where(within, NONE, values) if within.any() else values

    return Rows(
        tables.MESSAGES,
        {
            "message_id": row_numbers(len(transfers)),
            "hop_id": names.hop,
            "publication_id": transfers.publication,
            "take_id": transfers.take,
            **names.columns(),
            "method": lambda: Coded(transfers.method.astype(np.int64, copy=False), METHODS),
            "confidence": lambda: _confidence(transfers),
            "callback_id": Again(lambda: pick(model.executions.callback, transfers.execution)),
            "publisher_callback_id": lambda: pick(
                model.executions.callback, model.publications.execution[transfers.publication]
            ),
            **_origin(model, transfers.origin),
            "publish_ns": transfers.publish_ns,
            "rmw_publish_ns": lambda: outside(transfers.handed_ns),
            "enqueue_ns": lambda: where(within, transfers.handed_ns),
            **_passage(transfers.passage, within),
            "ready_ns": transfers.ready_ns,
            "picked_ns": transfers.picked_ns,
            "rmw_take_ns": lambda: outside(transfers.taken_ns),
            "dequeue_ns": lambda: where(within, transfers.taken_ns),
            "callback_start_ns": transfers.callback_start_ns,
            "callback_end_ns": transfers.callback_end_ns,
            **transfers.durations,
            "latency_ns": Again(lambda: transfers.latency_ns),
            "complete": lambda: transfers.callback_end_ns != NONE,
            "start_up": lambda: transfers.publish_ns < ready.ready_ns,
            "reader_silent": lambda: silent_ns > 0,
            "reader_silent_ns": silent_ns,
            "parent_id": lambda: of_child(links.parent),
            "hold_ns": lambda: of_child(links.hold_ns),
        },
    )


def _confidence(transfers: Transfers) -> Coded:
    method, apart = transfers.method, transfers.unsynchronised
    # Of methods that are one number in memory, so is what they tell.
    known = confidence_of(method[:1] if method.strides == (0,) else method)
    known = np.broadcast_to(known, len(method)) if len(method) else known
    codes = np.where(apart, len(CONFIDENCES), known) if apart.any() else known
    return Coded(codes, (*CONFIDENCES, UNSYNCHRONISED))


def _origin(model: Model, origin: Origin) -> dict[str, Values | Later]:
    if origin.is_none:
        # The latency of all begins where they were published.
        return {"begin_ns": origin.begin_ns}

    def source() -> Coded:
        own = pick(model.driver.frames.source, origin.frame)
        places = Coded.of(model.driver.sources.place.tolist())
        return Coded(np.append(places.codes, NONE)[own], places.words)

    return {
        "frame_id": origin.frame,
        "driver_source": source,
        "driver_method": lambda: Coded(
            np.where(origin.frame != NONE, origin.inferred, NONE), ("frame", "last read")
        ),
        "begin_ns": origin.begin_ns,
        "arrival_ns": origin.arrival_ns,
        "read_ns": origin.read_ns,
        "sweep_ns": origin.sweep_ns,
        "conversion_ns": origin.conversion_ns,
    }


def _passage(passage: Passage, within: Flags) -> dict[str, Values | Later]:
    columns = [item.name for item in fields(Passage) if item.name not in _NO_COLUMNS]
    transport = passage.transport
    words = (*transport.words, RING_BUFFER)
    return {
        **{column: getattr(passage, column) for column in columns},
        "transport": lambda: Coded(np.where(within, len(transport.words), transport.codes), words),
    }


def links_rows(links: Links) -> Rows:
    """Return the table `links`; its rows are numbered as `links` are."""
    return Rows(
        tables.LINKS,
        {
            "child_id": links.child,
            "parent_id": links.parent,
            "kind": Coded(links.kind.astype(np.int64, copy=False), KINDS),
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
            "work": Coded(blockers.take, ("callback", "take")),
            "duration_ns": blockers.duration_ns,
        },
    )
