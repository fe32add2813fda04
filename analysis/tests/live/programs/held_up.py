# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`held_up.py MESSAGES LOG [rival]`: a callback that computes for 10 ms of CPU time, and one that
sleeps for 10 ms, in turn; LOG gets what each did by the clocks of its thread.

With "rival", the program `yes` computes on the same CPU all the time, with a higher priority.
"""

import csv
import subprocess
import sys
import time
from pathlib import Path

import rclpy
from rclpy.node import Node
from std_msgs.msg import UInt32

WORK_NS = 10_000_000


class HeldUp(Node):
    def __init__(self, messages: int) -> None:
        super().__init__("held_up")
        self.messages = messages
        self.rows: list[tuple[int, int, int, int]] = []
        self.publisher = self.create_publisher(UInt32, "numbers", messages)
        self.create_subscription(UInt32, "numbers", self.on_number, messages)
        self.create_timer(0.05, self.on_timer)
        self.sent = 0

    def on_timer(self) -> None:
        if self.sent < self.messages:
            self.publisher.publish(UInt32(data=self.sent))
            self.sent += 1

    def on_number(self, message: UInt32) -> None:
        begin_ns, cpu_ns = time.monotonic_ns(), time.thread_time_ns()
        slept_ns = 0
        if message.data % 2:
            time.sleep(WORK_NS * 1e-9)
            slept_ns = WORK_NS
        else:
            while time.thread_time_ns() - cpu_ns < WORK_NS:
                pass
        cpu_ns, end_ns = time.thread_time_ns() - cpu_ns, time.monotonic_ns()
        self.rows.append((message.data, end_ns - begin_ns, cpu_ns, slept_ns))


def main(messages: int, log: Path, rival: str) -> None:
    rclpy.init()
    node = HeldUp(messages)
    rivals = []
    if rival:
        line = ["nice", "-n", "-5", "yes"]
        rivals.append(subprocess.Popen(line, stdout=subprocess.DEVNULL))
    try:
        while len(node.rows) < messages:
            rclpy.spin_once(node)
    finally:
        for process in rivals:
            process.kill()
            process.wait()
    with log.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["seq", "wall_ns", "cpu_ns", "slept_ns"])
        writer.writerows(node.rows)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "")
