# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What became of every `ros2` event: what it was used for, or why it was not.

Nothing is passed over in silence: the counts of an event's uses add up to the number of its events.
What no rule explains is *unexplained*; on a whole trace there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.executions import opening_waits, paired_waits
from strata.model.timeline import EVENT_OF, Kind
from strata.schema.event import Phase
from strata.schema.events import CATALOGUE, PROVIDER

Flags = npt.NDArray[np.bool_]

UNEXPLAINED = "unexplained"
_IGNORED_INIT = {
    "ros2:rmw_publisher_init": "names a GID; publishers are known by their handles",
    "ros2:rmw_subscription_init": "names a GID; subscriptions are known by their handles",
    "ros2:rclcpp_ring_buffer_clear": "what was cleared is never dequeued",
}
_OF_OTHERS = {
    "ros2:rcl_lifecycle_transition": "a state of a node",
}
_REPEATS = "repeats rmw_take, which tells more"
_WORK = (Kind.CALLBACK_START, Kind.CALLBACK_END, Kind.WAIT, Kind.READY, Kind.EXECUTE)


@dataclass(frozen=True)
class EventUse:
    """`count` events of a name were used, or not, for the reason that `text` gives."""

    event: str
    used: bool
    text: str
    count: int


def event_uses(model: Model) -> list[EventUse]:
    """Return the uses of every `ros2` event of a trace, in the order of the catalogue."""
    out: list[EventUse] = []
    for name, event in CATALOGUE.items():
        total = model.events.count(name)
        if event.provider != PROVIDER or not total:
            continue
        if event.phase is Phase.INIT or name not in _RULES:
            reason = _IGNORED_INIT.get(name)
            used = _OF_OTHERS.get(name, "an entity, or a link between entities")
            out.append(EventUse(name, reason is None, reason or used, total))
            continue
        uses = [use for use in _RULES[name](model) if use.count]
        rest = total - sum(use.count for use in uses)
        out += uses
        if rest:
            out.append(EventUse(name, False, UNEXPLAINED, rest))
    return out


def _uses(kind: Kind, *cases: tuple[bool, str, int | np.integer]) -> list[EventUse]:
    return [EventUse(EVENT_OF[kind], used, text, int(count)) for used, text, count in cases]


def _callback_starts(model: Model) -> list[EventUse]:
    return _uses(Kind.CALLBACK_START, (True, "begin of an execution", len(model.executions)))


def _callback_ends(model: Model) -> list[EventUse]:
    ended = (model.executions.end_ns != NONE).sum()
    rest = model.events.count(EVENT_OF[Kind.CALLBACK_END]) - ended
    return _uses(
        Kind.CALLBACK_END,
        (True, "end of an execution", ended),
        (False, "its callback_start is not in the trace", rest),
    )


def _waits(model: Model) -> list[EventUse]:
    paired = len(paired_waits(model.timeline, Kind.WAIT, Kind.READY)[0])
    opening = len(opening_waits(model.events, model.timeline))
    begins, ends = (model.events.count(EVENT_OF[kind]) for kind in (Kind.WAIT, Kind.READY))
    return [
        *_uses(
            Kind.WAIT,
            (True, "begin of a wait", paired),
            (False, "the end of the wait is not in the trace", begins - paired),
        ),
        *_uses(
            Kind.READY,
            (True, "end of a wait", paired),
            (True, "end of a wait that began before the trace", opening),
            (False, "looked for more work without a wait", ends - paired - opening),
        ),
    ]


def _wait_begins(model: Model) -> list[EventUse]:
    return [use for use in _waits(model) if use.event == EVENT_OF[Kind.WAIT]]


def _wait_ends(model: Model) -> list[EventUse]:
    return [use for use in _waits(model) if use.event == EVENT_OF[Kind.READY]]


def _executes(model: Model) -> list[EventUse]:
    timeline = model.timeline
    at = timeline.positions(Kind.EXECUTE)
    following = timeline.after(at, Kind.RMW_TAKE, Kind.TAKE_REQUEST, *_WORK)
    kind = np.where(following != NONE, timeline.kind[following], NONE)
    started, taken = kind == Kind.CALLBACK_START, kind == Kind.RMW_TAKE
    asked = kind == Kind.TAKE_REQUEST
    return _uses(
        Kind.EXECUTE,
        (True, "a subscription was picked", taken.sum()),
        (True, "a timer was picked", started.sum()),
        (True, "a service was picked", asked.sum()),
        (
            False,
            "nothing was taken or called that the trace shows",
            (~started & ~taken & ~asked).sum(),
        ),
    )


def _rmw_publishes(model: Model) -> list[EventUse]:
    published = (model.publications.rmw_publish_ns != NONE).sum()
    rest = model.events.count(EVENT_OF[Kind.RMW_PUBLISH]) - published
    return _uses(
        Kind.RMW_PUBLISH,
        (True, "a publication", published),
        (False, "of the middleware itself (graph topics)", rest),
    )


def _rcl_publishes(model: Model) -> list[EventUse]:
    return _client_publishes(model, Kind.RCL_PUBLISH)


