# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The lifecycle node `ouster_driver`: services, transforms, and what its transitions do."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from std_srvs.srv import Empty, Trigger

from lidar_pipeline.driver.assembly import ScanAssembler
from lidar_pipeline.driver.publishing import ImuPublisher, Publishers, ScanPublisher
from lidar_pipeline.driver.reading import ImuReader, LidarReader, PolledReading, ThreadedReading
from lidar_pipeline.driver.sensor_client import Metadata, SensorError, set_up
from lidar_pipeline.driver.settings import Settings, read_settings
from lidar_pipeline.driver.udp_source import UdpSource
from lidar_pipeline.driver.watch import WATCH_S, SensorWatch

try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None

_LOOK_S = 0.05
_CHECK_S = 0.1


class OusterDriver(LifecycleNode):
    """Configures the sensor, and publishes what it sends while active.

    `done` completes when the bound of the parameter scans is reached.
    """

    def __init__(self) -> None:
        """Make the node; it is unconfigured."""
        super().__init__("ouster_driver")
        self.done = Future()
        self.problem: str | None = None
        self.stopping = False
        self.settings: Settings | None = None
        self._metadata: Metadata | None = None
        self._sources: list[UdpSource] = []
        self._topics: Publishers | None = None
        self._reading: ThreadedReading | PolledReading | None = None
        self._parts: tuple[Any, ...] | None = None
        self._counters: dict[str, Any] = {}
        self._stop_watching: Callable[[], None] | None = None
        self._transforms = None
        self.create_service(Empty, "~/reset", self._on_reset)
        self.create_service(Trigger, "~/get_metadata", self._on_get_metadata)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Bind the sockets, make the topics, and set the sensor up."""
        try:
            self.settings = read_settings(self)
            self._configure(self.settings)
        except SensorError as error:
            self._release()
            self.problem = str(error)
            self.get_logger().error(self.problem)
            return TransitionCallbackReturn.FAILURE
        return super().on_configure(state)

    def _configure(self, settings: Settings) -> None:
        connection = settings.connection
        for name, port in (("lidar", connection.lidar_port), ("imu", connection.imu_port)):
            try:
                self._sources.append(UdpSource(name, port, settings.receive_buffer))
            except OSError as error:
                raise SensorError(
                    f"Cannot bind UDP port {port}: {error.strerror}. Choose another {name}_port."
                ) from error
        lidar, imu = self._sources
        granted = f"{lidar.granted} of {settings.receive_buffer} bytes asked for"
        self.get_logger().info(f"UDP ports {lidar.port} and {imu.port}; socket buffer: {granted}")
        self._topics = Publishers(self, settings)
        self._await_listeners(settings)
        # A port of 0 was any free one: the sensor must send to the one that it became.
        connection = replace(connection, lidar_port=lidar.port, imu_port=imu.port)
        self.settings = settings = replace(settings, connection=connection)
        self._metadata = set_up(connection)
        self._make_parts(settings, self._metadata)
        self._send_transforms(settings, self._metadata)

    def _await_listeners(self, settings: Settings) -> None:
        assert self._topics
        until = time.monotonic() + settings.discovery_s
        while self._topics.listened() < settings.listeners and not self.stopping:
            if settings.discovery_s and time.monotonic() > until:
                raise SensorError(
                    f"Cannot start: {self._topics.listened()} of {settings.listeners} "
                    f"subscriptions after {settings.discovery_s:g} s. Check that all nodes run."
                )
            time.sleep(_LOOK_S)

    def _make_parts(self, settings: Settings, metadata: Metadata) -> None:
        assert self._topics
        lidar, imu = self._sources
        assembler = ScanAssembler(settings.connection.mode, settings.closing)
        reader = LidarReader(lidar, assembler)
        scans = ScanPublisher(self._topics, settings, metadata, lidar.source)
        inertia = ImuPublisher(self._topics, settings, imu.source)
        self._parts = ((lidar, imu), reader, ImuReader(imu, inertia), scans)
        self._counters = {"assembler": assembler, "reader": reader, "scans": scans, "imu": inertia}

    def _timer(self, period_s: float) -> Callable[[Callable[[], None]], Callable[[], None]]:
        def create(tick: Callable[[], None]) -> Callable[[], None]:
            timer = self.create_timer(period_s, tick)
            return lambda: self.destroy_timer(timer)

        return create

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin to read."""
        assert self._parts and self.settings
        done = super().on_activate(state)
        # The parts count on from one activation to the next; what reads is made for each.
        if self.settings.poll_hz:
            timer = self._timer(1.0 / self.settings.poll_hz)
            self._reading = PolledReading(*self._parts, timer)
        else:
            self._reading = ThreadedReading(*self._parts)
        self._reading.start()
        self._stop_watching = self._watch()
        if self.settings.scans:
            self.create_timer(_CHECK_S, self._check_bound)
        return done

    def _watch(self) -> Callable[[], None]:
        watch = SensorWatch(self._sources[0], self._counters["assembler"].counts)

        def look() -> None:
            if text := watch.look():
                self.get_logger().warning(text)

        return self._timer(WATCH_S)(look)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Cease to read."""
        self._stop_reading()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the sockets and take the topics away."""
        self._release()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close everything."""
        self._stop_reading()
        self._release()
        return super().on_shutdown(state)

    def _stop_reading(self) -> None:
        if self._stop_watching:
            self._stop_watching()
            self._stop_watching = None
        if self._reading:
            self._reading.stop()
            self._reading = None

    def _release(self) -> None:
        for source in self._sources:
            source.close()
        self._sources = []
        if self._topics:
            self._topics.destroy()
            self._topics = None

    def end(self) -> dict[str, Any]:
        """Cease to read, and return what was received and published."""
        self._stop_reading()
        counts = self._counts()
        self._release()
        return counts

    def _counts(self) -> dict[str, Any]:
        if not self._counters or len(self._sources) < 2:
            return {}
        lidar, imu = self._sources
        reader, scans = self._counters["reader"], self._counters["scans"]
        packets = self._counters["assembler"].counts
        return {
            "lidar_packets": lidar.received,
            "lidar_dropped": lidar.dropped,
            "lidar_unread": lidar.unread(),
            "imu_packets": imu.received,
            "imu_dropped": imu.dropped,
            "imu_unread": imu.unread(),
            "receive_buffer": lidar.granted,
            "scans": reader.scans,
            "published_scans": scans.published,
            "unheard_scans": scans.unheard,
            "dropped_scans": reader.dropped_scans,
            "messages": scans.messages,
            "refused_messages": scans.refused + self._counters["imu"].refused,
            "missing_packets": reader.missing_packets,
            "missing_columns": reader.missing_columns,
            "late_packets": packets.late,
            "duplicate_packets": packets.duplicate,
            "wrong_packets": packets.wrong,
            "before_first_packets": packets.before_first,
            "lost_scans": packets.lost_scans,
        }

    def _check_bound(self) -> None:
        assert self.settings
        if self._counters["scans"].scans >= self.settings.scans and not self.done.done():
            self.done.set_result(True)

    def _on_reset(self, _request: Empty.Request, response: Empty.Response) -> Empty.Response:
        if self.settings and self._reading:
            try:
                set_up(self.settings.connection)
            except SensorError as error:
                self.get_logger().error(str(error))
        return response

    def _on_get_metadata(
        self, _request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        response.success = bool(self._metadata and self.settings)
        if self._metadata and self.settings:
            response.message = json.dumps(self._metadata.values | asdict(self.settings.connection))
        return response

    def _send_transforms(self, settings: Settings, metadata: Metadata) -> None:
        if TFMessage is None:
            self.get_logger().info("no static transforms: tf2_msgs is not installed")
            return
        qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._transforms = self.create_publisher(TFMessage, "/tf_static", qos)
        pairs = (
            (settings.imu_frame, metadata.values["imu_to_sensor_transform"]),
            (settings.laser_frame, metadata.values["lidar_to_sensor_transform"]),
        )
        now = self.get_clock().now().to_msg()
        self._transforms.publish(
            TFMessage(
                transforms=[
                    _transform(settings.sensor_frame, child, _floats(matrix), now)
                    for child, matrix in pairs
                ]
            )
        )


def _floats(values: list[float]) -> list[float]:
    return [float(value) for value in values]


def _transform(frame: str, child: str, matrix: list[float], now: Any) -> Any:
    """Make a transform of a row-major 4 x 4 matrix in mm that turns about z, as the sensor's do."""
    from geometry_msgs.msg import TransformStamped

    made = TransformStamped(child_frame_id=child)
    made.header.frame_id, made.header.stamp = frame, now
    moved = made.transform.translation
    moved.x, moved.y, moved.z = (matrix[at] / 1e3 for at in (3, 7, 11))
    half = math.atan2(matrix[4], matrix[0]) / 2
    made.transform.rotation.z, made.transform.rotation.w = math.sin(half), math.cos(half)
    return made
