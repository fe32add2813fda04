# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The messages that the chain can send. Importing this needs no ROS."""

from __future__ import annotations

import array
from typing import Any

VARIABLE = "Timing"
FIXED = {
    256: "TimingFixed256",
    1 << 10: "TimingFixed1k",
    4 << 10: "TimingFixed4k",
    16 << 10: "TimingFixed16k",
    64 << 10: "TimingFixed64k",
    256 << 10: "TimingFixed256k",
    1 << 20: "TimingFixed1m",
    4 << 20: "TimingFixed4m",
}
"""Plain types of a fixed size, by the bytes of their payload."""


def message_name(kind: str, payload: int) -> str:
    """Name the type whose payload has that many bytes; `kind` is unbounded or fixed.

    Raises ValueError when there is none.
    """
    if kind == "unbounded":
        return VARIABLE
    if payload not in FIXED:
        raise ValueError(f"no type of fixed size has a payload of {payload} bytes: {fixed_sizes()}")
    return FIXED[payload]


def fixed_sizes() -> str:
    """List the payloads of the types of fixed size, in bytes."""
    *others, last = FIXED
    return f"{', '.join(map(str, others))} or {last}"


def message_class(name: str) -> type[Any]:
    """Import a message's class by its name."""
    from strata_interfaces import msg

    found: type[Any] = getattr(msg, name)
    return found


def make_message(kind: type[Any], source: str, payload: int) -> Any:
    """Make a message of zeros; `payload` is in bytes, and of no effect on a fixed size."""
    if kind.__name__ == VARIABLE:
        # An array, not a list: rclpy then copies memory, not one object a byte.
        return kind(source=source, payload=array.array("B", bytes(payload)))
    return kind()
