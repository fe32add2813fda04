# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The messages that the chain can send. Importing this needs no ROS."""

from __future__ import annotations

import array
from typing import Any

VARIABLE = "Timing"
FIXED = {
    256: "TimingFixed256",
    64 << 10: "TimingFixed64k",
    1 << 20: "TimingFixed1m",
    4 << 20: "TimingFixed4m",
}
"""Plain types of a fixed size, by the bytes of their payload."""


def message_class(name: str) -> type[Any]:
    """Import a message's class.

    Raises ValueError for a name that is none of the chain's.
    """
    if name != VARIABLE and name not in FIXED.values():
        raise ValueError(f"{name!r} is none of {', '.join([VARIABLE, *FIXED.values()])}")
    from strata_interfaces import msg

    found: type[Any] = getattr(msg, name)
    return found


def make_message(kind: type[Any], source: str, payload: int) -> Any:
    """Make a message of zeros; `payload` is in bytes, and of no effect on a fixed size."""
    if kind.__name__ == VARIABLE:
        # An array, not a list: rclpy then copies memory, not one object a byte.
        return kind(source=source, payload=array.array("B", bytes(payload)))
    return kind()
