# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where publish() was entered, in the client library and in rcl, of each rmw_publish.

rclcpp and rcl emit an event with the message's address: of one call, when nothing else lies between
on the thread and the address is the same.

rclpy (with rclpy_tracepoints) emits rclcpp_publish on entry, before the message's C form exists. In
the place of the message it has the address of the rcl publisher, which belongs to no message while
that publisher lives. The conversion that follows runs Python code, so other publishers may publish
in between. Of one call are the last such event of the publisher on its thread and the publisher's
next rmw_publish there, when no callback, take or wait lies between. What a publish() leaves that
raised is so never taken for the begin of another: the publisher's next publish() emits its own.
"""

from __future__ import annotations

import numpy as np

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.entities import Entities
from strata.model.joins import codes_of
from strata.model.search import GroupedSearch, pick
from strata.model.timeline import EVENT_OF, Kind, Timeline

_OTHER_WORK = (
    Kind.RMW_TAKE,
    Kind.DEQUEUE,
    Kind.CALLBACK_START,
    Kind.CALLBACK_END,
    Kind.WAIT,
    Kind.READY,
    Kind.EXECUTE,
)


def client_events(events: EventColumns, timeline: Timeline, at: Ints) -> tuple[Ints, Ints]:
    """Return the positions of the rclcpp_publish and rcl_publish of each rmw_publish, or `NONE`.

    Both are of the same message, so what is left of a call whose rmw_publish was lost is not taken
    for the begin of the next. Calls of rclpy are in `rclpy_calls`.
    """
    barrier = timeline.before(at, Kind.RMW_PUBLISH, *_OTHER_WORK)
    message = events.ints(EVENT_OF[Kind.RMW_PUBLISH], "message")[timeline.row[at]]
    found = []
    for kind in (Kind.RCLCPP_PUBLISH, Kind.RCL_PUBLISH):
        place = timeline.before(at, kind)
        own = pick(events.ints(EVENT_OF[kind], "message"), timeline.row_at(place))
        found.append(np.where((place > barrier) & (own == message), place, NONE))
    rclcpp, rcl = found
    return rclcpp, rcl


def by_rcl_publish(
    events: EventColumns, timeline: Timeline, entities: Entities, at: Ints, rcl: Ints
) -> Ints:
    """Return the publisher of rmw_publish events that do not tell it (Iron and older).

    It is that of the rcl_publish before on the thread, which hands on the same message; or `NONE`.
    """
    handle = _publisher_handle(events, timeline, rcl)
    process = events.processes.thread_process[timeline.thread[at]]
    found = entities.publishers.by_handle.find(process, handle, timeline.ns[at])
    return np.where(rcl != NONE, found, NONE)


def rclpy_calls(
    events: EventColumns,
    timeline: Timeline,
    entities: Entities,
    at: Ints,
    publishers: tuple[Ints, Ints],
) -> Ints:
    """Return the position of the rclcpp_publish that rclpy emitted for each rmw_publish, or `NONE`.

    `at` are the positions of all rmw_publish, ascending; `publishers` are their rows of publishers
    and the positions of their rcl_publish, either of which tells the rcl publisher, or `NONE`.
    """
    calls = timeline.positions(Kind.RCLCPP_PUBLISH)
    publisher, rcl = publishers
    handle = _publisher_handle(events, timeline, rcl)
    handle = np.where(handle != NONE, handle, pick(entities.publishers.handle, publisher))
    named = events.ints(EVENT_OF[Kind.RCLCPP_PUBLISH], "message")[timeline.row[calls]]
    wanted, own = codes_of([timeline.thread[at], handle], [timeline.thread[calls], named])
    call = GroupedSearch(own, calls).last_row(wanted, at, after_equal=False)
    found = pick(calls, np.where(handle != NONE, call, NONE))
    before = GroupedSearch(wanted, at).last_row(wanted, at, after_equal=False)
    barrier = np.maximum(pick(at, before), timeline.before(at, *_OTHER_WORK))
    return np.where(found > barrier, found, NONE)


def _publisher_handle(events: EventColumns, timeline: Timeline, rcl: Ints) -> Ints:
    """The rcl publisher that each rcl_publish names; `NONE` for `NONE`."""
    return pick(events.ints(EVENT_OF[Kind.RCL_PUBLISH], "publisher_handle"), timeline.row_at(rcl))
