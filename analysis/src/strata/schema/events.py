# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of all events that Strata knows, and the columns of their tables."""

from __future__ import annotations

from strata.schema.dds_events import DDS_EVENTS
from strata.schema.driver_events import DRIVER_EVENTS
from strata.schema.event import Event
from strata.schema.kernel_events import KERNEL_EVENTS
from strata.schema.rclpy_events import RCLPY_EVENTS
from strata.schema.ros2_events import ROS2_EVENTS
from strata.schema.statedump_events import STATEDUMP_EVENTS

PROVIDER = "ros2"
DDS_PROVIDER = "dds"
DRIVER_PROVIDER = "driver"
RCLPY_PROVIDER = "rclpy"

INTERNAL_TOPICS = frozenset({"/rosout", "/parameter_events", "ros_discovery_info"})
"""Topics that every node has; they have hops, but are not in the application's chains."""

EVENTS: tuple[Event, ...] = (
    *ROS2_EVENTS,
    *RCLPY_EVENTS,
    *DDS_EVENTS,
    *DRIVER_EVENTS,
    *STATEDUMP_EVENTS,
    *KERNEL_EVENTS,
)

CATALOGUE: dict[str, Event] = {event.full_name: event for event in EVENTS}

# Columns that every event table has before its fields.
CONTEXT_COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("timestamp", "int64", "ns since the epoch, by the trace's clock"),
    ("host", "dictionary", "host name that the trace was recorded on"),
    ("vpid", "int64", "process id; null when the context was not recorded"),
    ("vtid", "int64", "thread id; null when the context was not recorded"),
    ("procname", "dictionary", "thread's name, 15 characters; null when not recorded"),
    ("cpu_id", "int64", "CPU that the event was recorded on; null when not recorded"),
)


def column_name(event: str, field: str) -> str:
    """Return the column of an event table that holds a payload field.

    It is the field's own name, unless the catalogue renames it (`timestamp` of rmw_publish is
    `source_timestamp`, as `timestamp` is the event's own time) or a context has that name already:
    then a ``_`` goes before it.
    """
    for item in CATALOGUE[event].fields if event in CATALOGUE else ():
        if item.name == field:
            return item.column or field
    return f"_{field}" if field in {name for name, _, _ in CONTEXT_COLUMNS} else field
