# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The node `perf_node`: when each message came, what its stamp says, and statistics of both.

Parameters: topics (names; their ends tell the type), n_samples (of each topic, after the warm-up),
warm_up (samples to leave out), serialized (take messages without making Python objects of them),
out_file (CSV of the first topic), log (directory for a CSV a topic and perf.json), force, quiet_s
(end when no message came for so long after one; 0 for never), losses (refuse or count: whether
that is a failure), use_system_default_qos, column_step (of clouds, note the time of every N-th
column, and of the last; 0: of none. It is read after the stamps are taken; not of serialized
messages).
"""

from __future__ import annotations

import struct
import time
from typing import Any

from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import Image, Imu, LaserScan, PointCloud2

from lidar_pipeline.driver.settings import choice, setting, topic_qos
from lidar_pipeline.perf.results import Samples, result_files, write_results

_STAMP = struct.Struct("<iI")
_STAMP_AT = 4
"""In a message's CDR, after the four bytes of the encapsulation: a header is its first field."""

_WATCH_S = 0.5
_TYPES = {"_image": Image, "image_raw": Image, "scan": LaserScan, "imu": Imu}


def message_type(topic: str) -> type[Any]:
    """Tell the type of a topic by the end of its name."""
    return next((kind for end, kind in _TYPES.items() if topic.endswith(end)), PointCloud2)


class PerfNode(Node):
    """Takes samples; `done` completes when it has all, or with a sentence that says why not."""

    def __init__(self) -> None:
        super().__init__("perf_node")
        self.done = Future()
        self.warm_up = setting(self, "warm_up", 0, 0)
        wanted = setting(self, "n_samples", 1000, 1) + self.warm_up
        topics = self.declare_parameter("topics", ["/points"]).value
        self._quiet_ns = round(setting(self, "quiet_s", 5.0, 0) * 1e9)
        self._counts_losses = choice(self, "losses", ("refuse", "count")) == "count"
        self._serialized = setting(self, "serialized", default=False)
        qos = topic_qos(self)
        step = setting(self, "column_step", 64, 0)
        self.samples = [Samples(topic, wanted, step) for topic in topics]
        self.files = result_files(
            self.samples,
            setting(self, "out_file", ""),
            setting(self, "log", ""),
            force=setting(self, "force", default=False),
        )
        self._last_ns = 0
        for samples in self.samples:
            self.create_subscription(
                message_type(samples.topic),
                samples.topic,
                self._callback(samples),
                qos,
                raw=self._serialized,
            )
        self.create_timer(_WATCH_S, self._on_watch)

    def _callback(self, samples: Samples) -> Any:
        def take(at_ns: int, stamp_ns: int, info: dict[str, Any]) -> None:
            self._last_ns = time.monotonic_ns()
            samples.add(at_ns, stamp_ns, info.get("publication_sequence_number") or 0)
            if all(each.complete for each in self.samples) and not self.done.done():
                self.done.set_result(None)

        def on_serialized(message: bytes, info: dict[str, Any]) -> None:
            at_ns = time.time_ns()
            seconds, rest = _STAMP.unpack_from(message, _STAMP_AT)
            take(at_ns, seconds * 1_000_000_000 + rest, info)

        def on_message(message: Any, info: dict[str, Any]) -> None:
            at_ns = time.time_ns()
            stamp = message.header.stamp
            samples.add_columns(message)
            take(at_ns, stamp.sec * 1_000_000_000 + stamp.nanosec, info)

        return on_serialized if self._serialized else on_message

    def _on_watch(self) -> None:
        quiet = self._last_ns and time.monotonic_ns() - self._last_ns > self._quiet_ns
        if self._quiet_ns and quiet and not self.done.done():
            came = min(len(samples.received) for samples in self.samples)
            problem = (
                f"Cannot take all samples: {came} came, then none for {self._quiet_ns / 1e9:g} s."
            )
            if self._counts_losses:
                self.get_logger().warning(problem)
            self.done.set_result(None if self._counts_losses else problem)

    def report(self) -> None:
        """Write the files, and the summary to stdout as JSON."""
        write_results(self.samples, self.files, self.warm_up)
