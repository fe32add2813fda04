# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A subscriber that measures images: loss, latency, rate; of gscam or of this package's camera.

Parameters: image_topic, info_topic; reliability, durability, history, depth, deadline_ms,
liveliness, liveliness_lease_ms (QoS; default KEEP_LAST 10, reliable, volatile); raw (take the
serialized message: no conversion to Python, its pixels stay untouched); images (ends when so many
were received or lost; 0: never), seconds (ends so long after the first; 0: never), quiet_s (of a
bounded run: ends when none came for that long after one), discovery_s (ends when none came at all;
0: waits for ever); expected_fps (for the CSV, and the grid of stamps), csv, summary (files to
write), force (replace them); executor (single, multi), threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future
from sensor_msgs.msg import CameraInfo
from sensor_msgs.msg import Image as ImageMessage

from camera_pipeline.metrics import SECOND_NS, Image, Metrics, Window
from camera_pipeline.results import Results, line
from camera_pipeline.serialized import image_header
from camera_pipeline.settings import READY_TOPIC, choice, output, qos_settings, setting

_POLL_S = 0.1


class ImageSubscriber(Node):
    """Measures; `done` completes with null, or the sentence that says what went wrong."""

    def __init__(self) -> None:
        """Make the node; raises CameraError when a parameter is wrong."""
        super().__init__("image_subscriber")
        self.done = Future()
        self.executor_kind = choice(self, "executor", "single", "multi")
        self.threads = setting(self, "threads", 0, least=0)
        self._images = setting(self, "images", 0, least=0)
        self._seconds = setting(self, "seconds", 0.0, least=0)
        self._quiet_s = setting(self, "quiet_s", 5.0, least=0)
        self._discovery_s = setting(self, "discovery_s", 30.0, least=0)
        self._raw = setting(self, "raw", False)
        force = setting(self, "force", False)
        self._results = Results(
            output(self, "csv", force=force),
            output(self, "summary", force=force),
            setting(self, "expected_fps", 0.0, least=0),
        )
        self._metrics = Metrics()
        self._incompatible = ""
        self._began_s = time.monotonic()
        self._first_s = self._last_s = 0.0
        self._ready = None
        # Images and the timer may be on two threads.
        self._lock = threading.Lock()
        self._subscribe()
        self.create_timer(_POLL_S, self.on_poll)

    def _subscribe(self) -> None:
        qos = qos_settings(self, QoSProfile(depth=10))
        image_topic = setting(self, "image_topic", "camera/image_raw")
        info_topic = setting(self, "info_topic", "camera/camera_info")
        events = SubscriptionEventCallbacks(incompatible_qos=self.on_incompatible)
        act = self.on_serialized if self._raw else self.on_image
        self._image = self.create_subscription(
            ImageMessage, image_topic, act, qos, raw=self._raw, event_callbacks=events
        )
        # More than there may be between two of its callbacks.
        self._camera_info = self.create_subscription(CameraInfo, info_topic, self.on_info, 1000)
        self.get_logger().info(f"Waiting for images on {self._image.topic_name}")

    def on_incompatible(self, event: Any) -> None:
        """Keep which QoS policy of a publisher does not fit."""
        self._incompatible = (
            " A publisher is there, but its QoS does not fit (last: policy "
            f"{event.last_policy_kind}): see the parameters reliability, durability, deadline_ms "
            "and liveliness."
        )

    def on_image(self, message: ImageMessage, info: dict[str, Any]) -> None:
        """Measure an image."""
        arrival_ns = time.time_ns()
        stamp = message.header.stamp
        self._add(
            Image(
                arrival_ns,
                stamp.sec * SECOND_NS + stamp.nanosec,
                info.get("publication_sequence_number"),
                len(message.data),
                message.width,
                message.height,
                message.step,
                message.encoding,
            )
        )

    def on_serialized(self, message: bytes, info: dict[str, Any]) -> None:
        """Measure an image that is still serialized."""
        arrival_ns = time.time_ns()
        self._add(
            Image(arrival_ns, *image_header(message, info.get("publication_sequence_number")))
        )

    def on_info(self, message: CameraInfo) -> None:
        """Note that an image was published, once this subscription would have got it."""
        stamp = message.header.stamp
        with self._lock:
            if self._ready is not None:
                self._metrics.add_info(stamp.sec * SECOND_NS + stamp.nanosec)
                self._finish_when_complete()

    def _add(self, image: Image) -> None:
        with self._lock:
            if self.done.done():
                return
            self._last_s = time.monotonic()
            self._first_s = self._first_s or self._last_s
            self._report(self._metrics.add(image))
            self._finish_when_complete()

    def _finish_when_complete(self) -> None:
        if self._images and self._metrics.counted >= self._images:
            self.finish()

    def on_poll(self) -> None:
        """End seconds without images too, and the run when it is time."""
        now_s = time.monotonic()
        with self._lock:
            self._say_ready()
            if not self._metrics.received:
                if self._discovery_s and now_s - self._began_s > self._discovery_s:
                    self.finish(self._nothing_came())
                return
            self._report(self._metrics.roll(time.time_ns()))
            silent_s = now_s - self._last_s
            if self._seconds and now_s - self._first_s >= self._seconds:
                self.finish()
            elif (self._images or self._seconds) and 0 < self._quiet_s <= silent_s:
                self._metrics.give_up()
                if self._images:
                    self.get_logger().warning(
                        f"No image for {self._quiet_s:g} s: ends with {self._metrics.counted} "
                        f"of {self._images}"
                    )
                self.finish()

    def _say_ready(self) -> None:
        connected = (self._image.get_publisher_count(), self._camera_info.get_publisher_count())
        if self._ready is None and all(connected):
            self._ready = self.create_publisher(CameraInfo, READY_TOPIC, 1)

    def _nothing_came(self) -> str:
        topic = self._image.topic_name
        publishers = self.count_publishers(topic)
        return (
            f"Cannot measure: no image on {topic} after {self._discovery_s:g} s "
            f"({publishers} publishers found).{self._incompatible} "
            "Check that the camera runs, with the same ROS_DOMAIN_ID."
        )

    def finish(self, problem: str | None = None) -> None:
        """Complete `done`; only the first call counts."""
        if not self.done.done():
            self.done.set_result(problem)

    def _report(self, windows: Iterator[Window]) -> None:
        for window in windows:
            self._results.add(window, self._metrics)
            times = window.latencies_ns
            text = line(
                window.received,
                window.lost,
                window.bytes,
                window.received,
                times,
                is_lower_bound=self._metrics.loss.is_lower_bound,
            )
            self.get_logger().info(text)

    def close(self) -> str:
        """Write what was measured; returns the line that sums it up."""
        with self._lock:
            return self._results.close(
                self._metrics, self.get_fully_qualified_name(), self._image.topic_name
            )
