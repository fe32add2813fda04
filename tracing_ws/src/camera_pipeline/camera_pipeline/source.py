# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The camera: buffers of a GStreamer pipeline as images, with gscam's parameters and topics.

Parameters of gscam: gscam_config (or the environment's GSCAM_CONFIG), sync_sink, preroll,
use_gst_timestamps, reopen_on_eof, camera_info_url, camera_name, image_encoding, frame_id,
use_sensor_data_qos. Beyond gscam: reliability, durability, history, depth, deadline_ms, liveliness,
liveliness_lease_ms (when set, they win over gscam's QoS), images (ends after so many; 0: never),
peers (subscribers that must say they are ready before the first), peers_s (how long to wait),
max_buffers (above it the appsink drops its oldest; 0: no limit, as gscam), log (CSV of the node's
own stamps), force (replace it).
"""

from __future__ import annotations

import csv
import os
import threading
import time
from pathlib import Path
from typing import Any

from builtin_interfaces.msg import Time
from rclpy.duration import Duration
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import CameraInfo, CompressedImage, Image

import driver_tracepoints
from camera_pipeline import calibration
from camera_pipeline.pipelines import CAPS, explain
from camera_pipeline.settings import (
    READY_TOPIC,
    CameraError,
    choice,
    output,
    qos_settings,
    setting,
)

_NO_GSTREAMER = (
    "Cannot make a pipeline: camera_pipeline was built without GStreamer, or its libraries are "
    "missing ({error}). Install libgstreamer-plugins-base1.0-dev and gstreamer1.0-plugins-base, "
    "then build the workspace again (make setup)."
)
_SLICE_S = 0.1
_START_S = 10.0
_ACKNOWLEDGED_S = 5.0

STAMPS = (
    "frame",
    "pts_ns",
    "stamp_ns",
    "arrived_mono_ns",
    "pulled_mono_ns",
    "publish_mono_ns",
    "published_mono_ns",
)
"""Columns of the log: the image's stamp, then CLOCK_MONOTONIC when its buffer came into the
appsink, was pulled, and just before and after the image's publish."""


def _capture_module() -> Any:
    try:
        from camera_pipeline import _capture
    except ImportError as error:
        raise CameraError(_NO_GSTREAMER.format(error=error)) from error
    return _capture


class CameraSource(Node):
    """Publishes what a pipeline gives, on the thread that calls `run`."""

    def __init__(self) -> None:
        """Make the node; raises CameraError when a parameter is wrong or GStreamer is missing."""
        super().__init__("gscam_publisher")
        self._module = _capture_module()
        self._description = self._pipeline()
        self._sync = setting(self, "sync_sink", True)
        self._preroll = setting(self, "preroll", False)
        self._use_gst_timestamps = setting(self, "use_gst_timestamps", False)
        self._reopen_on_eof = setting(self, "reopen_on_eof", False)
        self._encoding = choice(self, "image_encoding", *CAPS)
        self._frame_id = setting(self, "frame_id", "camera_frame")
        self._images = setting(self, "images", 0, least=0)
        self._peers = setting(self, "peers", 0, least=0)
        self._peers_s = setting(self, "peers_s", 30.0, least=0)
        self._max_buffers = setting(self, "max_buffers", 0, least=0)
        self._log = output(self, "log", force=setting(self, "force", False))
        self._camera_info = self._calibration()
        self._make_publishers()
        self._stop = threading.Event()
        self._rows: list[tuple[int, ...]] = []
        self.published = 0
        self.dropped = 0
        self.refused = 0

    def _pipeline(self) -> str:
        parameter = setting(self, "gscam_config", "")
        environment = os.environ.get("GSCAM_CONFIG")
        if parameter and environment is not None:
            raise CameraError(
                "Cannot choose a pipeline: both the environment's GSCAM_CONFIG and the parameter "
                "gscam_config are set. Set one of them."
            )
        if not parameter and not environment:
            raise CameraError(
                "Cannot make a pipeline: neither the parameter gscam_config nor the environment's "
                "GSCAM_CONFIG is set. Set one of them, like 'videotestsrc ! videoconvert'."
            )
        return parameter or environment or ""

    def _calibration(self) -> CameraInfo:
        url = setting(self, "camera_info_url", "")
        name = setting(self, "camera_name", "")
        try:
            info = calibration.load(calibration.resolve(url, name))
            self.get_logger().info(f"Read calibration {url}")
        except FileNotFoundError as error:
            # Without a URL there need not be one; gscam goes on uncalibrated in both cases.
            if url:
                self.get_logger().warning(f"No calibration at {error.filename}: uncalibrated")
            info = CameraInfo()
        except calibration.CalibrationError as error:
            self.get_logger().warning(f"{error} Going on uncalibrated.")
            info = CameraInfo()
        return info

    def _make_publishers(self) -> None:
        sensor_data = setting(self, "use_sensor_data_qos", False)
        qos = qos_settings(self, qos_profile_sensor_data if sensor_data else QoSProfile(depth=1))
        if self._encoding == "jpeg":
            topic, kind = "camera/image_raw/compressed", CompressedImage
        else:
            topic, kind = "camera/image_raw", Image
        # One message each, used again: its strings are checked and kept once.
        self._message = kind()
        self._message.header.frame_id = self._frame_id
        self._camera_info.header.frame_id = self._frame_id
        self._image_publisher = self.create_publisher(kind, topic, qos)
        self._info_publisher = self.create_publisher(CameraInfo, "camera/camera_info", qos)
        # Counting publishers applies no remapping.
        self._ready_topic = self.resolve_topic_name(READY_TOPIC)

    def stop(self) -> None:
        """End `run` soon; from any thread."""
        self._stop.set()

    def run(self) -> None:
        """Publish until the stream ends, the wanted images are published, or `stop` is called.

        Raises CameraError when the pipeline fails.
        """
        self._wait_for_peers()
        try:
            while True:
                self._run_stream()
                if self._is_done() or not self._reopen_on_eof:
                    break
                self.get_logger().info("Reopening the stream")
        except self._module.CaptureError as error:
            raise CameraError(explain(error.args, self._description, self._encoding)) from error
        finally:
            if self._log is not None:
                write_stamps(self._log, self._rows)
        # What a reliable subscription has not got yet would be lost with the publisher.
        most_s = 0.5 if self._stop.is_set() else _ACKNOWLEDGED_S
        for publisher in (self._image_publisher, self._info_publisher):
            publisher.wait_for_all_acked(Duration(nanoseconds=round(most_s * 1e9)))

    def _is_done(self) -> bool:
        return self._stop.is_set() or bool(self._images and self.published >= self._images)

    def _wait_for_peers(self) -> None:
        until = time.monotonic() + self._peers_s
        while (found := self._connected()) < self._peers:
            if self._stop.wait(0.02):
                return
            if time.monotonic() > until:
                raise CameraError(
                    f"Cannot begin: {found} of {self._peers} subscribers are ready after "
                    f"{self._peers_s:g} s. Check that they run, with the same ROS_DOMAIN_ID and "
                    "QoS that fit."
                )

    def _connected(self) -> int:
        """Count the subscribers that are connected, seen from either end."""
        publishers = (self._image_publisher, self._info_publisher)
        counts = [publisher.get_subscription_count() for publisher in publishers]
        return min(self.count_publishers(self._ready_topic), *counts)

    def _run_stream(self) -> None:
        capture = self._module.Capture(
            self._description, CAPS[self._encoding], self._sync, self._max_buffers
        )
        source = driver_tracepoints.source_init("appsink", "camera", capture.name)
        try:
            # Said before the first image: it would wait for this.
            self.get_logger().info(f"Publishing images of '{self._description}'")
            # gscam's calibration: the ROS clock less GStreamer's, which is CLOCK_MONOTONIC.
            offset_ns = self.get_clock().now().nanoseconds - time.monotonic_ns()
            capture.pause(_START_S)
            if self._preroll:
                capture.play(_START_S)
                capture.pause(_START_S)
            capture.play(_START_S)
            before = self.dropped
            while not self._is_done():
                frame = capture.pull(_SLICE_S)
                if frame is not None:
                    self._publish(frame, source, offset_ns)
                    self.dropped = before + frame.dropped
                elif capture.ended:
                    self.get_logger().info("The stream ended")
                    break
        finally:
            capture.close()

    def _publish(self, frame: Any, source: int, offset_ns: int) -> None:
        pulled_ns = time.monotonic_ns()
        queue_ns = pulled_ns - frame.arrived_ns
        number = self.published + self.refused
        size = len(frame)
        driver_tracepoints.buffer_pulled(
            source, number, size, frame.pts_ns, queue_ns, frame.dropped
        )
        if self._use_gst_timestamps and frame.clock_ns >= 0:
            stamp_ns = frame.clock_ns + offset_ns
        else:
            stamp_ns = self.get_clock().now().nanoseconds
        self._fill(frame, stamp_ns)
        driver_tracepoints.copy_done(source, number, size)
        publish_ns = time.monotonic_ns()
        is_published = self._publish_message()
        published_ns = time.monotonic_ns()
        self._info_publisher.publish(self._camera_info)
        self.published += is_published
        self.refused += not is_published
        if self._log is not None:
            self._rows.append(
                (
                    number,
                    frame.pts_ns,
                    stamp_ns,
                    frame.arrived_ns,
                    pulled_ns,
                    publish_ns,
                    published_ns,
                )
            )

    def _publish_message(self) -> bool:
        """Publish the image; false when the middleware refused it, as without free memory."""
        try:
            self._image_publisher.publish(self._message)
        except rclpy_implementation.RCLError as error:
            if not self.refused:
                self.get_logger().warning(f"An image is refused, and lost: {error}")
            return False
        return True

    def _fill(self, frame: Any, stamp_ns: int) -> None:
        message, info = self._message, self._camera_info
        seconds, nanoseconds = divmod(stamp_ns, 1_000_000_000)
        stamp = Time(sec=seconds, nanosec=nanoseconds)
        message.header.stamp = info.header.stamp = stamp
        if not info.k[0]:
            # Uncalibrated: only the size is known.
            info.width, info.height = frame.width, frame.height
        if self._encoding == "jpeg":
            message.format = "jpeg"
        else:
            message.width, message.height = frame.width, frame.height
            message.step, message.encoding = frame.step, self._encoding
        # The slot behind the property: the property takes arrays only, and would copy the pixels
        # once more. The conversion to C reads any buffer, here GStreamer's own memory.
        message._data = frame


def write_stamps(path: Path, rows: list[tuple[int, ...]]) -> None:
    """Write the node's own stamps (columns STAMPS) as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(STAMPS)
        writer.writerows(rows)