def _rclcpp_publishes(model: Model) -> list[EventUse]:
    return _client_publishes(model, Kind.RCLCPP_PUBLISH)


def _client_publishes(model: Model, kind: Kind) -> list[EventUse]:
    """Those that an rmw_publish followed, before anything else of the kind or other work."""
    timeline = model.timeline
    at = timeline.positions(kind)
    rmw = timeline.within(at, timeline.after(at, kind, *_WORK), Kind.RMW_PUBLISH)
    followed = (rmw != NONE).sum()
    return _uses(
        kind,
        (True, "begin of a publication", followed),
        (False, "no rmw_publish followed on the thread", len(at) - followed),
    )


def _intra_publishes(model: Model) -> list[EventUse]:
    count = model.events.count(EVENT_OF[Kind.INTRA_PUBLISH])
    return _uses(Kind.INTRA_PUBLISH, (True, "begin of a publication", count))


def _enqueues(model: Model) -> list[EventUse]:
    stored, taken = model.passages.stored, np.zeros(len(model.passages.stored), bool)
    taken[model.passages.enqueue] = True
    return _uses(
        Kind.ENQUEUE,
        (True, "a message was stored", (stored & taken).sum()),
        (
            True,
            "a message was stored that nobody took (overwritten, or left)",
            (stored & ~taken).sum(),
        ),
        (False, "a publisher's own buffer (transient local)", (~stored).sum()),
    )


def _dequeues(model: Model) -> list[EventUse]:
    count = model.events.count(EVENT_OF[Kind.DEQUEUE])
    return _uses(Kind.DEQUEUE, (True, "a take", count))


def _rmw_takes(model: Model) -> list[EventUse]:
    name = EVENT_OF[Kind.RMW_TAKE]
    taken, stamp = model.events.ints(name, "taken"), model.events.ints(name, "source_timestamp")
    duplicate = int(model.takes.duplicate.sum())
    own = int((model.takes.rmw_take_ns != NONE).sum()) - duplicate
    return _uses(
        Kind.RMW_TAKE,
        (True, "a take", own),
        (True, "a copy of an intra-process message", duplicate),
        (False, "nothing was taken", (taken != 1).sum()),
        (False, "no source timestamp (graph topics)", ((taken == 1) & (stamp <= 0)).sum()),
    )


def _rcl_takes(model: Model) -> list[EventUse]:
    count = model.events.count(EVENT_OF[Kind.RCL_TAKE])
    return _uses(Kind.RCL_TAKE, (False, _REPEATS, count))


def _rclcpp_takes(model: Model) -> list[EventUse]:
    count = model.events.count(EVENT_OF[Kind.RCLCPP_TAKE])
    return _uses(Kind.RCLCPP_TAKE, (False, _REPEATS, count))


def _service_events(kind: Kind) -> Callable[[Model], list[EventUse]]:
    """The rule of a kind of events of service calls."""

    def rule(model: Model) -> list[EventUse]:
        calls = model.service_traffic.calls
        of = {
            Kind.SEND_REQUEST: calls.request,
            Kind.TAKE_REQUEST: calls.taken,
            Kind.SEND_RESPONSE: calls.response,
            Kind.TAKE_RESPONSE: calls.taken_response,
        }[kind]
        name, used = EVENT_OF[kind], int((of != NONE).sum())
        empty = 0
        if kind in (Kind.TAKE_REQUEST, Kind.TAKE_RESPONSE):
            empty = int((model.events.ints(name, "taken") != 1).sum())
        return _uses(
            kind,
            (True, "a service call", used),
            (False, "nothing was taken", empty),
            (False, "its call is not known", model.events.count(name) - used - empty),
        )

    return rule


_RULES = {
    EVENT_OF[Kind.CALLBACK_START]: _callback_starts,
    EVENT_OF[Kind.CALLBACK_END]: _callback_ends,
    EVENT_OF[Kind.WAIT]: _wait_begins,
    EVENT_OF[Kind.READY]: _wait_ends,
    EVENT_OF[Kind.EXECUTE]: _executes,
    EVENT_OF[Kind.RMW_PUBLISH]: _rmw_publishes,
    EVENT_OF[Kind.RCL_PUBLISH]: _rcl_publishes,
    EVENT_OF[Kind.RCLCPP_PUBLISH]: _rclcpp_publishes,
    EVENT_OF[Kind.INTRA_PUBLISH]: _intra_publishes,
    EVENT_OF[Kind.ENQUEUE]: _enqueues,
    EVENT_OF[Kind.DEQUEUE]: _dequeues,
    EVENT_OF[Kind.RMW_TAKE]: _rmw_takes,
    EVENT_OF[Kind.RCL_TAKE]: _rcl_takes,
    EVENT_OF[Kind.RCLCPP_TAKE]: _rclcpp_takes,
    **{
        EVENT_OF[kind]: _service_events(kind)
        for kind in (Kind.SEND_REQUEST, Kind.TAKE_REQUEST, Kind.SEND_RESPONSE, Kind.TAKE_RESPONSE)
    },
}
