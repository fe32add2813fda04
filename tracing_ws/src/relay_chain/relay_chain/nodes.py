# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of the chain. Each is an ordinary ROS 2 node that its parameters configure.

Parameters of all: reliability, durability, depth (QoS of the chain's topics), work_ms (busy work in
the callback), block_ms (a second subscription, `/slow`, whose callback sleeps that long), log
(directory of the node's own stamps; empty for none).
Source: output, rate (Hz), messages, payload (bytes), peers (nodes that must be ready first).
Relay: input, output. Sink: input, messages (ends when it has them all), quiet_s (or when none came
for that long after the first). Distractor: rate (Hz) of `/slow`.
"""

from __future__ import annotations

import array
import time

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from strata_interfaces.msg import Timing

from relay_chain.truth import TruthLog

READY_TOPIC = "/chain_ready"
"""A connected node makes a publisher here, which others see in the graph; nothing is sent."""

SLOW_TOPIC = "/slow"
_POLL_S = 0.05


class ChainNode(Node):
    """What the nodes share: QoS, own stamps, busy work, the blocking subscription, readiness.

    `done` completes when the node has nothing more to do.
    """

    def __init__(self, name: str, overrides: list | None = None) -> None:
        """Make the node; `overrides` are parameters that win over those of the command line."""
        super().__init__(name, parameter_overrides=overrides or [])
        self.done = Future()
        self._work_ns = round(self.setting("work_ms", 0.0) * 1e6)
        self._block_s = self.setting("block_ms", 0.0) / 1e3
        self.truth = TruthLog(self.get_name(), self.setting("log", ""))
        self.qos = QoSProfile(
            history=HistoryPolicy.KEEP_LAST,
            depth=self.setting("depth", 10),
            reliability=ReliabilityPolicy[self.setting("reliability", "reliable").upper()],
            durability=DurabilityPolicy[self.setting("durability", "volatile").upper()],
        )
        self._ready_publisher = None
        self._slow = None
        if self._block_s:
            self._slow = self.create_subscription(Timing, SLOW_TOPIC, self.on_slow, 10)
        self._poll = self.create_timer(_POLL_S, self.on_poll)

    def setting(self, name: str, default: object) -> object:
        """Declare a parameter and return its value."""
        return self.declare_parameter(name, default).value

    def connected(self) -> bool:
        """Tell whether every endpoint of the chain that this node has found its peer."""
        raise NotImplementedError

    def begin(self) -> None:
        """Start, now that this node is connected."""

    def on_poll(self) -> None:
        """Say once that this node is connected, and begin."""
        if not self.connected() or (self._slow and not self._slow.get_publisher_count()):
            return
        self.destroy_timer(self._poll)
        self._ready_publisher = self.create_publisher(Timing, READY_TOPIC, 1)
        self.begin()

    def on_slow(self, message: Timing) -> None:
        """Block the executor's thread."""
        del message
        time.sleep(self._block_s)

    def work(self) -> None:
        """Keep the CPU busy for `work_ms`."""
        if not self._work_ns:
            return
        until = time.perf_counter_ns() + self._work_ns
        while time.perf_counter_ns() < until:
            pass


class Source(ChainNode):
    """Sends numbered messages at a rate, once every peer is ready."""

    def __init__(self, overrides: list | None = None) -> None:
        """Make the node `source`."""
        super().__init__("source", overrides)
        self._messages = self.setting("messages", 500)
        self._period_s = 1.0 / self.setting("rate", 100.0)
        self._peers = self.setting("peers", 0)
        self._publisher = self.create_publisher(
            Timing, self.setting("output", "/chain_0"), self.qos
        )
        # One message, used again: filling the payload is no part of what is measured.
        self._message = Timing(
            source=self.get_name(), payload=array.array("B", bytes(self.setting("payload", 1024)))
        )
        self._next = 0
        self._timer = None

    def connected(self) -> bool:
        """Tell whether the first relay listens and every peer said that it is ready."""
        ready = self.count_publishers(READY_TOPIC)
        return self._publisher.get_subscription_count() > 0 and ready >= self._peers

    def begin(self) -> None:
        """Start the timer."""
        self._timer = self.create_timer(self._period_s, self.on_timer)

    def on_timer(self) -> None:
        """Publish the next message."""
        started_ns = time.monotonic_ns()
        if self._next >= self._messages:
            self._timer.cancel()
            self.done.set_result(True)
            return
        message = self._message
        message.msgid = self._next
        self.work()
        stamp_ns = time.monotonic_ns()
        message.nanosec = stamp_ns
        self._publisher.publish(message)
        self.truth.add("cb_start", self._next, started_ns, stamp_ns)
        self.truth.add("publish", self._next, stamp_ns, stamp_ns)
        self.truth.add("cb_end", self._next, time.monotonic_ns(), stamp_ns)
        self._next += 1


class Relay(ChainNode):
    """Publishes what it receives, at once."""

    def __init__(self, name: str = "relay", overrides: list | None = None) -> None:
        """Make a relay."""
        super().__init__(name, overrides)
        self._publisher = self.create_publisher(
            Timing, self.setting("output", "/chain_1"), self.qos
        )
        self._subscription = self.create_subscription(
            Timing, self.setting("input", "/chain_0"), self.on_message, self.qos
        )

    def connected(self) -> bool:
        """Tell whether both neighbours are there."""
        return (
            self._publisher.get_subscription_count() > 0
            and self._subscription.get_publisher_count() > 0
        )

    def on_message(self, message: Timing) -> None:
        """Pass a message on."""
        started_ns = time.monotonic_ns()
        self.work()
        stamp_ns = time.monotonic_ns()
        self._publisher.publish(message)
        self.truth.add("cb_start", message.msgid, started_ns, message.nanosec)
        self.truth.add("publish", message.msgid, stamp_ns, message.nanosec)
        self.truth.add("cb_end", message.msgid, time.monotonic_ns(), message.nanosec)


class Sink(ChainNode):
    """Receives; done when it has every message, or when they stopped coming."""

    def __init__(self, overrides: list | None = None) -> None:
        """Make the node `sink`."""
        super().__init__("sink", overrides)
        self._messages = self.setting("messages", 500)
        self._quiet_ns = round(self.setting("quiet_s", 3.0) * 1e9)
        self.received = 0
        self._last_ns = 0
        self._subscription = self.create_subscription(
            Timing, self.setting("input", "/chain_1"), self.on_message, self.qos
        )
        self._watch = self.create_timer(0.25, self.on_watch)

    def connected(self) -> bool:
        """Tell whether the last relay is there."""
        return self._subscription.get_publisher_count() > 0

    def on_message(self, message: Timing) -> None:
        """Count a message."""
        started_ns = time.monotonic_ns()
        self.work()
        self.received += 1
        self._last_ns = started_ns
        if self.received >= self._messages and not self.done.done():
            self.done.set_result(True)
        self.truth.add("cb_start", message.msgid, started_ns, message.nanosec)
        self.truth.add("cb_end", message.msgid, time.monotonic_ns(), message.nanosec)

    def on_watch(self) -> None:
        """End when no message came for long after the last one."""
        quiet = self._last_ns and time.monotonic_ns() - self._last_ns > self._quiet_ns
        if quiet and not self.done.done():
            self.done.set_result(False)


class Distractor(ChainNode):
    """Publishes on `/slow`, for nodes that block on it."""

    def __init__(self, overrides: list | None = None) -> None:
        """Make the node `distractor`."""
        super().__init__("distractor", overrides)
        self._period_s = 1.0 / self.setting("rate", 5.0)
        self._publisher = self.create_publisher(Timing, SLOW_TOPIC, 10)
        self._timer = None
        self._sent = 0

    def connected(self) -> bool:
        """Tell whether somebody listens."""
        return self._publisher.get_subscription_count() > 0

    def begin(self) -> None:
        """Start the timer."""
        self._timer = self.create_timer(self._period_s, self.on_timer)

    def on_timer(self) -> None:
        """Publish the next message."""
        self._publisher.publish(
            Timing(msgid=self._sent, nanosec=time.monotonic_ns(), source=self.get_name())
        )
        self._sent += 1
