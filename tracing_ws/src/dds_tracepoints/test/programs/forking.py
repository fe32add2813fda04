# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes children in every way that Python has, while threads of it publish and receive.

Prints how the children ended, by way, and how many messages arrived meanwhile.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import String

ROUNDS = 8
PATIENCE_S = 30.0


def forked(child) -> int:
    """Fork, run `child` there, and give its status; a child that hangs is ended."""
    pid = os.fork()
    if pid == 0:
        child()
        os._exit(9)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return 1000


def send() -> None:
    """Call what the hooks stand in for, in a child that nobody else's locks may stop."""
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendmsg([b"RTPS", b"message"])
    one.send(b"message")
    assert other.recvmsg(100)[0] == b"RTPSmessage"
    os._exit(0)


WAYS = {
    "exit": lambda: forked(lambda: os._exit(0)),
    "exec": lambda: forked(lambda: os.execv("/bin/true", ["true"])),
    "send": lambda: forked(send),
    "subprocess": lambda: subprocess.run(["/bin/true"], check=False).returncode,
    "spawn": lambda: os.waitstatus_to_exitcode(
        os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)[1]
    ),
    "shell": lambda: os.waitstatus_to_exitcode(os.system("exit 0")),
}


def main() -> None:
    rclpy.init()
    node = rclpy.create_node("forking")
    received: list[str] = []
    node.create_subscription(String, "forking", lambda m: received.append(m.data), 1000)
    publisher = node.create_publisher(String, "forking", 1000)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    stop = threading.Event()

    def publish() -> None:
        while not stop.wait(0.001):
            publisher.publish(String(data="x" * 100))

    def spin() -> None:
        while not stop.is_set():
            executor.spin_once(timeout_sec=0.1)

    threads = [threading.Thread(target=target) for target in (publish, spin)]
    for thread in threads:
        thread.start()
    ended = {way: sorted({act() for _ in range(ROUNDS)}) for way, act in WAYS.items()}
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        ended["pool"] = pool.map(abs, [0])
    before = len(received)
    deadline = time.monotonic() + PATIENCE_S
    while len(received) < before + 10 and time.monotonic() < deadline:
        time.sleep(0.01)
    stop.set()
    for thread in threads:
        thread.join()
    print(json.dumps({"ended": ended, "after": len(received) >= before + 10}))


if __name__ == "__main__":
    sys.exit(main())
