# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Words and kinds of the spans of a timeline, and whose thread each layer lies on."""

from __future__ import annotations

from functools import lru_cache

from strata.schema.checkpoints import Thread
from strata.schema.layer import Layer, Place
from strata.schema.layers import (
    BY_NAME,
    CALLBACK,
    CLIENT_PUBLISH,
    CLIENT_TAKE,
    DRIVER,
    DRIVER_QUEUE,
    EXECUTOR_WAIT,
    HOLD,
    LINK_HOLD,
    MIDDLEWARE,
    STORED,
    SUSPENDED,
    TAKE,
    TRANSPORT,
    WAKE_UP,
)
from strata.schema.rows import NONE, Rows
from strata.stats.callbacks import UNKNOWN, describe
from strata.stats.causes import OTHERS
from strata.stats.places import takes_of
from strata.symbols import shorten_place
from strata.timeline.columns import Kept

_SINGLE = {
    DRIVER_QUEUE: "driver",
    DRIVER: "driver",
    CLIENT_PUBLISH: "publish",
    MIDDLEWARE: "middleware",
    TAKE: "take",
    CLIENT_TAKE: "take",
    CALLBACK: "callback",
    HOLD: "hold",
    LINK_HOLD: "hold",
    SUSPENDED: "suspended",
    STORED: "stored",
}
_MERGED = ((EXECUTOR_WAIT, "executor wait"), (WAKE_UP, "wake-up"), (TRANSPORT, "transport"))


def _kind(layer: Layer) -> str:
    if layer in _SINGLE:
        return _SINGLE[layer]
    return next((kind for part, kind in _MERGED if layer.has(part)), "middleware")


KINDS: dict[str, str] = {name: _kind(layer) for name, layer in BY_NAME.items()}
"""What happens in each layer (by its name), in the words of `Span.kind`."""

SENDER, TAKER, RUNNER, FOLLOWING, BETWEEN, SOURCE = (
    "sender",
    "taker",
    "runner",
    "following",
    "between",
    "source",
)
"""Whose lane a layer lies on: of the thread that publishes, takes, runs the callback, or publishes
the next message; of what is in transit or waits; of sensor data before their driver."""

_OF_THREAD = {Thread.PUBLISHER: SENDER, Thread.TAKER: TAKER, Thread.RUNNER: RUNNER}


def _lane(layer: Layer) -> str:
    if layer is DRIVER_QUEUE:
        return SOURCE
    if layer in (HOLD, LINK_HOLD):
        return FOLLOWING
    parts = layer.basic
    owners = {_OF_THREAD.get(part.thread) if part.thread else None for part in parts}
    if any(part.waits for part in parts) or len(owners) > 1:
        return BETWEEN
    return owners.pop() or BETWEEN


LANES: dict[str, str] = {name: _lane(layer) for name, layer in BY_NAME.items()}
"""On which lane each layer (by its name) lies; who waits, or is in transit, is on no thread."""


class Labels:
    """What spans are called; symbols are shortened."""

    def __init__(self, messages: Kept, objects: Rows) -> None:
        """Take the tables `messages` and `callback_objects`."""
        self._messages, self._objects = messages, objects
        self.callback = lru_cache(maxsize=None)(self._callback)

    def _callback(self, callback_id: int) -> str:
        if not 0 <= callback_id < len(self._objects):
            return UNKNOWN
        return shorten_place(describe(self._objects.record(callback_id)))

    def take(self, callback_id: int) -> str:
        """Name the taking of messages for a callback."""
        return takes_of(self.callback(callback_id))

    def behind(self, callback_id: int, work: str) -> str:
        """Name what a message waited behind: a row of `executor_blockers`."""
        if callback_id == NONE:
            return OTHERS
        return self.take(callback_id) if work == "take" else self.callback(callback_id)

    def topic(self, message: int) -> str:
        """Name the topic of a message."""
        return self._messages.text("topic", message) or UNKNOWN

    def sender(self, message: int) -> str:
        """Name the node that published a message."""
        return self._messages.text("publisher_node", message) or UNKNOWN

    def reader(self, message: int) -> str:
        """Name the node that took a message."""
        return self._messages.text("subscription_node", message) or UNKNOWN

    def source(self, message: int) -> str:
        """Name where a message's sensor data came from."""
        return self._messages.text("driver_source", message) or self.topic(message)

    def of(self, layer: Layer, message: int, following: int) -> str:
        """Name what a layer of a message is about; `following` is the next message, or `NONE`."""
        if layer.place is Place.CALLBACK:
            return self._of_callback("callback_id", message, self.reader(message))
        if layer.place is Place.LINKED_CALLBACK and following != NONE:
            return self._of_callback("publisher_callback_id", following, self.reader(message))
        if layer.place is Place.SOURCE:
            return self.source(message)
        if layer.place is Place.NODE:
            return self.reader(message)
        if layer.place is Place.PUBLISHER:
            return self.sender(message)
        return self.topic(message)

    def _of_callback(self, column: str, message: int, node: str) -> str:
        callback = self._messages.number(column, message)
        return node if callback == NONE else self.callback(callback)
