# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages within one process: through the ring buffers of intra-process communication.

    publishing thread   rclcpp_intra_publish -> one enqueue a subscription -> [the DDS publication]
    taking thread                                          dequeue -> callback_start

A ring buffer has slots that are written and read in turn. A dequeue takes what the last enqueue
before it put into its slot. Both tell the number of messages in the buffer, which proves it: the
messages that a dequeue leaves are exactly those that were stored after the one that it took. When
the numbers do not agree, events were lost in between and the pair is refused.

A full buffer overwrites its oldest message: the enqueue that does it says so. A buffer that belongs
to a publisher (transient local) has no subscription; its enqueues are no transfers. A subscription
that is made later gets what that buffer holds: while rclcpp makes the subscription, the same thread
stores those messages in its new buffer, without a publish since.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.entities import Entities
from strata.model.search import GroupedSearch, Lifetimes, pick
from strata.model.timeline import EVENT_OF, Kind
from strata.schema.quality import Ledger

Flags = npt.NDArray[np.bool_]

_ENQUEUE, _DEQUEUE = EVENT_OF[Kind.ENQUEUE], EVENT_OF[Kind.DEQUEUE]


@dataclass(frozen=True)
class RingBuffers:
    """One row a buffer and life; `subscription` is `NONE` for a publisher's own buffer."""

    process: Ints
    address: Ints
    subscription: Ints
    by_address: Lifetimes


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


def births(events: EventColumns) -> tuple[Ints, Ints]:
    """Return when, and on which thread, the buffer of each enqueue event was made; or `NONE`."""
    made = "ros2:rclcpp_construct_ring_buffer"
    lives = Lifetimes(events.process(made), events.ints(made, "buffer"), events.timestamps(made))
    of = lives.find(
        events.process(_ENQUEUE), events.ints(_ENQUEUE, "buffer"), events.timestamps(_ENQUEUE)
    )
    return pick(events.timestamps(made), of), pick(events.thread(made), of)


def find_ring_buffers(events: EventColumns, entities: Entities) -> RingBuffers:
    """Return the buffers that were made in the trace, with their subscriptions."""
    made, given, owned = (
        "ros2:rclcpp_construct_ring_buffer",
        "ros2:rclcpp_buffer_to_ipb",
        "ros2:rclcpp_ipb_to_subscription",
    )
    process, begin_ns = events.process(made), events.timestamps(made)
    address = events.ints(made, "buffer")
    ipb_of = _nearest(events, given, "buffer", process, address, begin_ns)
    ipb = pick(events.ints(given, "ipb"), ipb_of)
    ipb_ns = pick(events.timestamps(given), ipb_of)
    owner = _nearest(events, owned, "ipb", process, ipb, ipb_ns)
    owner = np.where(ipb_of != NONE, owner, NONE)
    object_ = pick(events.ints(owned, "subscription"), owner)
    owned_ns = pick(events.timestamps(owned), owner)
    # The subscription is announced after its buffer.
    init = "ros2:rclcpp_subscription_init"
    bound = _nearest(events, init, "subscription", process, object_, owned_ns)
    bound = np.where(owner != NONE, bound, NONE)
    handle = pick(events.ints(init, "subscription_handle"), bound)
    found = entities.subscriptions.by_handle.find(
        process, handle, pick(events.timestamps(init), bound)
    )
    return RingBuffers(
        process,
        address,
        np.where(bound != NONE, found, NONE),
        Lifetimes(process, address, begin_ns),
    )


def _nearest(
    events: EventColumns, event: str, column: str, process: Ints, address: Ints, at_ns: Ints
) -> Ints:
    begin_ns = events.timestamps(event)
    lives = Lifetimes(events.process(event), events.ints(event, column), begin_ns)
    return lives.nearest(process, address, at_ns, begin_ns)


