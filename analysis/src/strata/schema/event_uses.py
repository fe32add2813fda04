# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What an event may be used for, and why it may not be used: the values of `event_uses.use`.

Every event of the providers `ros2`, `rclpy` and `driver` counts for exactly one. The uses of one
event name are tried in order: the first that applies is the event's.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Use:
    """A use: `code` is its name in C++, `text` is shown to users; if not `used`, it says why."""

    code: str
    used: bool
    text: str


_GRAPH = "of the middleware itself (graph topics)"
_OLDER = "of an endpoint created before the trace"
_UNANNOUNCED = "of an endpoint whose init event was lost"
_LOST = "its partner was lost"
_EARLIER = "its partner is before the trace"
_STORED = "a message was stored"
_GID = "names a GID; {}s are known by their handles"

_WORK = (
    Use("execution_begin", True, "begin of an execution"),
    Use(
        "execution_begin_without_end",
        True,
        "begin of an execution whose end is not known, as events were lost",
    ),
    Use(
        "execution_begin_thrown",
        True,
        "begin of an execution that did not return (its callback threw)",
    ),
    Use("execution_begin_last", True, "begin of an execution at the end of its thread"),
    Use("execution_end", True, "end of an execution"),
    Use("execution_end_doubtful", False, "may end a later execution, as events were lost"),
    Use("wait_begin", True, "begin of a wait"),
    Use("wait_end", True, "end of a wait"),
    Use("opening_wait_end", True, "end of a wait that began before the trace"),
    Use("look_for_more", False, "looked for more work without a wait"),
    Use("look_first", False, "its thread's first look for work"),
    Use("look_within", False, "looked for work within a callback that spins"),
    Use(
        "look_after_sending",
        False,
        "looked for work after the thread sent something outside of callbacks",
    ),
    Use("subscription_picked", True, "a subscription was picked"),
    Use(
        "loan_picked",
        False,
        "a subscription was picked whose take has no event (a loaned message)",
    ),
    Use("timer_picked", True, "a timer was picked"),
    Use("service_picked", True, "a service was picked"),
    Use("goal_picked", True, "a goal of an action was picked"),
    Use("client_picked", True, "a client was picked"),
    Use("callback_suspended", True, "a coroutine callback awaits"),
    Use("callback_resumed", True, "a coroutine callback continues"),
)
_MESSAGES = (
    Use("publication", True, "a publication"),
    Use("publication_unannounced", True, f"a publication {_UNANNOUNCED}"),
    Use("publication_older", True, f"a publication {_OLDER}"),
    Use("publication_begin", True, "begin of a publication"),
    Use("publication_begin_unannounced", True, f"begin of a publication {_UNANNOUNCED}"),
    Use("publication_begin_older", True, f"begin of a publication {_OLDER}"),
    Use("publisher_gid", False, _GID.format("publisher")),
    Use("subscription_gid", False, _GID.format("subscription")),
    Use("of_middleware", False, _GRAPH),
    Use("unannounced", False, _UNANNOUNCED),
    Use("intra_process_copy", True, "a copy of an intra-process message"),
    Use("take", True, "a take"),
    Use("take_unannounced", True, f"a take {_UNANNOUNCED}"),
    Use("take_older", True, f"a take {_OLDER}"),
    Use("nothing_taken", False, "nothing was taken"),
    Use("take_of_middleware", False, "no source timestamp (graph topics)"),
    Use("take_without_stamp", False, "no source timestamp: nothing to match it by"),
    Use("repeats_take", False, "repeats rmw_take, which has more fields"),
)
_RING_BUFFERS = (
    Use("stored", True, _STORED),
    Use("stored_overwritten", True, f"{_STORED} that another one overwrote"),
    Use("stored_cleared", True, f"{_STORED} that was cleared away"),
    Use("stored_left", True, f"{_STORED} that was left at the end"),
    Use("stored_by_publisher", False, "a publisher's own buffer (transient local)"),
    Use("take_lost", True, f"a take: {_LOST}"),
    Use("take_earlier", True, f"a take: {_EARLIER}"),
    Use("cleared", False, "what was cleared is never dequeued"),
)
_SERVICE_CALLS = (
    Use("service_call", True, "a service call"),
    Use("request_untaken", True, "a request that nothing took"),
    Use(
        "request_unannounced",
        True,
        "a request of a client that was created before the trace or whose init event was lost",
    ),
    Use("request_of_absent", True, "a request of a client that is not in the trace"),
    Use(
        "request_early",
        True,
        "a request that was taken before its send event, at the end of the trace",
    ),
)
_ENTITIES = (
    Use("entity", True, "an entity, or a link between entities"),
    Use("known", False, "says again, as a session started, what the trace has already"),
    Use("lifecycle_copy", False, "names a service of a lifecycle node by a copy of its handle"),
    Use(
        "spin_timer",
        False,
        "has no callback and was never picked (rclpy: a spin with a timeout)",
    ),
    Use("init_lost", False, "its rcl init event was lost"),
    Use("init_beyond", False, "the trace ends before its rcl init event"),
    Use("names_lost", False, "names something created while events were lost"),
    Use("names_older", False, "names something created before the trace"),
    Use("node_state", True, "a state of a node"),
    Use("unknown_node_state", True, "a state of a node that is not known"),
)
_DRIVER = (
    Use("source", True, "a source of sensor data"),
    Use("frame_completed", True, "completed a frame"),
    Use("packet", True, "a packet of a frame"),
    Use("packet_inferred", True, "what a message was inferred to be made from"),
    Use("packet_counted", True, "counted; its driver reports no frames"),
    Use("packet_left", False, "of a frame that was incomplete when the trace ended"),
    Use("completes_frame", True, "completes a frame"),
    Use("frame", True, "a frame"),
    Use("frame_in_message", True, "a frame is in a message"),
)
_REST = (
    Use("partner_lost", False, _LOST),
    Use("partner_earlier", False, _EARLIER),
    Use(
        "spin_over",
        False,
        "its executor stopped spinning after the wait (timeout, cancel or shutdown): it looked "
        "for no work",
    ),
    Use("executor_last", False, "the last event of the thread's executor"),
    Use("thread_last", False, "the last event of its thread"),
    Use(
        "nothing_picked",
        False,
        "nothing was taken or called: the thread went on, or its events end",
    ),
    Use("publish_unfinished", False, "its thread ends before its rmw_publish"),
    Use("publish_raised", False, "rclpy's publish() raised, nothing was sent"),
    Use("publish_refused", False, "publish() after the context was shut down: refused"),
    Use("frame_untold", True, "a frame without further events"),
    Use("unexplained", False, "unexplained"),
)

USES: tuple[Use, ...] = (
    *_WORK,
    *_MESSAGES,
    *_RING_BUFFERS,
    *_SERVICE_CALLS,
    *_ENTITIES,
    *_DRIVER,
    *_REST,
)
