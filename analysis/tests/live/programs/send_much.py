# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A node that publishes and one that reads, each in a process of its own.

usage: send_much.py LOG MESSAGES BYTES PAUSE_MS [FIFO]
/source publishes serialized messages on /data with a pause after each. Just before each tenth it
writes a byte to FIFO, so that whoever reads there can do something to it inside the publish().
Both write to LOG/NODE.csv what they did: /source when it entered and left each publish(), /sink
when its callback began. The arrivals are numbered in their order, which is that of the messages.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from array import array
from pathlib import Path

import rclpy
from rclpy.serialization import serialize_message
from std_msgs.msg import UInt8MultiArray

NODE = "--node"
ARGUMENTS = sys.argv[1 : sys.argv.index(NODE)] if NODE in sys.argv else sys.argv[1:]
LOG, MESSAGES, BYTES = Path(ARGUMENTS[0]), int(ARGUMENTS[1]), int(ARGUMENTS[2])
PAUSE_S = float(ARGUMENTS[3]) / 1e3


def source() -> None:
    node = rclpy.create_node("source")
    publisher = node.create_publisher(UInt8MultiArray, "data", MESSAGES)
    message = serialize_message(UInt8MultiArray(data=array("B", bytes(BYTES))))
    while not publisher.get_subscription_count():
        time.sleep(0.01)
    # The reader knows of the publisher some time later.
    time.sleep(0.2)
    print("source: all connected", file=sys.stderr, flush=True)
    rows = []
    fifo = os.open(ARGUMENTS[4], os.O_WRONLY) if ARGUMENTS[4:] else None
    for number in range(MESSAGES):
        if fifo is not None and number % 10 == 9:
            os.write(fifo, b".")
        entered_ns = time.monotonic_ns()
        publisher.publish(message)
        rows += [("publish", number, entered_ns), ("published", number, time.monotonic_ns())]
        time.sleep(PAUSE_S)
    if fifo is not None:
        os.close(fifo)
    write("source", rows)
    # What was sent lies with the writer until the reader has it.
    sys.stdin.read()


def sink() -> None:
    node = rclpy.create_node("sink")
    rows: list[tuple[str, int, int]] = []
    node.create_subscription(
        UInt8MultiArray,
        "data",
        lambda _: rows.append(("cb_start", len(rows), time.monotonic_ns())),
        MESSAGES,
        raw=True,
    )
    parent = os.getppid()
    while len(rows) < MESSAGES and os.getppid() == parent:
        rclpy.spin_once(node, timeout_sec=0.1)
    write("sink", rows)


def write(node: str, rows: list[tuple[str, int, int]]) -> None:
    lines = [f"{event},{number},{ns},{ns}\n" for event, number, ns in rows]
    (LOG / f"{node}.csv").write_text("event,seq,t_mono_ns,src_mono_ns\n" + "".join(lines))


if NODE in sys.argv:
    rclpy.init()
    {"source": source, "sink": sink}[sys.argv[-1]]()
else:
    LOG.mkdir(parents=True)
    line = [sys.executable, *sys.argv]
    sender = subprocess.Popen([*line, NODE, "source"], stdin=subprocess.PIPE)
    status = subprocess.run([*line, NODE, "sink"], stdin=subprocess.DEVNULL).returncode
    sender.communicate()
    sys.exit(status or sender.returncode)