def pair_passages(events: EventColumns, buffers: RingBuffers, ledger: Ledger) -> Passages:
    """Pair every dequeue with the enqueue of its message; count what has no partner by cause."""
    row = {name: _buffer_rows(events, buffers, name) for name in (_ENQUEUE, _DEQUEUE)}
    subscription = {name: pick(buffers.subscription, rows) for name, rows in row.items()}
    # A buffer of no known making may be a subscription's; one that was made and given to none is
    # a publisher's.
    stored = (row[_ENQUEUE] == NONE) | (subscription[_ENQUEUE] != NONE)
    ledger.add("publisher_buffer_enqueues", int((~stored).sum()))
    key = _buffer_keys(events, buffers, row)
    enqueue, dequeue, displaced = _pair(events, key)
    kept = stored[enqueue]
    enqueue, dequeue = enqueue[kept], dequeue[kept]
    sound = _sizes_agree(events, key, enqueue, dequeue)
    ledger.add("contradictory_ring_buffers", int((~sound).sum()))
    enqueue, dequeue = enqueue[sound], dequeue[sound]
    waiting = np.ones(len(stored), bool)
    waiting[enqueue] = False
    displaced &= waiting & stored
    ledger.add("ring_buffer_overwrites", int(displaced.sum()))
    return Passages(
        enqueue,
        dequeue,
        subscription[_ENQUEUE],
        subscription[_DEQUEUE],
        key[_ENQUEUE],
        key[_DEQUEUE],
        stored,
        displaced,
    )


def _buffer_rows(events: EventColumns, buffers: RingBuffers, event: str) -> Ints:
    return buffers.by_address.find(
        events.process(event), events.ints(event, "buffer"), events.timestamps(event)
    )


def _buffer_keys(
    events: EventColumns, buffers: RingBuffers, row: dict[str, Ints]
) -> dict[str, Ints]:
    """Number the buffers of all events, also those that were made before the trace began."""
    process = np.concatenate([events.process(name) for name in row])
    address = np.concatenate([events.ints(name, "buffer") for name in row])
    life = np.concatenate(list(row.values()))
    distinct, codes = np.unique(address, return_inverse=True)
    width = len(distinct) + 1
    unknown = len(buffers.address) + process * width + codes
    key = np.where(life != NONE, life, unknown)
    count = events.count(_ENQUEUE)
    return {_ENQUEUE: key[:count], _DEQUEUE: key[count:]}


def _pair(events: EventColumns, key: dict[str, Ints]) -> tuple[Ints, Ints, Flags]:
    """Rows of enqueues and dequeues that follow each other in a slot.

    And for every enqueue: was its slot written again by an enqueue that said it overwrites?
    """
    names = (_ENQUEUE, _DEQUEUE)
    counts = [events.count(name) for name in names]
    is_dequeue = np.repeat([False, True], counts)
    ns = np.concatenate([events.timestamps(name) for name in names])
    slot = np.concatenate([events.ints(name, "index") for name in names])
    buffer = np.concatenate([key[name] for name in names])
    row = np.concatenate([np.arange(count, dtype=np.int64) for count in counts])
    order = np.lexsort((is_dequeue, ns, slot, buffer))
    ordered = is_dequeue[order]
    same = (buffer[order][1:] == buffer[order][:-1]) & (slot[order][1:] == slot[order][:-1])
    pair = np.flatnonzero(same & ~ordered[:-1] & ordered[1:])
    overwritten = np.concatenate([events.ints(_ENQUEUE, "overwritten"), np.zeros(counts[1])])
    again = np.flatnonzero(same & ~ordered[:-1] & ~ordered[1:] & (overwritten[order][1:] == 1))
    displaced = np.zeros(counts[0], bool)
    displaced[row[order[again]]] = True
    return row[order[pair]], row[order[pair + 1]], displaced


def _sizes_agree(events: EventColumns, key: dict[str, Ints], enqueue: Ints, dequeue: Ints) -> Flags:
    """Tell which pairs leave in the buffer just what was stored after the message."""
    search = GroupedSearch(key[_ENQUEUE], events.timestamps(_ENQUEUE))
    place = np.empty(len(search.order), np.int64)
    place[search.order] = np.arange(len(search.order))
    until = search.position(
        key[_DEQUEUE][dequeue], events.timestamps(_DEQUEUE)[dequeue], after_equal=True
    )
    younger = until - place[enqueue] - 1
    return np.asarray(younger == events.ints(_DEQUEUE, "size")[dequeue])
