# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a node sent or received, in numbers. Importing this needs no ROS."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NS = 1_000_000_000


class Flow:
    """Messages that pass one place: how many, how many bytes of payload, from when to when.

    Times are CLOCK_MONOTONIC, in ns.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.count = 0
        self.bytes = 0
        self.first_ns = 0
        self.last_ns = 0
        self._first_bytes = 0

    def add(self, at_ns: int, size: int) -> None:
        """Note a message with a payload of `size` bytes."""
        if not self.count:
            self.first_ns = at_ns
            self._first_bytes = size
        self.count += 1
        self.bytes += size
        self.last_ns = at_ns

    def as_json(self) -> dict[str, Any]:
        """Give the numbers; rates are of all after the first, null when less than two came.

        The first only begins the time in which the others come.
        """
        seconds = (self.last_ns - self.first_ns) / NS
        known = self.count > 1 and seconds > 0
        return {
            "bytes": self.bytes,
            "first_ns": self.first_ns if self.count else None,
            "last_ns": self.last_ns if self.count else None,
            "seconds": seconds,
            "messages_per_second": (self.count - 1) / seconds if known else None,
            "bytes_per_second": (self.bytes - self._first_bytes) / seconds if known else None,
        }


class Reception(Flow):
    """What a sink received, by the numbers of the messages."""

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self.reordered = 0
        self._highest = -1
        self._numbers: set[int] = set()

    def receive(self, number: int, at_ns: int, size: int) -> None:
        """Note message `number`."""
        self.add(at_ns, size)
        self._numbers.add(number)
        if number < self._highest:
            self.reordered += 1
        else:
            self._highest = number

    def lost(self, sent: int) -> int:
        """Count the numbers below `sent` that never came."""
        return sent - sum(number < sent for number in self._numbers)

    def as_json(self, sent: int | None = None) -> dict[str, Any]:
        """Give the numbers; `sent` is null where the source did not say how many it sent."""
        return {
            "received": self.count,
            "sent": sent,
            "lost": None if sent is None else self.lost(sent),
            "duplicates": self.count - len(self._numbers),
            "reordered": self.reordered,
            **super().as_json(),
        }


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a node's numbers; the directory need not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")
