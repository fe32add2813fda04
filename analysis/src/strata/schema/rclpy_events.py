# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of `rclpy:*` tracepoints: which pieces of a coroutine callback are one execution.

`rclpy_tracepoints` emits them for unmodified rclpy programs, beside the events of rclcpp. Source:
`tracing_ws/src/rclpy_tracepoints/src/events.h`; a test parses it against this catalogue.
"""

from __future__ import annotations

from strata.schema.event import Event, Field, Kind, Phase, handle

RCLPY_IDS = range(1 << 52, 1 << 53)
"""Ids that rclpy_tracepoints uses where rclcpp has addresses of callbacks, goals and their
callbacks.

No address of a process lies there.
"""

_FIELDS = (
    handle("callback", "as in ros2:callback_start"),
    Field("execution", Kind.UINT, "number, unique in the process, never reused"),
)

RCLPY_EVENTS: tuple[Event, ...] = (
    Event(
        "callback_suspend",
        Phase.RUNTIME,
        _FIELDS,
        "A coroutine callback awaits; emitted just before the callback_end of the piece that ran.",
        provider="rclpy",
    ),
    Event(
        "callback_resume",
        Phase.RUNTIME,
        _FIELDS,
        "It continues, possibly on another thread; emitted just before the callback_start of its "
        "next piece.",
        provider="rclpy",
    ),
)
