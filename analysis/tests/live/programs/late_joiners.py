# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Readers that come when everything was written, one after the other, and stay.

usage: late_joiners.py LOG MESSAGES JOINERS
/writer keeps what it writes (transient local) and publishes MESSAGES on /kept at once, before
anybody reads. /joiner_0, /joiner_1 ... make their subscriptions later, 0.3 s or more apart. The
one before the last makes it before /writer is there, and its process is stopped until its turn: it
is matched late. All are processes of their own. LOG/NODE.csv has when each message was published,
when its callback began, and (event `turn`) from when on the joiner could have it at the earliest.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import UInt64

NODE = "--node"
LOG, MESSAGES, JOINERS = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
EARLY = JOINERS - 2
Rows = list[tuple[str, int, int]]


def told() -> str:
    """Wait for a line of the parent's, and end with it."""
    line = sys.stdin.readline()
    if not line:
        sys.exit(1)
    return line


def tell(word: str) -> None:
    print(word, flush=True)


def qos() -> QoSProfile:
    return QoSProfile(depth=MESSAGES, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def writer() -> Rows:
    told()
    rclpy.init()
    publisher = rclpy.create_node("writer").create_publisher(UInt64, "kept", qos())
    rows = []
    for number in range(MESSAGES):
        rows.append(("publish", number, time.monotonic_ns()))
        publisher.publish(UInt64(data=number))
    tell("written")
    sys.stdin.read()
    return rows


def joiner(name: str) -> Rows:
    told()
    turn_ns = time.monotonic_ns()
    rclpy.init()
    node = rclpy.create_node(name)
    rows: Rows = []
    node.create_subscription(
        UInt64, "kept", lambda m: rows.append(("cb_start", m.data, time.monotonic_ns())), qos()
    )
    if name == f"joiner_{EARLY}":
        tell("made")
        turn_ns = int(told())
    parent = os.getppid()
    while len(rows) < MESSAGES and os.getppid() == parent:
        rclpy.spin_once(node, timeout_sec=0.1)
    tell("read")
    sys.stdin.read()
    return [("turn", 0, turn_ns), *rows]


def run(name: str) -> None:
    rows = writer() if name == "writer" else joiner(name)
    lines = [f"{event},{number},{ns},{ns}\n" for event, number, ns in rows]
    (LOG / f"{name}.csv").write_text("event,seq,t_mono_ns,src_mono_ns\n" + "".join(lines))


def main() -> int:
    LOG.mkdir(parents=True)
    nodes = ["writer", *(f"joiner_{number}" for number in range(JOINERS))]
    ends = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    line = [sys.executable, *sys.argv, NODE]
    children = [subprocess.Popen([*line, name], text=True, **ends) for name in nodes]

    def ask(child: subprocess.Popen[str], word: str) -> None:
        child.stdin.write(f"{word}\n")
        child.stdin.flush()

    first, joiners = children[0], children[1:]
    ask(joiners[EARLY], "join")
    joiners[EARLY].stdout.readline()
    joiners[EARLY].send_signal(signal.SIGSTOP)
    ask(first, "write")
    first.stdout.readline()
    for number, child in enumerate(joiners):
        time.sleep(0.3 + 0.1 * number)
        child.send_signal(signal.SIGCONT)
        ask(child, str(time.monotonic_ns()))
        child.stdout.readline()
    for child in children:
        child.communicate()
    return max(child.returncode for child in children)


if NODE in sys.argv:
    run(sys.argv[-1])
else:
    sys.exit(main())
