# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of a message transfer: their names, where each begins and ends, in order.

A transfer's time from publish to the end of its callback, of a driver's message from the arrival of
its data, is cut at checkpoints. Every layer is made
of half-open intervals between checkpoints, and the layers of one message never overlap and leave no
gap: their durations add up to the latency exactly, in integer nanoseconds.

When a checkpoint was not recorded, the layers that it would part become one *merged* layer whose
name joins theirs with ``+``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layer:
    """One layer: its name in results, its column in `messages`, and its definition."""

    name: str
    column: str
    doc: str


DRIVER_QUEUE = Layer(
    "driver queue",
    "driver_queue_ns",
    "the data that completed a sensor's frame were at this host (in the socket's queue, or in the "
    "appsink) -> packet_received or buffer_pulled",
)
DRIVER = Layer(
    "driver",
    "driver_ns",
    "packet_received or buffer_pulled of these data -> publish",
)
CLIENT_PUBLISH = Layer(
    "client publish", "client_publish_ns", "rclcpp_publish or rcl_publish -> rmw_publish"
)
HISTORY = Layer(
    "history",
    "history_ns",
    "rmw_publish -> first send after the reader could be sent anything, of a message that was "
    "written before that (a late joiner's)",
)
SERIALIZE = Layer("serialize", "serialize_ns", "serialize_begin -> serialize_end")
DDS_WRITE = Layer(
    "dds write",
    "dds_write_ns",
    "rmw_publish -> serialize_begin, and serialize_end -> first send_begin of the sample; then as "
    "long as the sending thread was held up inside its send calls until the arrival (send_held_ns)",
)
TRANSPORT = Layer(
    "transport",
    "transport_ns",
    "first send_begin of the sample, and send_held_ns after it -> receive of its last fragment "
    "that came by a first transmission; the send of a local copy and the wait for the receiving "
    "thread included",
)
DDS_RECEIVE = Layer(
    "dds receive",
    "dds_receive_ns",
    "that receive -> reader_notify; waiting for fragments that were sent again included "
    "(resend_ns)",
)
WAKE_UP = Layer(
    "wake-up",
    "wake_up_ns",
    "between reader_notify and picked: the time in which the taking thread was still waiting for "
    "work",
)
MIDDLEWARE = Layer(
    "middleware",
    "middleware_ns",
    "rmw_publish -> reader_notify, where nothing in between was recorded. Without any event of the "
    "middleware, between rmw_publish and picked: the time in which the taking thread was waiting "
    "for work, so that the message was still with the middleware or on the wire",
)
EXECUTOR_WAIT = Layer(
    "executor wait",
    "executor_wait_ns",
    "between reader_notify (where it was not recorded, rmw_publish) and picked: the time in which "
    "the taking thread was not waiting; it ran other callbacks (see executor_blockers) or the "
    "executor itself",
)
TAKE = Layer("take", "take_ns", "rclcpp_executor_execute -> rmw_take, deserialization included")
CLIENT_TAKE = Layer("client take", "client_take_ns", "rmw_take -> callback_start")
CALLBACK = Layer(
    "callback", "callback_ns", "callback_start -> callback_end; of a coroutine, what it ran of that"
)
SUSPENDED = Layer(
    "suspended",
    "suspended_ns",
    "the time in which a coroutine callback (rclpy) awaited something and its thread did not run "
    "it: before its end, in a chain before the publish made from it",
)
HOLD = Layer(
    "hold",
    "hold_ns",
    "callback_start -> the publish made from this callback; of a coroutine, what it ran of that",
)
STORED = Layer(
    "stored",
    "stored_ns",
    "end of the callback that kept the message -> start of the callback that published from it; of "
    "a publish outside of callbacks, -> the publish",
)
LINK_HOLD = Layer(
    "link hold",
    "link_hold_ns",
    "start of the callback that published from stored messages (or the end of the callback that "
    "kept the last, when later) -> the publish",
)

