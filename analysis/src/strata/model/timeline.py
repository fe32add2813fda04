# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""All runtime events in one order: by thread, then by time.

A thread's events are contiguous, so "the next event of a kind on this thread" is a look to the
right. Events of one thread with one timestamp (they cannot be told apart by the clock) keep the
causal order of `Kind`.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.search import GroupedSearch, pick


class Kind(IntEnum):
    """Runtime events of the model, in causal order on one thread."""

    SUSPEND = 0
    CALLBACK_END = 1
    SEND_RESPONSE = 2
    WAIT = 3
    WAIT_BEGIN = 4
    WAIT_END = 5
    READY = 6
    EXECUTE = 7
    TAKE_BEGIN = 8
    DESERIALIZE_BEGIN = 9
    DESERIALIZE_END = 10
    TAKE_END = 11
    RMW_TAKE = 12
    TAKE_REQUEST = 13
    TAKE_RESPONSE = 14
    RCL_TAKE = 15
    RCLCPP_TAKE = 16
    DEQUEUE = 17
    RESUME = 18
    CALLBACK_START = 19
    PACKET_RECEIVED = 20
    BUFFER_PULLED = 21
    FRAME_BOUNDARY = 22
    CLOUD_READY = 23
    COPY_DONE = 24
    INTRA_PUBLISH = 25
    ENQUEUE = 26
    RCLCPP_PUBLISH = 27
    RCL_PUBLISH = 28
    RMW_PUBLISH = 29
    WRITE_BEGIN = 30
    SERIALIZE_BEGIN = 31
    SERIALIZE_END = 32
    WRITER_HISTORY_ADD = 33
    SEND_BEGIN = 34
    SEND_END = 35
    WRITE_END = 36
    SEND_REQUEST = 37


EVENT_OF = {
    Kind.SUSPEND: "rclpy:callback_suspend",
    Kind.CALLBACK_END: "ros2:callback_end",
    Kind.SEND_RESPONSE: "ros2:rmw_send_response",
    Kind.WAIT: "ros2:rclcpp_executor_wait_for_work",
    Kind.WAIT_BEGIN: "dds:wait_begin",
    Kind.WAIT_END: "dds:wait_end",
    Kind.READY: "ros2:rclcpp_executor_get_next_ready",
    Kind.EXECUTE: "ros2:rclcpp_executor_execute",
    Kind.TAKE_BEGIN: "dds:take_begin",
    Kind.DESERIALIZE_BEGIN: "dds:deserialize_begin",
    Kind.DESERIALIZE_END: "dds:deserialize_end",
    Kind.TAKE_END: "dds:take_end",
    Kind.RMW_TAKE: "ros2:rmw_take",
    Kind.TAKE_REQUEST: "ros2:rmw_take_request",
    Kind.TAKE_RESPONSE: "ros2:rmw_take_response",
    Kind.RCL_TAKE: "ros2:rcl_take",
    Kind.RCLCPP_TAKE: "ros2:rclcpp_take",
    Kind.DEQUEUE: "ros2:rclcpp_ring_buffer_dequeue",
    Kind.RESUME: "rclpy:callback_resume",
    Kind.CALLBACK_START: "ros2:callback_start",
    Kind.PACKET_RECEIVED: "driver:packet_received",
    Kind.BUFFER_PULLED: "driver:buffer_pulled",
    Kind.FRAME_BOUNDARY: "driver:frame_boundary",
    Kind.CLOUD_READY: "driver:cloud_ready",
    Kind.COPY_DONE: "driver:copy_done",
    Kind.INTRA_PUBLISH: "ros2:rclcpp_intra_publish",
    Kind.ENQUEUE: "ros2:rclcpp_ring_buffer_enqueue",
    Kind.RCLCPP_PUBLISH: "ros2:rclcpp_publish",
    Kind.RCL_PUBLISH: "ros2:rcl_publish",
    Kind.RMW_PUBLISH: "ros2:rmw_publish",
    Kind.WRITE_BEGIN: "dds:write_begin",
    Kind.SERIALIZE_BEGIN: "dds:serialize_begin",
    Kind.SERIALIZE_END: "dds:serialize_end",
    Kind.WRITER_HISTORY_ADD: "dds:writer_history_add",
    Kind.SEND_BEGIN: "dds:send_begin",
    Kind.SEND_END: "dds:send_end",
    Kind.WRITE_END: "dds:write_end",
    Kind.SEND_REQUEST: "ros2:rmw_send_request",
}


class Timeline:
    """Positions 0..n-1 in (thread, time) order; `row` is the event's row in its own table."""

    def __init__(self, events: EventColumns) -> None:
        kinds = [np.full(events.count(name), kind, np.int8) for kind, name in EVENT_OF.items()]
        kind = np.concatenate(kinds)
        ns = np.concatenate([events.timestamps(name) for name in EVENT_OF.values()])
        thread = np.concatenate([events.thread(name) for name in EVENT_OF.values()])
        row = np.concatenate(
            [np.arange(events.count(n), dtype=np.int64) for n in EVENT_OF.values()]
        )
        order = np.lexsort((row, kind, ns, thread))
        self.kind: npt.NDArray[np.int8] = kind[order]
        self.ns: Ints = ns[order]
        self.thread: Ints = thread[order]
        self.row: Ints = row[order]
        self._by_kind = np.argsort(self.kind, kind="stable").astype(np.int64)
        self._first = np.searchsorted(self.kind[self._by_kind], np.arange(len(Kind) + 1))

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def by_thread(self) -> GroupedSearch:
        """Positions by thread and time."""
        return GroupedSearch(self.thread, self.ns)

    def positions(self, *kinds: Kind) -> Ints:
        """Return the positions of the kinds, ascending."""
        parts = [self._by_kind[self._first[kind] : self._first[kind + 1]] for kind in kinds]
        return parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts), kind="stable")

    def before(self, at: Ints, *kinds: Kind) -> Ints:
        """Return the last position before each of `at`, on its thread, of the kinds; or `NONE`."""
        wanted = self.positions(*kinds)
        place = np.searchsorted(wanted, at, side="left") - 1
        return self._same_thread(wanted, place, at)

    def after(self, at: Ints, *kinds: Kind) -> Ints:
        """Return the first position after each of `at`, on its thread, of the kinds; or `NONE`."""
        wanted = self.positions(*kinds)
        place = np.searchsorted(wanted, at, side="right")
        return self._same_thread(wanted, np.where(place < len(wanted), place, NONE), at)

    def _same_thread(self, wanted: Ints, place: Ints, at: Ints) -> Ints:
        if not len(wanted):
            return np.full(len(at), NONE, np.int64)
        found = wanted[np.maximum(place, 0)]
        same = (place >= 0) & (self.thread[found] == self.thread[at])
        return np.where(same, found, NONE)

    def within(self, begin: Ints, end: Ints, *kinds: Kind) -> Ints:
        """Return the first position of the kinds after each `begin` and before `end`; or `NONE`.

        `begin` may be `NONE`; an `end` that is `NONE` is far away, on the same thread.
        """
        known = begin != NONE
        found = self.after(np.where(known, begin, 0), *kinds)
        return np.where(known & ((end == NONE) | (found < end)), found, NONE)

    def ns_at(self, at: Ints) -> Ints:
        """Return the time of each position; `NONE` for `NONE`."""
        return pick(self.ns, at)

    def row_at(self, at: Ints) -> Ints:
        """Return the row of each position's event in its own table; `NONE` for `NONE`."""
        return pick(self.row, at)
