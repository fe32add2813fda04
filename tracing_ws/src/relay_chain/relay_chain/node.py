# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes of the chain share."""

from __future__ import annotations

import threading
import time
from typing import Any, TypeVar

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from strata_interfaces.msg import Timing

from relay_chain.messages import VARIABLE, message_class
from relay_chain.truth import TruthLog, truth_file

READY_TOPIC = "/chain_ready"
"""A connected node makes a publisher here, which the source counts; nothing is ever sent."""

SLOW_TOPIC = "/slow"
_POLL_S = 0.05

Value = TypeVar("Value", bool, int, float, str)


class ChainError(Exception):
    """A node cannot run: of the parameters given, or because its peers are not there."""


class ChainNode(Node):
    """QoS, own stamps, busy work, the blocking subscription, and waiting for the neighbours.

    `done` completes when the node has nothing more to do: with null, or with the sentence that
    says what went wrong.
    """

    def __init__(self, name: str) -> None:
        """Make the node."""
        super().__init__(name)
        self.done = Future()
        self._work_ns = round(self.setting("work_ms", 0.0, least=0.0) * 1e6)
        self._block_s = self.setting("block_ms", 0.0, least=0.0) / 1e3
        self.qos = QoSProfile(
            history=HistoryPolicy.KEEP_LAST,
            depth=self.setting("depth", 10, least=1),
            reliability=ReliabilityPolicy[self._choice("reliability", "reliable", "best_effort")],
            durability=DurabilityPolicy[self._choice("durability", "volatile", "transient_local")],
        )
        self.message_class = self._message_class()
        log = self.setting("log", "")
        force = self.setting("force", False)
        name = self.get_name()
        self.truth = TruthLog(name, truth_file(log, name, force=force) if log else None)
        # Held by callbacks that add stamps; they exclude one another anyway.
        self.calling = threading.Lock()
        self._ready_publisher = None
        self._slow = None
        if self._block_s:
            self._slow = self.create_subscription(Timing, SLOW_TOPIC, self.on_slow, 10)
        self._discovery_s = self.setting("discovery_s", 30.0, least=0.0)
        self._made_ns = time.monotonic_ns()
        self._poll = self.create_timer(_POLL_S, self.on_poll)

    def setting(self, name: str, default: Value, *, least: float | None = None) -> Value:
        """Declare a parameter and return its value; a whole number will do for a float.

        Raises ChainError when the value has another type or is below `least`.
        """
        descriptor = ParameterDescriptor(dynamic_typing=True)
        value = self.declare_parameter(name, default, descriptor).value
        if isinstance(default, float) and type(value) is int:
            value = float(value)
        if type(value) is not type(default):
            kind = type(default).__name__
            raise ChainError(f"Cannot use parameter {name}: {value!r} is no {kind}.")
        if least is not None and not value >= least:
            raise ChainError(f"Cannot use parameter {name}: {value} is below {least}.")
        return value

    def hz(self, name: str, default: float) -> float:
        """Declare a parameter that is a rate and return the period, in seconds."""
        value = self.setting(name, default)
        if not value > 0:
            raise ChainError(f"Cannot use parameter {name}: {value} Hz is not above 0.")
        return 1.0 / value

    def _choice(self, name: str, default: str, other: str) -> str:
        value = self.setting(name, default)
        if value not in (default, other):
            raise ChainError(
                f"Cannot use parameter {name}: {value!r} is neither {default} nor {other}."
            )
        return value.upper()

    def _message_class(self) -> type[Any]:
        try:
            return message_class(self.setting("message", VARIABLE))
        except ValueError as error:
            raise ChainError(f"Cannot use parameter message: {error}.") from error

    def missing(self) -> str | None:
        """Say which peers this node has not found; null when it has all."""
        raise NotImplementedError

    def begin(self) -> None:
        """Start, now that this node is connected."""

    def finish(self, problem: str | None = None) -> None:
        """Complete `done`; only the first call counts."""
        if not self.done.done():
            self.done.set_result(problem)

    def on_poll(self) -> None:
        """Say once that this node is connected, and begin; give up when that takes too long."""
        missing = self.missing()
        if missing is None and self._slow and not self._slow.get_publisher_count():
            missing = f"no publisher on {SLOW_TOPIC}"
        if missing is None:
            self.destroy_timer(self._poll)
            self._ready_publisher = self.create_publisher(Timing, READY_TOPIC, 1)
            self.begin()
        elif self._discovery_s and time.monotonic_ns() - self._made_ns > self._discovery_s * 1e9:
            self.destroy_timer(self._poll)
            self.finish(
                f"Cannot start {self.get_name()}: {missing} after {self._discovery_s:g} s. "
                "Check that all nodes run, with the same ROS_DOMAIN_ID and QoS."
            )

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
