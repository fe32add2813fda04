# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Publishes numbered strings, receives them, or does both: talk.py talk|listen|both COUNT SIZE.

A listener prints, as JSON, hashes of what it received, and the ports on which it can be reached.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import time
from pathlib import Path

import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import String

PERIOD_S = 0.005
PATIENCE_S = 60.0


def udp_ports() -> list[int]:
    """Give the ports of this process' own UDP sockets."""
    links = [path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    own = {match[1] for link in links if (match := re.match(r"socket:\[(\d+)\]", str(link)))}
    rows = [line.split() for line in Path("/proc/net/udp").read_text().splitlines()[1:]]
    return sorted({int(row[1].split(":")[1], 16) for row in rows if row[9] in own})


def shm_ports() -> list[int]:
    """Give the ports that this process holds as their reader: it keeps their lock files open."""
    links = [path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    held = [re.fullmatch(r"/dev/shm/fast\w+_port(\d+)_[es]l", str(link)) for link in links]
    return sorted({int(match[1]) for match in held if match})


def main(role: str, count: int, size: int) -> None:
    rclpy.init()
    node = Node(role)
    profile = QoSProfile(depth=count)
    received: list[str] = []
    deadline = time.monotonic() + PATIENCE_S
    if role != "talk":
        subscription = node.create_subscription(
            String, "numbers", lambda m: received.append(m.data), profile
        )
    if role == "listen":
        while subscription.get_publisher_count() == 0 and time.monotonic() < deadline:
            time.sleep(0.05)
        node.create_publisher(String, "ready", 1)
    if role != "listen":
        publisher = node.create_publisher(String, "numbers", profile)
        # Both sides know each other: nothing has to be sent again.
        while (
            publisher.get_subscription_count() == 0
            or (role == "talk" and node.count_publishers("ready") == 0)
        ) and time.monotonic() < deadline:
            time.sleep(0.05)
        for i in range(count):
            publisher.publish(String(data=str(i).ljust(size, ".")))
            if role == "both":
                rclpy.spin_once(node, timeout_sec=1)
            time.sleep(PERIOD_S)
        # Not before the listener has all: it may ask for a message again.
        while publisher.get_subscription_count() and role == "talk":
            assert time.monotonic() < deadline, "the listener does not end"
            time.sleep(0.05)
    while role != "talk" and len(received) < count and time.monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=1)
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in received]
    print(json.dumps({"received": hashes, "udp": udp_ports(), "shm": shm_ports()}))


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
