# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Publications and takes: what a thread did around each rmw_publish and rmw_take.

On the publishing thread: [rclcpp_publish] -> [rcl_publish] -> rmw_publish, of one call. On the
taking thread: [execute] -> rmw_take -> [rcl_take] -> [rclcpp_take] -> [callback_start].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine.tables import EngineTables
from strata.model.columns import NONE, Ints
from strata.model.numbers import Numbers, Within, positions
from strata.model.search import known_or
from strata.model.when_asked import when_asked
from strata.schema.rows import nulls

_Column = Callable[[], npt.NDArray[np.generic]]


@dataclass(frozen=True)
class Publications:
    """Messages published by rcl publishers, in time order; `NONE` is null.

    `position` (strata.model.numbers.positions) is that of the rmw_publish; of messages that stayed
    in their process, for which `rmw_publish_ns` is null, of the rclcpp_intra_publish. Of these
    `rmw_handle` is the rcl handle: it only tells unknown publishers apart.
    """

    position: Ints
    publisher: Ints
    rmw_handle: Ints
    thread: Ints
    client_ns: Ints
    rmw_publish_ns: Ints
    source_timestamp: Ints
    execution: Ints

    def __len__(self) -> int:
        return len(self.publisher)

    @property
    def begin_ns(self) -> Ints:
        """When publish() was called, as far as was recorded."""
        return known_or(self.client_ns, self.rmw_publish_ns)

    @property
    def handed_ns(self) -> Ints:
        """When each was handed to the middleware or, within the process, to the ring buffers."""
        return known_or(self.rmw_publish_ns, self.client_ns)


@dataclass(frozen=True)
class Takes:
    """Messages taken, in time order; `NONE` is null.

    Either from the middleware (`rmw_take_ns`, with a source timestamp) or from a ring buffer
    (`dequeue_ns`, which is `picked_ns` too). Of takes from a ring buffer `rmw_handle` is the
    buffer's address. `duplicate` marks copies of intra-process messages, which rclcpp drops.
    `loaned` marks messages that the middleware lent, without an rmw_take: theirs is the time of the
    take_end.
    """

    subscription: Ints
    rmw_handle: Ints
    thread: Ints
    picked_ns: Ints
    rmw_take_ns: Ints
    dequeue_ns: Ints
    source_timestamp: Ints
    execution: Ints
    duplicate: npt.NDArray[np.bool_]
    loaned: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.subscription)

    @property
    def taken_ns(self) -> Ints:
        """When each was taken, from wherever."""
        return known_or(self.rmw_take_ns, self.dequeue_ns)


def find_publications(tables: EngineTables, numbers: Numbers) -> Publications:
    """Return the publications of the application."""

    def narrow(name: str, of_call: str | None = None) -> npt.NDArray[np.integer]:
        values = numbers.publications.narrow(tables.narrow("publishes", name))
        if numbers.calls is None or of_call is None:
            return values
        return numbers.calls.fill(tables, of_call, values)

    def column(name: str, of_call: str | None = None) -> Callable[[], Ints]:
        return lambda: narrow(name, of_call).astype(np.int64, copy=False)

    thread, at = (column(name, name) for name in ("thread", "at"))
    return when_asked(
        Publications,
        {
            "position": lambda: positions(thread(), at()),
            "publisher": column("publisher", "publisher"),
            "rmw_handle": column("rmw_handle", "handle"),
            "thread": thread,
            "client_ns": column("client_ns", "ns"),
            "rmw_publish_ns": column("ns"),
            "source_timestamp": column("stamp"),
            "execution": lambda: numbers.executions.numbers_of(narrow("execution", "execution")),
        },
    )


def find_takes(tables: EngineTables, numbers: Numbers) -> Takes:
    """Return the takes of messages."""

    def narrow(name: str, of_dequeue: str | None = None) -> npt.NDArray[np.integer]:
        values = numbers.takes.narrow(tables.narrow("takes", name))
        if numbers.dequeues is None or of_dequeue is None:
            return values
        return numbers.dequeues.fill(tables, of_dequeue, values)

    def column(name: str, of_dequeue: str | None = None) -> Callable[[], Ints]:
        return lambda: narrow(name, of_dequeue).astype(np.int64, copy=False)

    within = numbers.dequeues
    count = len(numbers.takes.rows)
    return when_asked(
        Takes,
        {
            "subscription": column("subscription"),
            "rmw_handle": column("rmw_handle"),
            "thread": column("thread", "thread"),
            "picked_ns": column("picked_ns", "ns"),
            "rmw_take_ns": column("ns"),
            "dequeue_ns": lambda: nulls(count),
            "source_timestamp": column("stamp"),
            "execution": lambda: numbers.executions.numbers_of(narrow("execution", "execution")),
            "duplicate": lambda: np.zeros(count, bool),
            "loaned": lambda: numbers.takes.flags(tables.rows["takes"]["loaned"] == 1),
        }
        | ({} if within is None else _takes_of_buffers(tables, within, column)),
    )


def _takes_of_buffers(
    tables: EngineTables, within: Within, column: Callable[[str], Callable[[], Ints]]
) -> dict[str, _Column]:
    """Return what makes the columns of takes that name a buffer, or copies of what came by one.

    `column` makes a column of the takes from the middleware.
    """

    def of_buffer(name: str, ours: str) -> _Column:
        def made() -> Ints:
            buffer = within.fill(tables, "buffer", np.full(len(within.rows), NONE, np.int64))
            own = np.append(tables.ints("ring_buffers", name), NONE)[buffer]
            return np.where(within.rows != NONE, own, column(ours)())

        return made

    def duplicate() -> npt.NDArray[np.bool_]:
        out = np.zeros(len(within.rows), bool)
        out[within.number[:-1]] = tables.rows["taken_messages"]["duplicate"] == 1
        return out

    none = np.full(len(within.rows), NONE, np.int64)
    return {
        "subscription": of_buffer("subscription", "subscription"),
        "rmw_handle": of_buffer("address", "rmw_handle"),
        "dequeue_ns": lambda: within.fill(tables, "ns", none),
        "duplicate": duplicate,
    }
