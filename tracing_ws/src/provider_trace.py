# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Traces a program and reads its events with their types."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import bt2
from traced_ros import Lttng, Ros


class Event(NamedTuple):
    """An event's name without its provider, and its fields."""

    name: str
    fields: dict[str, Any]


def trace(
    lttng: Lttng, ros: Ros, environment: dict[str, str], *arguments: str | Path
) -> tuple[str, list[Event]]:
    """Trace all `ros2` events of a Python program; return its output and its events in order."""
    done, output = lttng.record(ros, *arguments, environment=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout, read(output) if any(output.rglob("metadata")) else []


def read(output: Path) -> list[Event]:
    """Return a trace's events in order; none may have been discarded."""
    events = []
    for message in bt2.TraceCollectionMessageIterator(str(output)):
        assert type(message) is not bt2._DiscardedEventsMessageConst, "events were discarded"
        if type(message) is bt2._EventMessageConst:
            payload = message.event.payload_field
            fields = {
                # Static arrays become lists of integers; the rest is compared by value.
                name: [int(item) for item in value]
                if isinstance(value, bt2._ArrayFieldConst)
                else str(value)
                if isinstance(value, bt2._StringFieldConst)
                else int(value)
                for name, value in payload.items()
            }
            events.append(Event(message.event.name.removeprefix("ros2:"), fields))
    return events
