# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes of the chain share."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, TypeVar

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from strata_interfaces.msg import Timing

from relay_chain.messages import message_class, message_name
from relay_chain.reception import write_json
from relay_chain.truth import TruthLog, truth_file

READY_TOPIC = "/chain_ready"
"""A connected node makes a publisher here, which the source counts; nothing is ever sent."""

LAST_TOPIC = "/chain_last"
"""Where losses are counted, the source says here how many messages it sent (as `msgid`)."""

LAST_QOS = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
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

    ends = False
    """Whether it ends when it has everything, and not by a fault alone."""

    def __init__(self, name: str) -> None:
        """Make the node."""
        super().__init__(name)
        self.done = Future()
        self._work_ns = round(self.setting("work_ms", 0.0, least=0.0) * 1e6)
        self._block_s = self.setting("block_ms", 0.0, least=0.0) / 1e3
        self.qos = QoSProfile(
            history=HistoryPolicy[self.choice("history", "keep_last", "keep_all")],
            depth=self.setting("depth", 10, least=1),
            reliability=ReliabilityPolicy[self.choice("reliability", "reliable", "best_effort")],
            durability=DurabilityPolicy[self.choice("durability", "volatile", "transient_local")],
        )
        self.payload = self.setting("payload", 1024, least=0)
        self.message_class = self._message_class()
        self.counts_losses = self.choice("losses", "refuse", "count") == "COUNT"
        self._log = self.setting("log", "")
        self._force = self.setting("force", False)
        name = self.get_name()
        stamped = self.setting("stamps", True) and bool(self._log)
        file = truth_file(self._log, name, force=self._force) if stamped else None
        self.truth = TruthLog(name, file)
        self.summary_file()
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

    def choice(self, name: str, default: str, other: str) -> str:
        """Declare a parameter that has one of two values; returns it in capital letters."""
        value = self.setting(name, default)
        if value not in (default, other):
            raise ChainError(
                f"Cannot use parameter {name}: {value!r} is none of {default}, {other}."
            )
        return value.upper()

    def _message_class(self) -> type[Any]:
        kind = self.choice("type", "unbounded", "fixed").lower()
        try:
            return message_class(message_name(kind, self.payload))
        except ValueError as error:
            raise ChainError(f"Cannot use parameter payload: {error}.") from error

    def summary_file(self) -> Path | None:
        """Give the file of this node's summary; null when it is to write none.

        Raises FileExistsError when it is there already and must stay.
        """
        name, force = self.get_name(), self._force
        what = "a summary"
        if not self._log:
            return None
        return truth_file(self._log, name, force=force, suffix=".json", what=what)

    def says(self) -> str | None:
        """Say at the end what this node did; null for one of no interest."""
        return None

    def cut_short(self) -> bool:
        """Tell whether a signal that comes now keeps this node from what it was asked for."""
        return False

    def summary(self) -> dict[str, Any] | None:
        """Give the numbers of this node; null for one that has none."""
        return None

    def write(self) -> list[Path]:
        """Write stamps and summary; returns the files."""
        path = self.truth.write()
        out = [path] if path else []
        document = self.summary()
        file = self.summary_file() if document is not None else None
        if document is not None and file is not None:
            own = {"node": self.get_name(), "type": self.message_class.__name__}
            write_json(file, {**own, **document})
            out.append(file)
        return out

    def missing(self) -> str | None:
        """Say which peers this node has not found; null when it has all."""
        raise NotImplementedError

    def missing_peers(self, peers: int) -> str | None:
        """Say that fewer nodes than `peers` are ready; null when enough are."""
        ready = self.count_publishers(READY_TOPIC)
        return None if ready >= peers else f"{ready} of {peers} peers are ready"

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
