# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of the chain. Each is an ordinary ROS 2 node that its parameters configure.

Parameters of all: message (its type), reliability, durability, depth (QoS of the chain's topics),
work_ms (busy work in the callback), block_ms (a second subscription, `/slow`, whose callback sleeps
that long), log (directory of the node's own stamps; empty for none), force (replace stamps),
discovery_s (how long to look for the neighbours; 0 for ever).
Source: output, listeners (subscriptions there to wait for), rate (Hz), messages, payload (bytes),
peers (nodes that must be ready first). Relay: input, output, listeners. Sink: input, messages
(ends when it has them all), quiet_s (or when none came for that long after one). Distractor: rate
(Hz) of `/slow`.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from strata_interfaces.msg import Timing

from relay_chain.messages import make_message
from relay_chain.node import READY_TOPIC, SLOW_TOPIC, ChainNode


class _Sender(ChainNode):
    """A node that sends on `output`, once enough subscriptions are there."""

    def __init__(self, name: str, output: str) -> None:
        super().__init__(name)
        self._listeners = self.setting("listeners", 1, least=1)
        topic = self.setting("output", output)
        self._publisher = self.create_publisher(self.message_class, topic, self.qos)

    def missing(self) -> str | None:
        """Say that subscriptions are missing; null when all are there."""
        found = self._publisher.get_subscription_count()
        if found >= self._listeners:
            return None
        topic = self._publisher.topic_name
        if not found:
            return f"no subscription on {topic}"
        return f"{found} of {self._listeners} subscriptions on {topic}"


class Source(_Sender):
    """Sends numbered messages at a rate, once every peer is ready."""

    def __init__(self, name: str = "source") -> None:
        """Make a source."""
        super().__init__(name, "/chain_0")
        self._messages = self.setting("messages", 500, least=1)
        self._period_s = self.hz("rate", 100.0)
        self._peers = self.setting("peers", 0, least=0)
        payload = self.setting("payload", 1024, least=0)
        # One message, used again: filling the payload is no part of what is measured.
        self._message = make_message(self.message_class, self.get_name(), payload)
        self._next = 0
        self._timer = None

    def missing(self) -> str | None:
        """Say which peers are not there or not ready; null when all are."""
        missing = super().missing()
        if missing:
            return missing
        ready = self.count_publishers(READY_TOPIC)
        return None if ready >= self._peers else f"{ready} of {self._peers} peers are ready"

    def begin(self) -> None:
        """Start the timer."""
        # No callback of the measured run: the first message comes a period later.
        sys.stderr.write(f"{self.get_name()}: all connected, sending {self._messages} messages\n")
        self._timer = self.create_timer(self._period_s, self.on_timer)

    def on_timer(self) -> None:
        """Publish the next message."""
        started_ns = time.monotonic_ns()
        with self.calling:
            number = self._next
            if number >= self._messages:
                return
            self._next += 1
            if self._next == self._messages:
                self._timer.cancel()
            self._message.msgid = number
            self.work()
            stamp_ns = time.monotonic_ns()
            self._message.nanosec = stamp_ns
            self._publisher.publish(self._message)
            self.truth.add("cb_start", number, started_ns, stamp_ns)
            self.truth.add("publish", number, stamp_ns, stamp_ns)
            self.truth.add("cb_end", number, time.monotonic_ns(), stamp_ns)


class Relay(_Sender):
    """Publishes what it receives, at once."""

    def __init__(self, name: str = "relay") -> None:
        """Make a relay."""
        super().__init__(name, "/chain_1")
        self._subscription = self.create_subscription(
            self.message_class, self.setting("input", "/chain_0"), self.on_message, self.qos
        )

    def missing(self) -> str | None:
        """Say which neighbour is not there; null when all are."""
        missing = super().missing()
        if missing:
            return missing
        if not self._subscription.get_publisher_count():
            return f"no publisher on {self._subscription.topic_name}"
        return None

    def on_message(self, message: Any) -> None:
        """Pass a message on."""
        started_ns = time.monotonic_ns()
        with self.calling:
            self.work()
            stamp_ns = time.monotonic_ns()
            self._publisher.publish(message)
            self.truth.add("cb_start", message.msgid, started_ns, message.nanosec)
            self.truth.add("publish", message.msgid, stamp_ns, message.nanosec)
            self.truth.add("cb_end", message.msgid, time.monotonic_ns(), message.nanosec)


class Sink(ChainNode):
    """Receives; done when it has every message, or when they stopped coming."""

    def __init__(self, name: str = "sink") -> None:
        """Make a sink."""
        super().__init__(name)
        self.expected = self.setting("messages", 500, least=1)
        self._quiet_ns = round(self.setting("quiet_s", 5.0, least=0.0) * 1e9)
        self.received = 0
        self._last_ns = 0
        self._subscription = self.create_subscription(
            self.message_class, self.setting("input", "/chain_1"), self.on_message, self.qos
        )
        self._watch = self.create_timer(0.5, self.on_watch)

    def missing(self) -> str | None:
        """Say that the last relay is not there; null when it is."""
        if self._subscription.get_publisher_count():
            return None
        return f"no publisher on {self._subscription.topic_name}"

    def on_message(self, message: Any) -> None:
        """Count a message."""
        started_ns = time.monotonic_ns()
        with self.calling:
            self.work()
            self.received += 1
            self._last_ns = started_ns
            self.truth.add("cb_start", message.msgid, started_ns, message.nanosec)
            self.truth.add("cb_end", message.msgid, time.monotonic_ns(), message.nanosec)
            if self.received >= self.expected:
                self.finish()

    def on_watch(self) -> None:
        """End when no message came for long after one."""
        if self._last_ns and time.monotonic_ns() - self._last_ns > self._quiet_ns:
            self.finish(
                f"Cannot receive every message: {self.received} of {self.expected} came, then none "
                f"for {self._quiet_ns / 1e9:g} s. Lower the rate or the work, or raise the depth."
            )


class Distractor(ChainNode):
    """Publishes on `/slow`, for nodes that block on it."""

    def __init__(self, name: str = "distractor") -> None:
        """Make a distractor."""
        super().__init__(name)
        self._period_s = self.hz("rate", 5.0)
        self._publisher = self.create_publisher(Timing, SLOW_TOPIC, 10)
        self._timer = None
        self._sent = 0

    def missing(self) -> str | None:
        """Say that nobody listens; null when somebody does."""
        return (
            None if self._publisher.get_subscription_count() else f"no subscription on {SLOW_TOPIC}"
        )

    def begin(self) -> None:
        """Start the timer."""
        self._timer = self.create_timer(self._period_s, self.on_timer)

    def on_timer(self) -> None:
        """Publish the next message."""
        started_ns = time.monotonic_ns()
        with self.calling:
            number = self._sent
            self._sent += 1
            message = Timing(msgid=number, source=self.get_name())
            message.nanosec = stamp_ns = time.monotonic_ns()
            self._publisher.publish(message)
            self.truth.add("cb_start", number, started_ns, stamp_ns)
            self.truth.add("publish", number, stamp_ns, stamp_ns)
            self.truth.add("cb_end", number, time.monotonic_ns(), stamp_ns)
