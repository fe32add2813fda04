# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`driver.py TRUTH PACKETS LATE_MS CONVERT_MS`: a driver of a sensor that sends 4 packets a frame.

The driver reads a packet LATE_MS after it came, and needs CONVERT_MS from the last packet of a
frame to its publish.
"""

from __future__ import annotations

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
from truth import TruthFile, spin_for, spin_until_closed

import driver_tracepoints

PERIOD_S = 0.02
A_FRAME = 4
_PACKET = struct.Struct("<II1000x")


def send(port: int, packets: int, sent: dict[int, int]) -> None:
    """Be the sensor."""
    to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    begin = time.monotonic()
    for number in range(packets):
        time.sleep(max(0.0, begin + number * PERIOD_S - time.monotonic()))
        sent[number] = time.monotonic_ns()
        to.sendto(_PACKET.pack(number // A_FRAME, number % A_FRAME), ("127.0.0.1", port))


class Driver(Node):
    """Reads in a thread of its own, as drivers do."""

    def __init__(self, truth: TruthFile, late_ms: float, convert_ms: float) -> None:
        super().__init__("lidar")
        self.truth, self.late_s, self.convert_s = truth, late_ms / 1e3, convert_ms / 1e3
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        driver_tracepoints.prepare(self.socket)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.source = driver_tracepoints.source_init("udp", "lidar", f"127.0.0.1:{self.port}")
        self.points = self.create_publisher(String, "/points", 10)

    def read(self, packets: int, sent: dict[int, int]) -> None:
        """Read so many packets and publish their frames."""
        buffer = bytearray(_PACKET.size)
        first = 0
        for number in range(packets):
            while number not in sent:
                time.sleep(0.0005)
            spin_for(self.late_s - (time.monotonic_ns() - sent[number]) * 1e-9)
            _, _, _, sequence = driver_tracepoints.receive(self.socket, buffer, self.source)
            self.truth.add("lidar", "queued", "", number, sent[number])
            frame, place = _PACKET.unpack(buffer)
            first = sequence if place == 0 else first
            if place == A_FRAME - 1:
                driver_tracepoints.frame_boundary(self.source, frame, A_FRAME, 0, first, sequence)
                self.publish(frame)

    def publish(self, frame: int) -> None:
        """Convert a frame and publish it."""
        begin_ns = time.monotonic_ns()
        message = String(data=str(frame))
        spin_for(self.convert_s)
        driver_tracepoints.cloud_ready(self.source, frame, len(message.data))
        self.truth.add("lidar", "converted", "", frame, begin_ns)
        self.points.publish(message)


def listen() -> None:
    """Be the node that takes the scans."""
    rclpy.init()
    node = Node("listener")
    node.create_subscription(String, "/points", lambda _: None, 10)
    spin_until_closed(node, SingleThreadedExecutor())


def main(place: str, packets: str, late_ms: str, convert_ms: str) -> None:
    """Run sensor, driver and listener."""
    with subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE):
        rclpy.init()
        truth = TruthFile(Path(place) / "lidar.csv")
        driver = Driver(truth, float(late_ms), float(convert_ms))
        while not driver.points.get_subscription_count():
            time.sleep(0.01)
        sent: dict[int, int] = {}
        sensor = threading.Thread(target=send, args=(driver.port, int(packets), sent))
        sensor.start()
        driver.read(int(packets), sent)
        sensor.join()
        time.sleep(0.3)
        truth.write()


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 1 else listen()
