# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Timers with their lifetimes.

rclpy makes an rcl timer for each spin with a timeout, and never tells a callback of it: only timers
that a callback or a node was announced for are entities; the others are counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.search import Lifetimes, pick

_INIT = "ros2:rcl_timer_init"
_ADDED = "ros2:rclcpp_timer_callback_added"
_LINKED = "ros2:rclcpp_timer_link_node"


@dataclass(frozen=True)
class Timers:
    """One row a timer and life; `node` is a row of the nodes, or `NONE`.

    `left_out` counts timers without callback and node.
    """

    process: Ints
    handle: Ints
    period_ns: Ints
    node: Ints
    begin_ns: Ints
    left_out: int
    by_handle: Lifetimes
    """All rcl timers, made at `every_begin_ns`; `row` gives the row of each here, or `NONE`."""
    every_begin_ns: Ints
    row: Ints

    def __len__(self) -> int:
        return len(self.handle)

    def find(self, process: Ints, handle: Ints, at_ns: Ints) -> Ints:
        """Return the row of the timer that lived at a time; `NONE` where there was none."""
        return pick(self.row, self.by_handle.find(process, handle, at_ns))

    def ends(self) -> Ints:
        """Return when each timer's handle was reused, by whatever timer; `NONE` for never."""
        again: Ints = self.by_handle.ends(self.every_begin_ns)[self.row != NONE]
        return again


def find_timers(events: EventColumns, nodes: Lifetimes) -> Timers:
    """Make the timers from their init events; `nodes` finds rows of the nodes by handle."""
    process, begin_ns = events.process(_INIT), events.timestamps(_INIT)
    handle = events.ints(_INIT, "timer_handle")
    lives = Lifetimes(process, handle, begin_ns)
    added = lives.find(
        events.process(_ADDED), events.ints(_ADDED, "timer_handle"), events.timestamps(_ADDED)
    )
    linked_ns = events.timestamps(_LINKED)
    linked = lives.find(events.process(_LINKED), events.ints(_LINKED, "timer_handle"), linked_ns)
    of_link = nodes.find(events.process(_LINKED), events.ints(_LINKED, "node_handle"), linked_ns)
    node = np.full(len(handle), NONE, np.int64)
    node[linked[linked != NONE]] = of_link[linked != NONE]
    kept = np.zeros(len(handle), bool)
    for rows in (added, linked):
        kept[rows[rows != NONE]] = True
    row = np.where(kept, np.cumsum(kept) - 1, NONE)
    return Timers(
        process[kept],
        handle[kept],
        events.ints(_INIT, "period")[kept],
        node[kept],
        begin_ns[kept],
        int((~kept).sum()),
        lives,
        begin_ns,
        row,
    )
