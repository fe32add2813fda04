# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of a message transfer: their names, where each begins and ends, in order.

A transfer's time from publish to the end of its callback is cut at checkpoints. Every layer is made
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


CLIENT_PUBLISH = Layer(
    "client publish", "client_publish_ns", "rclcpp_publish or rcl_publish -> rmw_publish"
)
MIDDLEWARE = Layer(
    "middleware",
    "middleware_ns",
    "between rmw_publish and picked: the time in which the taking thread was waiting for work, so "
    "that the message was still with the middleware or on the wire",
)
EXECUTOR_WAIT = Layer(
    "executor wait",
    "executor_wait_ns",
    "between rmw_publish and picked: the time in which the taking thread was not waiting; it ran "
    "other callbacks (see executor_blockers) or the executor itself",
)
TAKE = Layer("take", "take_ns", "rclcpp_executor_execute -> rmw_take, deserialization included")
CLIENT_TAKE = Layer("client take", "client_take_ns", "rmw_take -> callback_start")
CALLBACK = Layer("callback", "callback_ns", "callback_start -> callback_end")
HOLD = Layer("hold", "hold_ns", "callback_start -> the publish made from this callback")

MIDDLEWARE_EXECUTOR_WAIT = Layer(
    "middleware + executor wait",
    "middleware_executor_wait_ns",
    "rmw_publish -> rclcpp_executor_execute, where the taking thread's waits were not recorded",
)
EXECUTOR_WAIT_TAKE = Layer(
    "executor wait + take",
    "executor_wait_take_ns",
    "between rmw_publish and rmw_take: the time in which the taking thread was not waiting, where "
    "rclcpp_executor_execute was not recorded",
)
MIDDLEWARE_EXECUTOR_WAIT_TAKE = Layer(
    "middleware + executor wait + take",
    "middleware_executor_wait_take_ns",
    "rmw_publish -> rmw_take, where neither the thread's waits nor its executes were recorded",
)

# The layers of one hop, in the order in which a message meets them.
HOP_LAYERS: tuple[Layer, ...] = (
    CLIENT_PUBLISH,
    MIDDLEWARE,
    EXECUTOR_WAIT,
    MIDDLEWARE_EXECUTOR_WAIT,
    TAKE,
    EXECUTOR_WAIT_TAKE,
    MIDDLEWARE_EXECUTOR_WAIT_TAKE,
    CLIENT_TAKE,
    CALLBACK,
)

# The layers of a hop without its callback: what a chain is made of, beside hold.
TRANSFER_LAYERS: tuple[Layer, ...] = HOP_LAYERS[:-1]

BY_NAME: dict[str, Layer] = {layer.name: layer for layer in (*HOP_LAYERS, HOLD)}
