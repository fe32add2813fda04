# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The emulated sensor: control interfaces in threads, packets from the thread that calls run()."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lidar_pipeline.sensor.capture import CaptureWriter, read_capture
from lidar_pipeline.sensor.clock import SensorClock
from lidar_pipeline.sensor.configuration import Configuration
from lidar_pipeline.sensor.http_api import HttpApi
from lidar_pipeline.sensor.packet import (
    IMU_BYTES,
    IMU_HZ,
    LIDAR_BYTES,
    LidarMode,
)
from lidar_pipeline.sensor.rendering import ScanRenderer, imu_sample
from lidar_pipeline.sensor.sending import Faults, Sender, take_no_slack, wait_until
from lidar_pipeline.sensor.status import Status
from lidar_pipeline.sensor.tcp_control import TcpControl

_LEAD_NS = 50_000_000
"""From a reinitialization to the first column."""

_IDLE_S = 0.02


@dataclass(frozen=True)
class Bounds:
    """When to end: so many scans or packets, lost ones too, after a start; 0 for never."""

    scans: int
    packets: int

    def limit(self, mode: LidarMode) -> int | None:
        """Return the number of packets to make; null without bound."""
        given = [self.scans * mode.packets] if self.scans else []
        return min([*given, self.packets] if self.packets else given, default=None)


@dataclass(frozen=True)
class EmulatorOptions:
    """How to run an emulator. Ports of 0 are any free ones; no `host` listens on all addresses."""

    host: str
    tcp_port: int
    http_port: int
    firmware: str
    faults: Faults
    bounds: Bounds
    record: Path | None
    replay: Path | None


class Emulator:
    """An OS1-16. `run` sends until a bound is reached or `stop` is called."""

    def __init__(self, options: EmulatorOptions, configuration: Configuration) -> None:
        self._options = options
        self._configuration = configuration
        self._clock = SensorClock()
        self._stop = threading.Event()
        status = Status(configuration, self._clock, options.firmware)
        self.tcp = TcpControl(status, options.host, options.tcp_port)
        try:
            self.http = HttpApi(status, options.host, options.http_port)
        except OSError:
            self.tcp.server_close()
            raise
        self._capture = CaptureWriter(options.record) if options.record else None
        self.sender = Sender(options.faults, self._capture)
        self.starts = self.packets = 0
        for server in (self.tcp, self.http):
            threading.Thread(target=server.serve_forever, daemon=True).start()

    @property
    def ports(self) -> dict[str, int]:
        """Ports that the control interfaces listen on."""
        return {"tcp": self.tcp.server_address[1], "http": self.http.server_address[1]}

    def stop(self) -> None:
        """Have `run` return soon; any thread may call it."""
        self._stop.set()

    def run(self) -> dict[str, Any]:
        """Send whenever there is a destination; return what was sent."""
        take_no_slack()
        done = False
        while not (done or self._stop.is_set()):
            if not self._configuration.get("active", "udp_ip"):
                self._stop.wait(_IDLE_S)
                continue
            # First: what is set from here on is for the next start.
            generation = self._configuration.generation
            self._aim()
            self.starts += 1
            send = self._replay if self._options.replay else self._stream
            done = send(generation)
        self.sender.finish()
        return self.summary()

    def close(self) -> None:
        """Close all sockets and the capture."""
        for server in (self.tcp, self.http):
            server.shutdown()
            server.server_close()
        self.sender.close()
        if self._capture:
            self._capture.close()

    def summary(self) -> dict[str, Any]:
        """Tell what was made and sent; `packets` are all lidar packets made, sent or lost.

        `scans` are so many packets in scans of the last mode.
        """
        mode = self._configuration.mode
        return {
            "mode": mode.name,
            "timestamp_mode": self._configuration.get("active", "timestamp_mode"),
            "starts": self.starts,
            "packets": self.packets,
            "scans": self.packets // mode.packets,
            **self.sender.summary(),
        }

    def _aim(self) -> None:
        get = self._configuration.get
        lidar, imu = get("active", "udp_port_lidar"), get("active", "udp_port_imu")
        self.sender.aim(get("active", "udp_ip"), lidar, imu)

    def _stream(self, generation: int) -> bool:
        """Send the scene until a bound (true), or a reinitialization or stop (false)."""
        configuration, sender = self._configuration, self.sender
        mode = configuration.mode
        renderer = ScanRenderer(mode)
        limit = self._options.bounds.limit(mode)
        offset_ns = self._clock.offset_ns(configuration.get("active", "timestamp_mode"))
        begin_ns = time.monotonic_ns() + _LEAD_NS
        system_ns = time.monotonic_ns() - self._clock.since_on_ns()
        packet = sample = 0
        while packet != limit:
            # A packet is sent when its last column is measured.
            lidar_ns = begin_ns + (packet + 1) * 1_000_000_000 // mode.packets_per_second
            imu_ns = begin_ns + sample * 1_000_000_000 // IMU_HZ
            if imu_ns <= lidar_ns:
                payload = imu_sample(sample, imu_ns - system_ns, imu_ns + offset_ns)
                wait_until(imu_ns)
                sender.imu(payload.tobytes())
                sample += 1
                continue
            columns = renderer.packet(packet, begin_ns + offset_ns)
            sender.lateness.append(wait_until(lidar_ns))
            sender.lidar(columns.view("u1").data)
            packet += 1
            self.packets += 1
            if configuration.generation != generation or self._stop.is_set():
                return False
        return True

    def _replay(self, generation: int) -> bool:
        """Send a capture's lidar and IMU packets at its pace, by their sizes; true at its end."""
        assert self._options.replay
        offset_ns = packet = 0
        limit = self._options.bounds.limit(self._configuration.mode)
        for datagram in read_capture(self._options.replay):
            if self._configuration.generation != generation or self._stop.is_set():
                return False
            offset_ns = offset_ns or time.monotonic_ns() + _LEAD_NS - datagram.at_ns
            late = wait_until(datagram.at_ns + offset_ns)
            if len(datagram.payload) == LIDAR_BYTES:
                self.sender.lateness.append(late)
                self.sender.lidar(datagram.payload)
                packet += 1
                self.packets += 1
                if packet == limit:
                    break
            elif len(datagram.payload) == IMU_BYTES:
                self.sender.imu(datagram.payload)
        return True
