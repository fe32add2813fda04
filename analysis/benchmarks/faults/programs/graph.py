# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`graph.py SPEC TRUTH`: a ROS 2 graph as the JSON file SPEC describes it, faults and all.

Each process of the graph is a child of this one, and writes what its callbacks did to
TRUTH/PROCESS.csv when it ends (truth.py).

A process has `nodes`, and may have `executor` (single, multi, timing), `poll_ms` (it sleeps
between two spin_once), `cpu`, `idle` (SCHED_IDLE) and `nice`, once its nodes are made, `rivals`
(programs that compute on that CPU), `gil` (a thread that computes in Python), `after_s` and
`network_of` (a process in whose network namespace it runs).
A node has `timers` and `inputs`, and may have a `namespace`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from array import array
from pathlib import Path
from typing import Any

import rclpy
from geometry_msgs.msg import Pose, PoseArray
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from rclpy.task import Future
from sensor_msgs.msg import CompressedImage
from truth import TruthFile, spin_for

Spec = dict[str, Any]
DRAIN_S = 1.0
"""How long a process with a source lives on after its last message, unless it says otherwise."""


def qos_of(spec: Spec) -> QoSProfile:
    return QoSProfile(
        depth=spec.get("depth", 1000),
        reliability=ReliabilityPolicy[spec.get("reliability", "reliable").upper()],
        durability=DurabilityPolicy[spec.get("durability", "volatile").upper()],
    )


class Output:
    """A publisher of images of `bytes`, or of `poses`; `serialized`: one and the same, as bytes."""

    def __init__(self, node: Node, truth: TruthFile, spec: Spec) -> None:
        self.node, self.truth, self.spec = node, truth, spec
        self.topic = spec["topic"]
        self.kind = PoseArray if "poses" in spec else CompressedImage
        self.serialized: bytes | None = None
        self.publisher = node.create_publisher(self.kind, self.topic, qos_of(spec))

    def ready(self) -> bool:
        return bool(self.publisher.get_subscription_count() >= self.spec.get("readers", 1))

    def publish(self, number: int) -> None:
        if "pause_ms" in self.spec:
            time.sleep(self.spec["pause_ms"] / 1e3)
        if "serialized" in self.spec:
            message = self.serialized = self.serialized or serialize_message(self.made(number))
        else:
            message = self.made(number)
        begin_ns = time.monotonic_ns()
        self.publisher.publish(message)
        self.truth.add(self.node.get_name(), "publish", self.topic, number, begin_ns)

    def made(self, number: int) -> Any:
        message = self.kind()
        message.header.frame_id = str(number)
        if "poses" in self.spec:
            message.poses = [Pose() for _ in range(self.spec["poses"])]
        else:
            message.data = array("B", bytes(self.spec.get("bytes", 100)))
        return message


class Source:
    """A timer that publishes `count` messages; its work comes before each."""

    def __init__(self, node: Node, truth: TruthFile, spec: Spec) -> None:
        self.node, self.truth, self.spec = node, truth, spec
        self.outputs = [Output(node, truth, each) for each in spec.get("publish", [])]
        self.sent = 0
        self.started = spec.get("wait_for_readers") is False
        self.not_before = time.monotonic() + spec.get("settle_s", 0)
        group = MutuallyExclusiveCallbackGroup() if spec.get("group") else None
        self.timer = node.create_timer(spec["period_ms"] / 1e3, self.on_timer, callback_group=group)

    @property
    def done(self) -> bool:
        return self.sent >= self.spec.get("count", 0)

    def on_timer(self) -> None:
        name, period_ms = self.node.get_name(), self.spec["period_ms"]
        self.truth.add(name, "fired", "", period_ms, time.monotonic_ns())
        settled = time.monotonic() > self.not_before
        self.started |= settled and all(output.ready() for output in self.outputs)
        if not self.started or ("count" in self.spec and self.done):
            return
        if self.sent == 0:
            self.truth.path.with_name("started").touch()
        for _ in range(self.spec.get("burst", 1)):
            number, self.sent = self.sent, self.sent + 1
            work(self.truth, self.node.get_name(), "", number, self.spec)
            for output in self.outputs:
                output.publish(number)


def work(truth: TruthFile, node: str, topic: str, number: int, spec: Spec) -> None:
    """Compute for `work_ms`: a number, or one for each message in turn."""
    planned = spec.get("work_ms", 0)
    if isinstance(planned, list):
        planned = planned[number % len(planned)]
    if planned:
        begin_ns = time.monotonic_ns()
        spin_for(planned / 1e3)
        truth.add(node, "work", topic, number, begin_ns)


