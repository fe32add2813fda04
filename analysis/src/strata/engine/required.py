# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace has to hold to be analyzed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from strata.errors import NoRos2Error
from strata.schema.events import PROVIDER


def has_ros2(counts: Mapping[str, int]) -> bool:
    """Return whether any event of ROS 2 is among those that are counted by name."""
    return any(name.startswith(f"{PROVIDER}:") for name in counts)


def require_ros2(path: Path, counts: Mapping[str, int]) -> None:
    """Raise NoRos2Error where a trace, of so many events by name, holds none of ROS 2."""
    if has_ros2(counts):
        return
    total = sum(counts.values())
    if not total:
        raise NoRos2Error(
            f"Cannot analyze {path}: the trace contains no events. Check that the session was "
            "started before the nodes and that they load the tracepoints (strata doctor)."
        )
    names = ", ".join(sorted({name.split(":")[0] for name in counts})[:5])
    raise NoRos2Error(
        f"Cannot analyze {path}: none of its {total} events is a {PROVIDER}:* event; they belong "
        f"to {names}. Record with the events ros2:* (strata record, ros2 trace)."
    )
