# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`plain_driver.py PORT MESSAGES`: a driver that knows nothing of tracing, and its sensor.

A thread of its own reads datagrams from PORT and publishes each; another process takes them. The
sensor sends them 10 ms apart, the first three of them before the driver reads.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time

import rclpy
from rclpy.node import Node
from std_msgs.msg import String
from until_closed import listen

AT_ONCE = 3
LATE_S = 0.05


class Driver(Node):
    def __init__(self, port: int, messages: int) -> None:
        super().__init__("plain_driver")
        self.messages = messages
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port))
        self.imu = self.create_publisher(String, "/imu", messages)
        self.thread = threading.Thread(target=self.read)

    def send(self) -> None:
        to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for number in range(self.messages):
            to.sendto(str(number).encode(), self.socket.getsockname())
            if number == AT_ONCE - 1:
                time.sleep(LATE_S)
                self.thread.start()
            if number >= AT_ONCE - 1:
                time.sleep(0.01)

    def read(self) -> None:
        for _ in range(self.messages):
            data = self.socket.recv(100)
            self.imu.publish(String(data=data.decode()))


def main(port: str, messages: str) -> None:
    with subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE):
        rclpy.init()
        driver = Driver(int(port), int(messages))
        while not driver.imu.get_subscription_count():
            time.sleep(0.01)
        driver.send()
        driver.thread.join()
        # What was sent last has to be taken.
        time.sleep(0.2)


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 1 else listen("/imu", 1000)