class Input:
    """A subscription: it works, and publishes what its node publishes of this topic."""

    def __init__(self, owner: Part, spec: Spec) -> None:
        self.owner, self.node, self.truth, self.spec = owner, owner.node, owner.truth, spec
        self.outputs = [Output(self.node, self.truth, each) for each in spec.get("publish", [])]
        group = owner.group(spec["group"]) if "group" in spec else None
        called = self.on_message_later if "await_ms" in spec else self.on_message
        kind = PoseArray if spec.get("type") == "poses" else CompressedImage
        self.count = 0
        self.subscription = self.node.create_subscription(
            kind,
            spec["topic"],
            called,
            qos_of(spec),
            callback_group=group,
            raw=spec.get("raw", False),
        )

    def on_message(self, message: Any) -> None:
        begin_ns = time.monotonic_ns()
        number = self.number_of(message)
        topic, name = self.spec["topic"], self.node.get_name()
        if isinstance(self.node.executor, TimingExecutor):
            self.truth.add(name, "take", topic, number, *self.node.executor.taken_ns)
        self.die_or_hang(number)
        work(self.truth, name, topic, number, self.spec)
        if number % 5 < self.spec.get("throws_of_five", 0):
            self.truth.add(name, "threw", topic, number, begin_ns)
            raise ValueError(f"planted: message {number}")
        if self.spec.get("thread"):
            self.owner.hand_over(self, number)
        elif not self.spec.get("pair") or self.owner.paired(topic, number):
            self.publish(number)
        self.truth.add(name, "callback", topic, number, begin_ns)
        if "then_ms" in self.spec:
            spin_for(self.spec["then_ms"] / 1e3)
            self.truth.add(name, "whole", topic, number, begin_ns)

    async def on_message_later(self, message: Any) -> None:
        begin_ns, number = time.monotonic_ns(), self.number_of(message)
        await self.owner.after(self.spec["await_ms"] / 1e3)
        self.truth.add(self.node.get_name(), "awaited", self.spec["topic"], number, begin_ns)
        self.publish(number)

    def number_of(self, message: Any) -> int:
        """Return the number of a message; `counted`: none is lost, and all may say the same."""
        self.count += 1
        counted = self.spec.get("raw") or self.spec.get("counted")
        return self.count - 1 if counted else int(message.header.frame_id)

    def publish(self, number: int) -> None:
        for output in self.outputs:
            output.publish(number)

    def die_or_hang(self, number: int) -> None:
        if number == self.spec.get("kill_at"):
            self.truth.write()
            os.kill(os.getpid(), signal.SIGKILL)
        if number == self.spec.get("hang_at"):
            self.truth.add(self.node.get_name(), "hangs", "", number, time.monotonic_ns())
            self.truth.write()
            threading.Event().wait()


class Part:
    """One node with its sources and inputs."""

    def __init__(self, name: str, spec: Spec, truth: TruthFile) -> None:
        self.node = Node(name, namespace=spec.get("namespace"))
        self.truth = truth
        self._groups: dict[str, MutuallyExclusiveCallbackGroup] = {}
        self._seen: dict[int, set[str]] = {}
        self._handed: list[tuple[Input, int]] = []
        self._wake = threading.Semaphore(0)
        self.sources = [Source(self.node, truth, each) for each in spec.get("timers", [])]
        self.inputs = [Input(self, each) for each in spec.get("inputs", [])]
        if any(each.get("thread") for each in spec.get("inputs", [])):
            threading.Thread(target=self._publish_handed, name="worker", daemon=True).start()

    def group(self, name: str) -> MutuallyExclusiveCallbackGroup:
        return self._groups.setdefault(name, MutuallyExclusiveCallbackGroup())

    def paired(self, topic: str, number: int) -> bool:
        """Tell whether the other input's message of that number came before this one."""
        seen = self._seen.setdefault(number, set())
        seen.add(topic)
        return len(seen) == 2

    def hand_over(self, source: Input, number: int) -> None:
        self._handed.append((source, number))
        self._wake.release()

    def _publish_handed(self) -> None:
        while True:
            self._wake.acquire()
            source, number = self._handed.pop(0)
            source.publish(number)

    async def after(self, seconds: float) -> None:
        future: Future = Future()
        # The callback that awaits keeps its own group busy.
        group = MutuallyExclusiveCallbackGroup()
        timer = self.node.create_timer(
            seconds, lambda: future.set_result(None), callback_group=group
        )
        await future
        self.node.destroy_timer(timer)


class TimingExecutor(SingleThreadedExecutor):
    """Measures how long it takes a message: from the middleware, and into an object of Python."""

    taken_ns = (0, 0)

    def _take_subscription(self, subscription: Any) -> Any:
        begin_ns = time.monotonic_ns()
        taken = super()._take_subscription(subscription)
        self.taken_ns = (begin_ns, time.monotonic_ns())
        return taken


