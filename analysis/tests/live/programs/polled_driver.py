# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`polled_driver.py LOG FRAMES`: a driver whose timer reads one packet a tick, and its sensor.

The sensor sends packets twice as fast as the driver reads them, into a small socket buffer; some it
never sends. The driver knows that a scan is complete when the next one begins. Another process
takes the scans. Sensor and driver write down what they did.
"""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String
from until_closed import listen

import driver_tracepoints

PACKETS = 32
PERIOD_S = 0.001
TICK_S = 0.002
SKIPPED = 5
"""This packet of every third frame is never sent."""
_PACKET = struct.Struct("<II1000x")
_BUFFER = 40 * 2304
"""Room for some 40 packets, as the kernel counts them."""


class Sensor(threading.Thread):
    def __init__(self, port: int, frames: int) -> None:
        super().__init__(daemon=True)
        self.port, self.frames = port, frames
        self.sent = self.skipped = 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def send(self, frame: int, place: int) -> None:
        self.socket.sendto(_PACKET.pack(frame, place), ("127.0.0.1", self.port))
        self.sent += 1

    def run(self) -> None:
        begin = time.monotonic()
        for frame in range(self.frames):
            for place in range(PACKETS):
                if frame % 3 == 0 and place == SKIPPED:
                    self.skipped += 1
                    continue
                due = begin + (frame * PACKETS + place) * PERIOD_S
                time.sleep(max(0.0, due - time.monotonic()))
                self.send(frame, place)


class Driver(Node):
    def __init__(self, frames: int) -> None:
        super().__init__("polled_driver")
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER // 2)
        driver_tracepoints.prepare(self.socket)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        port = self.socket.getsockname()[1]
        self.source = driver_tracepoints.source_init("udp", "lidar", f"127.0.0.1:{port}")
        self.points = self.create_publisher(String, "/points", 10)
        self.scan = self.create_publisher(String, "/scan", 10)
        self.sensor = Sensor(port, frames)
        self.received = self.dropped = self.missing = 0
        self.frame, self.first, self.count = -1, 0, 0
        self.published: list[int] = []
        self.buffer = bytearray(_PACKET.size)
        self.idle = 0
        self.timer = self.create_timer(TICK_S, self.poll)

    def poll(self) -> None:
        while not self.points.get_subscription_count():
            time.sleep(0.01)
        if self.sensor.ident is None:
            self.sensor.start()
        try:
            _, _, self.dropped, sequence = driver_tracepoints.receive(
                self.socket, self.buffer, self.source
            )
        except BlockingIOError:
            if not self.sensor.is_alive():
                # All is read; a last packet tells what was dropped last, and ends the last scan.
                if not self.idle:
                    self.sensor.send(self.sensor.frames, 0)
                self.idle += 1
            return
        self.received += 1
        frame, _ = _PACKET.unpack(self.buffer)
        if frame != self.frame and self.count:
            self.complete(sequence)
        if frame != self.frame:
            self.frame, self.first, self.count = frame, sequence, 0
        self.count += 1

    def complete(self, sequence: int) -> None:
        missing = PACKETS - self.count
        self.missing += missing
        driver_tracepoints.frame_boundary(
            self.source, self.frame, self.count, missing, self.first, sequence
        )
        message = String(data=str(self.frame))
        driver_tracepoints.cloud_ready(self.source, self.frame, len(message.data))
        self.points.publish(message)
        self.scan.publish(message)
        self.published.append(self.frame)

    def log(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        names = ("received", "dropped", "missing", "published")
        truth = {name: getattr(self, name) for name in names}
        sent = {"sent": self.sensor.sent, "skipped": self.sensor.skipped}
        path.write_text(json.dumps(truth | sent | {"port": self.sensor.port}))


def main(log: str, frames: str) -> None:
    with subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE):
        rclpy.init()
        driver = Driver(int(frames))
        executor = SingleThreadedExecutor()
        executor.add_node(driver)
        while driver.idle < 5:
            executor.spin_once()
        # What was sent last has to be taken.
        time.sleep(0.2)
        driver.log(Path(log))


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 1 else listen("/points", 10)
