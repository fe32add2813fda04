# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The order in which events with the same time are processed: as they cause each other on one
thread."""

from __future__ import annotations

from strata.schema.event import Phase
from strata.schema.events import EVENTS

RUNTIME_ORDER = (
    "rclpy:callback_suspend",
    "ros2:callback_end",
    "ros2:rmw_send_response",
    "ros2:rclcpp_executor_wait_for_work",
    "dds:wait_begin",
    "dds:wait_end",
    "ros2:rclcpp_executor_get_next_ready",
    "ros2:rclcpp_executor_execute",
    "dds:take_begin",
    "dds:deserialize_begin",
    "dds:deserialize_end",
    "dds:take_end",
    "dds:take_related",
    "ros2:rmw_take",
    "ros2:rmw_take_request",
    "ros2:rmw_take_response",
    "ros2:rcl_take",
    "ros2:rclcpp_take",
    "ros2:rclcpp_ring_buffer_dequeue",
    "rclpy:callback_resume",
    "ros2:callback_start",
    "driver:packet_received",
    "driver:buffer_pulled",
    "driver:frame_boundary",
    "driver:cloud_ready",
    "driver:copy_done",
    "ros2:rclcpp_intra_publish",
    "ros2:rclcpp_ring_buffer_enqueue",
    "ros2:rclcpp_publish",
    "ros2:rcl_publish",
    "ros2:rmw_publish",
    "dds:write_related",
    "dds:write_begin",
    "dds:serialize_begin",
    "dds:serialize_end",
    "dds:writer_history_add",
    "dds:send_begin",
    "dds:send_sample",
    "dds:send_end",
    "dds:receive",
    "dds:receive_sample",
    "dds:reader_history_add",
    "dds:reader_notify",
    "dds:write_end",
    "ros2:rmw_send_request",
)
"""Runtime events whose order matters. All others come after them; events that create entities come
before."""


_NO_STEPS = frozenset(
    {
        "dds:take_related",
        "dds:write_related",
        "dds:send_sample",
        "dds:receive",
        "dds:receive_sample",
        "dds:reader_history_add",
        "dds:reader_notify",
    }
)
STEPS = frozenset(RUNTIME_ORDER) - _NO_STEPS
"""What threads do with messages, callbacks and data: the others happen in parallel."""

_FIRST_INITS = (
    ("ros2:rcl_init",),
    ("ros2:rcl_node_init",),
    (
        "ros2:rmw_publisher_init",
        "ros2:rmw_subscription_init",
        "ros2:rmw_client_init",
        "dds:create_writer",
        "dds:create_reader",
    ),
    (
        "ros2:rcl_publisher_init",
        "ros2:rcl_subscription_init",
        "ros2:rcl_service_init",
        "ros2:rcl_client_init",
        "ros2:rcl_timer_init",
    ),
)
"""Events that create the entities that other init events name."""


def causal_rank() -> dict[str, int]:
    """Return the rank of each event of the catalogue; equal ranks keep the order of the trace."""
    inits = {name: number for number, names in enumerate(_FIRST_INITS) for name in names}
    first = len(_FIRST_INITS)
    rank = {name: number for number, name in enumerate(RUNTIME_ORDER, start=first + 1)}
    last = first + len(RUNTIME_ORDER) + 1
    return {
        event.full_name: inits.get(event.full_name, first)
        if event.phase is Phase.INIT
        else rank.get(event.full_name, last)
        for event in EVENTS
    }
