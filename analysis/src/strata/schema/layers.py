# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of a message transfer: their names, where each begins and ends, in order.

A transfer's time from publish (for a driver's message, from the arrival of its data) to the end of
its callback is divided at checkpoints (strata.schema.checkpoints). Every layer consists of
half-open intervals between checkpoints, and the layers of one message never overlap and leave no
gap: their durations add up to the latency exactly, in integer nanoseconds.

When a checkpoint was not recorded, the layers on both sides of it become one *merged* layer whose
name joins theirs with ``+``. `ROUTES` define which layers lie between which checkpoints; what is
not a plain interval has a route of its own, or a checkpoint defined by a rule (`WOKE`, `SENDABLE`).
"""

from __future__ import annotations

from strata.schema import checkpoints as at
from strata.schema.checkpoints import Side, Thread
from strata.schema.layer import Layer, Owner, Place, Route, merged

DRIVER_QUEUE = Layer(
    "driver queue",
    "driver_queue_ns",
    "the data that completed a sensor's frame were at this host (in the socket's queue, or in the "
    "appsink) -> packet_received or buffer_pulled",
    begin=at.ARRIVED,
    end=at.READ,
    place=Place.SOURCE,
    owner=Owner.HOP,
    waits=True,
    colour="#b3123f",
)
DRIVER = Layer(
    "driver",
    "driver_ns",
    "packet_received or buffer_pulled of these data -> publish",
    begin=at.READ,
    end=at.PUBLISH,
    thread=Thread.PUBLISHER,
    place=Place.PUBLISHER,
    owner=Owner.HOP,
    colour="#f2a0a1",
)
CLIENT_PUBLISH = Layer(
    "client publish",
    "client_publish_ns",
    "rclcpp_publish or rcl_publish -> rmw_publish",
    begin=at.PUBLISH,
    end=at.RMW_PUBLISH,
    thread=Thread.PUBLISHER,
    place=Place.PUBLISHER,
    colour="#56b4e9",
)
SERIALIZE = Layer(
    "serialize",
    "serialize_ns",
    "serialize_begin -> serialize_end",
    begin=at.SERIALIZE_BEGIN,
    end=at.SERIALIZE_END,
    thread=Thread.PUBLISHER,
    place=Place.WRITER,
    colour="#f0e442",
)
DDS_WRITE = Layer(
    "dds write",
    "dds_write_ns",
    "rmw_publish -> serialize_begin, and serialize_end -> first send_begin of the sample; plus "
    "the time that the sending thread was held up inside its send calls until the arrival "
    "(send_held_ns)",
    begin=at.SERIALIZE_END,
    end=at.SEND,
    thread=Thread.PUBLISHER,
    place=Place.WRITER,
    colour="#117733",
)
HISTORY = Layer(
    "history",
    "history_ns",
    "rmw_publish -> first send after the reader became reachable, for a message written before "
    "that (to a late joiner)",
    begin=at.RMW_PUBLISH,
    end=at.SENDABLE,
    place=Place.WAY,
    waits=True,
    colour="#a0a4b8",
    holds=(SERIALIZE, DDS_WRITE),
)
TRANSPORT = Layer(
    "transport",
    "transport_ns",
    "first send_begin of the sample plus send_held_ns -> receive of its last fragment that "
    "arrived by a first transmission; includes the send of a local copy and the wait for the "
    "receiving thread",
    begin=at.SEND,
    end=at.RECEIVE,
    thread=Thread.RECEIVER,
    place=Place.CARRIED,
    waits=True,
    colour="#3f7fe0",
)
DDS_RECEIVE = Layer(
    "dds receive",
    "dds_receive_ns",
    "that receive -> reader_notify; includes waiting for fragments that were sent again "
    "(resend_ns)",
    begin=at.RECEIVE,
    end=at.NOTIFY,
    thread=Thread.RECEIVER,
    place=Place.READER,
    colour="#88d8c0",
)
WAKE_UP = Layer(
    "wake-up",
    "wake_up_ns",
    "between reader_notify and picked: the time in which the taking thread was still waiting for "
    "work",
    begin=at.NOTIFY,
    end=at.WOKE,
    thread=Thread.TAKER,
    place=Place.NODE,
    owner=Owner.HOP,
    waits=True,
    colour="#882d7e",
)
MIDDLEWARE = Layer(
    "middleware",
    "middleware_ns",
    "rmw_publish -> reader_notify, where nothing in between was recorded. Without any middleware "
    "event, between rmw_publish and picked: the time in which the taking thread was waiting for "
    "work, so the message was still in the middleware or on the wire",
    begin=at.RMW_PUBLISH,
    end=at.WOKE,
    colour="#0072b2",
    parts=(SERIALIZE, DDS_WRITE, TRANSPORT, DDS_RECEIVE),
)
EXECUTOR_WAIT = Layer(
    "executor wait",
    "executor_wait_ns",
    "between reader_notify (where it was not recorded, rmw_publish) and picked: the time in which "
    "the taking thread was not waiting; it ran other callbacks (see executor_blockers) or the "
    "executor itself",
    begin=at.WOKE,
    end=at.PICKED,
    thread=Thread.TAKER,
    place=Place.NODE,
    owner=Owner.EXECUTOR,
    waits=True,
    colour="#e69f00",
)
TAKE = Layer(
    "take",
    "take_ns",
    "rclcpp_executor_execute -> rmw_take, including deserialization",
    begin=at.PICKED,
    end=at.TAKE,
    thread=Thread.TAKER,
    place=Place.NODE,
    owner=Owner.HOP,
    colour="#009e73",
)
CLIENT_TAKE = Layer(
    "client take",
    "client_take_ns",
    "rmw_take -> callback_start",
    begin=at.TAKE,
    end=at.START,
    thread=Thread.TAKER,
    place=Place.NODE,
    owner=Owner.HOP,
    colour="#6b6b6b",
)
CALLBACK = Layer(
    "callback",
    "callback_ns",
    "callback_start -> callback_end; of a coroutine, only the time in which it ran",
    begin=at.START,
    end=at.END,
    thread=Thread.RUNNER,
    place=Place.CALLBACK,
    owner=Owner.HOP,
    colour="#cc79a7",
)
SUSPENDED = Layer(
    "suspended",
    "suspended_ns",
    "the time in which a coroutine callback (rclpy) awaited something and its thread did not run "
    "it: up to its end, or in a chain up to the publish made from it",
    begin=at.START,
    place=Place.CALLBACK,
    owner=Owner.HOP,
    colour="#d9c2d4",
)
HOLD = Layer(
    "hold",
    "hold_ns",
    "callback_start -> the publish made from this callback; of a coroutine, only the time in "
    "which it ran",
    begin=at.START,
    end=at.PUBLISH,
    thread=Thread.PUBLISHER,
    place=Place.CALLBACK,
    owner=Owner.HOP,
    colour="#d55e00",
)
STORED = Layer(
    "stored",
    "stored_ns",
    "end of the callback that stored the message -> start of the callback that published from "
    "it; for a publish outside of callbacks, -> that publish",
    begin=at.END,
    end=at.START,
    place=Place.STORE,
    owner=Owner.HOP,
    waits=True,
    colour="#a58d5f",
)
LINK_HOLD = Layer(
    "link hold",
    "link_hold_ns",
    "start of the callback that published from stored messages (or the end of the callback that "
    "stored the last one, if later) -> the publish",
    begin=at.START,
    end=at.PUBLISH,
    place=Place.LINKED_CALLBACK,
    owner=Owner.HOP,
    colour="#9e2a2b",
)

MIDDLEWARE_EXECUTOR_WAIT = merged(
    "rmw_publish -> rclcpp_executor_execute, where the taking thread's waits were not recorded",
    "#5b4fc4",
    MIDDLEWARE,
    EXECUTOR_WAIT,
)
EXECUTOR_WAIT_TAKE = merged(
    "as executor wait, up to rmw_take, where rclcpp_executor_execute was not recorded",
    "#8c5a1e",
    EXECUTOR_WAIT,
    TAKE,
)
MIDDLEWARE_EXECUTOR_WAIT_TAKE = merged(
    "rmw_publish -> rmw_take, where neither the thread's waits nor its executes were recorded",
    "#3b2f8f",
    MIDDLEWARE,
    EXECUTOR_WAIT,
    TAKE,
)

SERIALIZE_DDS_WRITE = merged(
    "rmw_publish -> first send_begin, where the serialization was not recorded",
    "#6b8e23",
    SERIALIZE,
    DDS_WRITE,
)
DDS_WRITE_TRANSPORT = merged(
    "rmw_publish -> receive without serialize, where no send was recorded",
    "#1a6b8a",
    DDS_WRITE,
    TRANSPORT,
)
SERIALIZE_DDS_WRITE_TRANSPORT = merged(
    "rmw_publish -> receive, where nothing in between was recorded",
    "#2a4d69",
    SERIALIZE,
    DDS_WRITE,
    TRANSPORT,
)
TRANSPORT_DDS_RECEIVE = merged(
    "first send_begin -> reader_notify, where no receive was recorded",
    "#5b9ea6",
    TRANSPORT,
    DDS_RECEIVE,
)
DDS_WRITE_TRANSPORT_DDS_RECEIVE = merged(
    "rmw_publish -> reader_notify without serialize, where neither send nor receive were recorded",
    "#1d3557",
    DDS_WRITE,
    TRANSPORT,
    DDS_RECEIVE,
)
WAKE_UP_EXECUTOR_WAIT = merged(
    "reader_notify -> rclcpp_executor_execute, where the taking thread's waits were not recorded",
    "#b5651d",
    WAKE_UP,
    EXECUTOR_WAIT,
)
WAKE_UP_EXECUTOR_WAIT_TAKE = merged(
    "reader_notify -> rmw_take, where neither the thread's waits nor its executes were recorded",
    "#6f3d12",
    WAKE_UP,
    EXECUTOR_WAIT,
    TAKE,
)

DDS_LAYERS: tuple[Layer, ...] = (SERIALIZE, DDS_WRITE, TRANSPORT, DDS_RECEIVE)
"""What the middleware layer is made of, where its own events were recorded."""

DRIVER_LAYERS: tuple[Layer, ...] = (DRIVER_QUEUE, DRIVER)
"""What comes before the publish of a message that a driver made of sensor data."""

# The layers of one hop, in the order in which a message meets them.
HOP_LAYERS: tuple[Layer, ...] = (
    *DRIVER_LAYERS,
    CLIENT_PUBLISH,
    HISTORY,
    SERIALIZE,
    DDS_WRITE,
    SERIALIZE_DDS_WRITE,
    TRANSPORT,
    DDS_WRITE_TRANSPORT,
    SERIALIZE_DDS_WRITE_TRANSPORT,
    DDS_RECEIVE,
    TRANSPORT_DDS_RECEIVE,
    DDS_WRITE_TRANSPORT_DDS_RECEIVE,
    MIDDLEWARE,
    WAKE_UP,
    EXECUTOR_WAIT,
    WAKE_UP_EXECUTOR_WAIT,
    MIDDLEWARE_EXECUTOR_WAIT,
    TAKE,
    EXECUTOR_WAIT_TAKE,
    WAKE_UP_EXECUTOR_WAIT_TAKE,
    MIDDLEWARE_EXECUTOR_WAIT_TAKE,
    CLIENT_TAKE,
    SUSPENDED,
    CALLBACK,
)

# The layers of a hop without its callback: what a chain is made of, beside hold.
TRANSFER_LAYERS: tuple[Layer, ...] = HOP_LAYERS[:-2]

_LINKED_LAYERS = TRANSFER_LAYERS[len(DRIVER_LAYERS) :]


WITHOUT_WAITS: tuple[Layer, ...] = tuple(
    layer for layer in HOP_LAYERS if layer.owner is Owner.UNDIVIDED
)
"""Layers of messages whose taking thread has no waits in the trace."""

BASIC_LAYERS: tuple[Layer, ...] = tuple(layer for layer in HOP_LAYERS if not layer.parts)
"""The layers of one hop that are not merged."""

WITH_EXECUTOR_WAIT: tuple[Layer, ...] = tuple(
    layer for layer in HOP_LAYERS if layer.has(EXECUTOR_WAIT)
)
"""What the thread ran during these is reported as a separate cause."""

BETWEEN_HOSTS: tuple[Layer, ...] = tuple(
    layer
    for layer in HOP_LAYERS
    if layer.begin
    and layer.end
    and (layer.begin.side, layer.end.side) == (Side.SENDER, Side.READER)
)
"""Layers that begin with the sender's clock and end with the reader's."""

BY_NAME: dict[str, Layer] = {layer.name: layer for layer in (*HOP_LAYERS, STORED, LINK_HOLD, HOLD)}

OF_ONE_THREAD: tuple[Layer, ...] = tuple(
    layer for layer in BY_NAME.values() if layer.thread and layer not in DDS_LAYERS
)
"""Layers in which the activity of one thread is known; by samples of its counters, also in those
within the middleware."""

IN_NODE: tuple[Layer, ...] = tuple(
    layer for layer in BY_NAME.values() if layer.begin in (at.ARRIVED, at.READ, at.START, at.END)
)
"""Layers spent in a node itself: in a driver or a callback. The others are the path to it."""

_BEFORE = (at.PUBLISH, CLIENT_PUBLISH, at.RMW_PUBLISH)
_FROM_WOKE = (at.WOKE, EXECUTOR_WAIT, at.PICKED, TAKE, at.TAKE, CLIENT_TAKE, at.START)
_AFTER = (*_FROM_WOKE, CALLBACK, at.END)
_RECEIVED = (at.RECEIVE, DDS_RECEIVE, at.NOTIFY, WAKE_UP, *_AFTER)

STOCK = Route.of(
    "stock",
    "The reader's notification is not known: all time before the pick is divided by what the "
    "executor did, regardless of middleware events.",
    *_BEFORE,
    MIDDLEWARE,
    *_AFTER,
)
TRACED = Route.of(
    "traced",
    "The reader's notification is known.",
    *_BEFORE,
    DDS_WRITE,
    at.SERIALIZE_BEGIN,
    SERIALIZE,
    at.SERIALIZE_END,
    DDS_WRITE,
    at.SEND,
    TRANSPORT,
    *_RECEIVED,
)
LOANED = Route.of(
    "loaned",
    "The message was already in the middleware's memory: it is not serialized.",
    *_BEFORE,
    DDS_WRITE,
    at.SEND,
    TRANSPORT,
    *_RECEIVED,
)
FROM_HISTORY = Route.of(
    "from history",
    "Written before its reader was reachable (native/model/dds/ways.hpp), serialized long before "
    "its send: the send ends the wait.",
    *_BEFORE,
    HISTORY,
    at.SEND,
    TRANSPORT,
    *_RECEIVED,
)
FROM_HISTORY_UNSENT = Route.of(
    "from history, unsent",
    "Like from history, where its own send was not recorded.",
    *_BEFORE,
    HISTORY,
    at.SENDABLE,
    DDS_WRITE,
    at.SEND,
    TRANSPORT,
    *_RECEIVED,
)
INTRA_PROCESS = Route.of(
    "intra-process",
    "Ready for its reader as soon as it is stored; the dequeue is both pick and take.",
    *_BEFORE,
    WAKE_UP,
    *_AFTER,
    merged_only=(TAKE,),
)

ROUTES: tuple[Route, ...] = (
    STOCK,
    TRACED,
    LOANED,
    FROM_HISTORY,
    FROM_HISTORY_UNSENT,
    INTRA_PROCESS,
)
"""The routes of messages from their publish on; the layers before that are `DRIVER_LAYERS`."""


def transfer_layers(hop: int) -> tuple[Layer, ...]:
    """Return the layers of a chain's hop, counted from 0, without its callback.

    Only a chain's first message began with a driver: the others began with the message before.
    """
    return _LINKED_LAYERS if hop else TRANSFER_LAYERS
