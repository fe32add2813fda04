# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the sockets: by threads that wait for packets, or by a timer, one packet a tick."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable

import driver_tracepoints
from lidar_pipeline.driver.assembly import Scan, ScanAssembler
from lidar_pipeline.driver.publishing import ImuPublisher, ScanPublisher
from lidar_pipeline.driver.udp_source import UdpSource, first_readable
from lidar_pipeline.sensor.packet import IMU_BYTES

_STOP_S = 0.1
_WAITING_SCANS = 2
_POLL_WAIT_S = 1.0


class LidarReader:
    """Receives lidar packets into scans, and tells of each that is complete."""

    def __init__(self, udp: UdpSource, assembler: ScanAssembler) -> None:
        self._udp = udp
        self._assembler = assembler
        self.missing_packets = self.missing_columns = self.scans = 0

    def read(self) -> Scan | None:
        """Receive one packet; give the scan that it closed."""
        size = self._udp.receive(self._assembler.slot())
        if size is None:
            return None
        scan = self._assembler.accept(size, self._udp.sequence)
        if scan is not None:
            driver_tracepoints.frame_boundary(
                self._udp.source,
                scan.number,
                scan.packets,
                scan.missing,
                scan.first_sequence,
                scan.last_sequence,
            )
            self.scans += 1
            self.missing_packets += scan.missing
            self.missing_columns += scan.missing_columns
        return scan


class ImuReader:
    """Receives IMU packets and publishes each."""

    def __init__(self, udp: UdpSource, publisher: ImuPublisher) -> None:
        self._udp = udp
        self._publisher = publisher
        self._memory = memoryview(bytearray(IMU_BYTES + 1))

    def read(self) -> None:
        """Receive one packet."""
        if self._udp.receive(self._memory) == IMU_BYTES:
            self._publisher.publish(self._memory[:IMU_BYTES], self._udp.sequence)


class ThreadedReading:
    """A thread receives lidar packets, one publishes scans, one does both for the IMU.

    A scan that is complete while two others wait to be published is dropped, and counted.
    """

    def __init__(
        self,
        sources: tuple[UdpSource, UdpSource],
        lidar: LidarReader,
        imu: ImuReader,
        publisher: ScanPublisher,
    ) -> None:
        self._lidar, self._imu, self._publisher = lidar, imu, publisher
        self._waiting: queue.Queue[tuple[Scan, int] | None] = queue.Queue()
        self._running = True
        self.dropped_scans = 0
        for source in sources:
            source.wait_at_most(_STOP_S)
        self._threads = [
            threading.Thread(target=work, name=name, daemon=True)
            for name, work in (
                ("lidar receive", self._receive),
                ("scan publish", self._publish),
                ("imu", self._receive_imu),
            )
        ]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End: what is complete is still published."""
        self._running = False
        self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def _receive(self) -> None:
        while self._running:
            scan = self._lidar.read()
            if scan is None:
                continue
            if self._waiting.qsize() >= _WAITING_SCANS:
                self.dropped_scans += 1
                continue
            self._waiting.put((scan, time.time_ns()))

    def _publish(self) -> None:
        while (item := self._waiting.get()) is not None:
            self._publisher.publish(*item)

    def _receive_imu(self) -> None:
        while self._running:
            self._imu.read()


class PolledReading:
    """As the 2020 driver: one packet a tick, lidar before IMU, all on the executor's thread.

    A tick that comes when nothing is there waits for it, up to a second.
    """

    dropped_scans = 0

    def __init__(
        self,
        sources: tuple[UdpSource, UdpSource],
        lidar: LidarReader,
        imu: ImuReader,
        publisher: ScanPublisher,
        create_timer: Callable[[Callable[[], None]], Callable[[], None]],
    ) -> None:
        self._sources = list(sources)
        self._lidar, self._imu, self._publisher = lidar, imu, publisher
        self._create_timer = create_timer
        self._cancel: Callable[[], None] | None = None

    def start(self) -> None:
        """Begin."""
        self._cancel = self._create_timer(self._tick)

    def stop(self) -> None:
        """End."""
        if self._cancel:
            self._cancel()

    def _tick(self) -> None:
        ready = first_readable(self._sources, _POLL_WAIT_S)
        if ready is self._sources[1]:
            self._imu.read()
        elif ready is not None:
            scan = self._lidar.read()
            if scan is not None:
                self._publisher.publish(scan, time.time_ns())