MIDDLEWARE_EXECUTOR_WAIT = Layer(
    "middleware + executor wait",
    "middleware_executor_wait_ns",
    "rmw_publish -> rclcpp_executor_execute, where the taking thread's waits were not recorded",
)
EXECUTOR_WAIT_TAKE = Layer(
    "executor wait + take",
    "executor_wait_take_ns",
    "as executor wait, up to rmw_take, where rclcpp_executor_execute was not recorded",
)
MIDDLEWARE_EXECUTOR_WAIT_TAKE = Layer(
    "middleware + executor wait + take",
    "middleware_executor_wait_take_ns",
    "rmw_publish -> rmw_take, where neither the thread's waits nor its executes were recorded",
)

SERIALIZE_DDS_WRITE = Layer(
    "serialize + dds write",
    "serialize_dds_write_ns",
    "rmw_publish -> first send_begin, where the serialization was not recorded",
)
DDS_WRITE_TRANSPORT = Layer(
    "dds write + transport",
    "dds_write_transport_ns",
    "rmw_publish -> receive without serialize, where no send was recorded",
)
SERIALIZE_DDS_WRITE_TRANSPORT = Layer(
    "serialize + dds write + transport",
    "serialize_dds_write_transport_ns",
    "rmw_publish -> receive, where nothing in between was recorded",
)
TRANSPORT_DDS_RECEIVE = Layer(
    "transport + dds receive",
    "transport_dds_receive_ns",
    "first send_begin -> reader_notify, where no receive was recorded",
)
DDS_WRITE_TRANSPORT_DDS_RECEIVE = Layer(
    "dds write + transport + dds receive",
    "dds_write_transport_dds_receive_ns",
    "rmw_publish -> reader_notify without serialize, where neither send nor receive were recorded",
)
WAKE_UP_EXECUTOR_WAIT = Layer(
    "wake-up + executor wait",
    "wake_up_executor_wait_ns",
    "reader_notify -> rclcpp_executor_execute, where the taking thread's waits were not recorded",
)
WAKE_UP_EXECUTOR_WAIT_TAKE = Layer(
    "wake-up + executor wait + take",
    "wake_up_executor_wait_take_ns",
    "reader_notify -> rmw_take, where neither the thread's waits nor its executes were recorded",
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


# Layers of messages whose taking thread has no waits in the trace.
WITHOUT_WAITS: tuple[Layer, ...] = (
    MIDDLEWARE_EXECUTOR_WAIT,
    MIDDLEWARE_EXECUTOR_WAIT_TAKE,
    WAKE_UP_EXECUTOR_WAIT,
    WAKE_UP_EXECUTOR_WAIT_TAKE,
)

# Layers between two nodes that belong to neither: where they are is the topic.
BETWEEN_NODES: tuple[Layer, ...] = (
    DDS_WRITE_TRANSPORT,
    SERIALIZE_DDS_WRITE_TRANSPORT,
    TRANSPORT_DDS_RECEIVE,
    DDS_WRITE_TRANSPORT_DDS_RECEIVE,
    MIDDLEWARE,
    MIDDLEWARE_EXECUTOR_WAIT,
    MIDDLEWARE_EXECUTOR_WAIT_TAKE,
)

BETWEEN_HOSTS: tuple[Layer, ...] = BETWEEN_NODES[1:]
"""Layers that begin with the sender's clock and end with the reader's. *History* is all the
sender's."""

BY_NAME: dict[str, Layer] = {layer.name: layer for layer in (*HOP_LAYERS, STORED, LINK_HOLD, HOLD)}


def transfer_layers(hop: int) -> tuple[Layer, ...]:
    """Return the layers without its callback of a chain's hop, counted from 0.

    Only a chain's first message began with a driver: the others began with the message before.
    """
    return _LINKED_LAYERS if hop else TRANSFER_LAYERS
