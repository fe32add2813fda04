# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages within one process: through the ring buffers of intra-process communication.

    publishing thread   rclcpp_intra_publish -> one enqueue a subscription -> [the DDS publication]
    taking thread                                          dequeue -> callback_start

A buffer that belongs to a publisher (transient local) has no subscription; its enqueues are no
transfers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.engine.tables import EngineTables
from strata.model.columns import NONE, Ints
from strata.model.when_asked import when_asked
from strata.schema.rows import Flags


@dataclass(frozen=True)
class Passages:
    """What went through the buffers.

    `enqueue` and `dequeue` are rows of the pairs in their event tables. `subscription` has one row
    an enqueue event and `taker` one a dequeue event: the subscription of its buffer, or `NONE`;
    `buffer` numbers the buffers of enqueues, `source` those of dequeues.
    `stored` tells which enqueues put a message into a subscription's buffer, `displaced` of which
    of these it was overwritten before it was taken.
    """

    enqueue: Ints
    dequeue: Ints
    subscription: Ints
    taker: Ints
    buffer: Ints
    source: Ints
    stored: Flags
    displaced: Flags


def find_passages(tables: EngineTables) -> Passages:
    """Return what went through ring buffers."""

    def pairs() -> Ints:
        return np.flatnonzero(tables.rows["dequeues"]["enqueue"] != NONE)

    return when_asked(
        Passages,
        {
            "enqueue": lambda: tables.ints("dequeues", "enqueue")[pairs()],
            "dequeue": pairs,
            "subscription": lambda: subscriptions_of(tables, "enqueues"),
            "taker": lambda: subscriptions_of(tables, "dequeues"),
            "buffer": lambda: tables.ints("enqueues", "buffer"),
            "source": lambda: tables.ints("dequeues", "buffer"),
            "stored": lambda: tables.rows["enqueues"]["stored"] == 1,
            "displaced": lambda: tables.rows["enqueues"]["displaced"] == 1,
        },
    )


def subscriptions_of(tables: EngineTables, table: str) -> Ints:
    """Return the subscription of the buffer of each enqueue or dequeue; `NONE` for none."""
    return tables.ints("ring_buffers", "subscription")[tables.ints(table, "buffer")]