_EXECUTORS = {
    "single": SingleThreadedExecutor,
    "multi": MultiThreadedExecutor,
    "timing": TimingExecutor,
}


class Process:
    """The nodes of one process, spun as its spec says."""

    def __init__(self, spec: Spec, truth: TruthFile) -> None:
        self.spec = spec
        self.parts = [Part(each, nodes, truth) for each, nodes in spec["nodes"].items()]
        self.sources = [source for part in self.parts for source in part.sources]
        self.executor = _EXECUTORS[spec.get("executor", "single")]()
        for part in self.parts:
            self.executor.add_node(part.node)
        self.ended = False

    def run(self) -> None:
        counted = [source for source in self.sources if "count" in source.spec]
        until = None
        scheduled = False
        while not self.ended:
            # Without a CPU it would need a minute until all know each other.
            if not scheduled and all(source.started for source in self.sources):
                be_scheduled(self.spec)
                scheduled = True
            self.spin_once()
            if counted and all(source.done for source in counted):
                until = until or time.monotonic() + self.spec.get("drain_s", DRAIN_S)
            if until and time.monotonic() > until:
                break

    def spin_once(self) -> None:
        polled = self.spec.get("poll_ms")
        try:
            self.executor.spin_once(timeout_sec=0 if polled else 0.1)
        except ValueError as error:
            if "planted" not in str(error):
                raise
        if polled:
            time.sleep(polled / 1e3)


def compute_in_python() -> None:
    """Hold the GIL whenever it may be had."""
    while True:
        sum(range(1000))


def be_scheduled(spec: Spec) -> None:
    """Give all threads of this process the CPU, the policy and the nice value of its spec."""
    cpus = sorted(os.sched_getaffinity(0))
    for thread in [int(task.name) for task in Path("/proc/self/task").iterdir()]:
        if "cpu" in spec:
            os.sched_setaffinity(thread, {cpus[spec["cpu"]]})
        if spec.get("idle"):
            os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
        if "nice" in spec:
            os.setpriority(os.PRIO_PROCESS, thread, spec["nice"])


def child(spec_file: Path, place: Path, name: str) -> None:
    spec = json.loads(spec_file.read_text())["processes"][name]
    truth = TruthFile(place / f"{name}.csv")
    rclpy.init()
    process = Process(spec, truth)

    def end(*_: Any) -> None:
        process.ended = True

    signal.signal(signal.SIGTERM, end)
    for part in process.parts:
        truth.add(part.node.get_name(), "ready", "", 0, time.monotonic_ns())
    if spec.get("gil"):
        threading.Thread(target=compute_in_python, daemon=True).start()
    process.run()
    truth.write()
    # Threads that compute or hang are no reason to stay.
    os._exit(0)


def rivals_of(spec: Spec) -> list[subprocess.Popen[bytes]]:
    """Start the programs that want the CPU of a process all the time."""
    cpu = str(sorted(os.sched_getaffinity(0))[spec.get("cpu", 0)])
    line = ["taskset", "-c", cpu, "sh", "-c", "while :; do :; done"]
    return [subprocess.Popen(line) for _ in range(spec.get("rivals", 0))]


def main(spec_file: Path, place: Path) -> int:
    graph = json.loads(spec_file.read_text())
    place.mkdir(parents=True, exist_ok=True)
    begun: dict[str, subprocess.Popen[bytes]] = {}
    rivals: list[subprocess.Popen[bytes]] = []
    for name, spec in sorted(
        graph["processes"].items(), key=lambda each: each[1].get("after_s", 0)
    ):
        time.sleep(spec.get("after_s", 0))
        line = [sys.executable, __file__, str(spec_file), str(place), name]
        if "network_of" in spec:
            line = ["nsenter", f"--net=/proc/{spec['network_of']}/ns/net", "--", *line]
        begun[name] = subprocess.Popen(line)
        rivals += rivals_of(spec)
    limit = time.monotonic() + graph.get("limit_s", 110)
    try:
        for name, spec in graph["processes"].items():
            if any("count" in t for n in spec["nodes"].values() for t in n.get("timers", [])):
                begun[name].wait(max(limit - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        print("graph.py: a source did not end in time", file=sys.stderr)
        return 1
    finally:
        for process in (*begun.values(), *rivals):
            process.terminate()
        time.sleep(0.5)
        for process in (*begun.values(), *rivals):
            if process.poll() is None and process not in rivals:
                try:
                    process.wait(3)
                except subprocess.TimeoutExpired:
                    process.kill()
            process.kill()
            process.wait()
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 4:
        child(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
