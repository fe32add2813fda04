# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of the chain. Each is an ordinary ROS 2 node that its parameters configure.

Parameters of all: type (of the messages: unbounded, or fixed for the plain type whose payload has
just the bytes of payload), payload (bytes), reliability, durability, history, depth (QoS of the
chain's topics), work_ms (busy work in the callback), block_ms (a second subscription, `/slow`,
whose callback sleeps that long), log (directory of the node's own stamps and summary; empty for
none), stamps (whether stamps are kept), force (replace them), losses (refuse or count: whether
what did not come is a fault, or a result), discovery_s (how long to look for the neighbours; 0 for
ever).
Source: output, listeners (subscriptions there to wait for), rate (Hz; 0 for as fast as possible),
messages (0 for as many as go), seconds (0 for as long as it takes), loans (rclcpp only), peers
(nodes that must be ready first). Relay: input, output, listeners, callback_group (exclusive or
reentrant). Listener: input. Sink: input, and those of every node that ends by what it received
(receiver.py). Distractor: rate (Hz) of `/slow`. Ping: ping.py. The nodes of a chain of services:
services.py.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from strata_interfaces.msg import Timing

from relay_chain.messages import make_message
from relay_chain.node import LAST_QOS, LAST_TOPIC, SLOW_TOPIC, ChainError, ChainNode
from relay_chain.receiver import Receiver
from relay_chain.reception import Flow


class Sender(ChainNode):
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


class Starter(Sender):
    """A node that sends of itself, once every peer is ready."""

    def __init__(self, name: str, output: str) -> None:
        super().__init__(name, output)
        self._peers = self.setting("peers", 0, least=0)
        if self.setting("loans", False):
            raise ChainError(
                "Cannot use parameter loans: rclpy borrows no messages from the middleware. "
                "Use the nodes in C++, where rclcpp is installed."
            )
        # One message, used again: filling the payload is no part of what is measured.
        self._message = make_message(self.message_class, self.get_name(), self.payload)
        self._next = 0
        self._timer = None

    def missing(self) -> str | None:
        """Say which peers are not there or not ready; null when all are."""
        return super().missing() or self.missing_peers(self._peers)

    def send(self, number: int) -> int:
        """Publish a message of that number; returns its stamp, taken just before."""
        self._message.msgid = number
        stamp_ns = time.monotonic_ns()
        self._message.nanosec = stamp_ns
        self._publisher.publish(self._message)
        return stamp_ns


class Source(Starter):
    """Sends numbered messages at a rate, once every peer is ready."""

    def __init__(self, name: str = "source") -> None:
        """Make a source."""
        super().__init__(name, "/chain_0")
        self._messages = self.setting("messages", 500, least=0)
        self._seconds = self.setting("seconds", 0.0, least=0)
        if not (self._messages or self._seconds):
            raise ChainError("Cannot send for ever: messages and seconds are both 0. Set one.")
        self._rate = self.setting("rate", 100.0, least=0)
        self._flow = Flow()
        self._until_ns = 0
        self._last_publisher = None
        if self.counts_losses:
            self._last_publisher = self.create_publisher(Timing, LAST_TOPIC, LAST_QOS)

    def begin(self) -> None:
        """Start the timer."""
        amount = f"{self._messages} messages" if self._messages else f"for {self._seconds:g} s"
        sys.stderr.write(f"{self.get_name()}: all connected, sending {amount}\n")
        self._until_ns = time.monotonic_ns() + round(self._seconds * 1e9)
        # No callback of the measured run: the first message comes a period later.
        self._timer = self.create_timer(1.0 / self._rate if self._rate else 0.0, self.on_timer)

    def on_timer(self) -> None:
        """Publish the next message."""
        started_ns = time.monotonic_ns()
        with self.calling:
            if self._timer.is_canceled():
                return
            if self._seconds and started_ns >= self._until_ns:
                self._end()
                return
            number = self._next
            self._next += 1
            self.work()
            stamp_ns = self.send(number)
            self.truth.add("cb_start", number, started_ns, stamp_ns)
            self.truth.add("publish", number, stamp_ns, stamp_ns)
            self.truth.add("cb_end", number, time.monotonic_ns(), stamp_ns)
            self._flow.add(stamp_ns, len(self._message.payload))
            if self._next == self._messages:
                self._end()

    def _end(self) -> None:
        self._timer.cancel()
        sys.stderr.write(f"{self.get_name()}: sent {self._next} messages\n")
        if self._last_publisher:
            last = Timing(msgid=self._next, source=self.get_name(), nanosec=time.monotonic_ns())
            self._last_publisher.publish(last)

    def summary(self) -> dict[str, Any]:
        """Give what was sent; times are those of the publishes."""
        asked = {"payload": self.payload, "rate": self._rate, "loans": False}
        return {**asked, "sent": self._flow.count, **self._flow.as_json()}


class Relay(Sender):
    """Publishes what it receives, at once."""

    def __init__(self, name: str = "relay") -> None:
        """Make a relay."""
        super().__init__(name, "/chain_1")
        group = None
        if self.choice("callback_group", "exclusive", "reentrant") == "REENTRANT":
            group = ReentrantCallbackGroup()
        self._subscription = self.create_subscription(
            self.message_class,
            self.setting("input", "/chain_0"),
            self.on_message,
            self.qos,
            callback_group=group,
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


class Listener(ChainNode):
    """Takes what a node of the chain publishes, and passes nothing on: a leaf of its fan-out."""

    def __init__(self, name: str = "listener") -> None:
        """Make a listener."""
        super().__init__(name)
        self._subscription = self.create_subscription(
            self.message_class, self.setting("input", "/chain_0"), self.on_message, self.qos
        )

    def missing(self) -> str | None:
        """Say that nobody publishes; null when somebody does."""
        if self._subscription.get_publisher_count():
            return None
        return f"no publisher on {self._subscription.topic_name}"

    def on_message(self, message: Any) -> None:
        """Work on a message."""
        started_ns = time.monotonic_ns()
        with self.calling:
            self.work()
            self.truth.add("cb_start", message.msgid, started_ns, message.nanosec)
            self.truth.add("cb_end", message.msgid, time.monotonic_ns(), message.nanosec)


class Sink(Receiver):
    """Receives messages; done when it has every one, or when they stopped coming."""

    def __init__(self, name: str = "sink") -> None:
        """Make a sink."""
        super().__init__(name)
        self._subscription = self.create_subscription(
            self.message_class, self.setting("input", "/chain_1"), self.on_message, self.qos
        )

    def missing(self) -> str | None:
        """Say that nobody publishes on the input or on /chain_last; null when all do."""
        if not self._subscription.get_publisher_count():
            return f"no publisher on {self._subscription.topic_name}"
        return super().missing()

    def on_message(self, message: Any) -> None:
        """Count a message."""
        started_ns = time.monotonic_ns()
        with self.calling:
            self.work()
            self.truth.add("cb_start", message.msgid, started_ns, message.nanosec)
            self.truth.add("cb_end", message.msgid, time.monotonic_ns(), message.nanosec)
            self.receive(message.msgid, started_ns, len(message.payload))


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
