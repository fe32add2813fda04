# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Times publish() or round trips in Python; prints JSON. rcl_load.c does the same without Python.

usage: rclpy_load.py {publish,heard,ping} COUNT | rclpy_load.py pong
publish: nobody listens. heard: `rcl_load sink` does, and waits for every message.
Every message is a String of 64 characters. `p50_ns` and `least_ns` are less `clock_ns`, what
reading the clock adds to a figure.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from array import array

import rclpy
from rclpy.duration import Duration
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from std_msgs.msg import String

WARM_UP = 500
BURST = 1000
# Lets the consumer daemon write what a burst recorded: a lost event would be a cheap one.
PAUSE_S = 0.01
# Enough for a subscriber to take a message and wait again.
PERIOD_S = 0.0005
# A subscriber may learn of its publisher later than the publisher of it.
SETTLE_S = 0.3
# Ends who listens: a signal may find rclpy where it then hangs or fails.
END = "end"
clock = time.perf_counter_ns


def text_of(number: int) -> str:
    """Return the text of a message."""
    return f"{number:064d}"


def publish(
    count: int, *, listeners: int = 0, burst: int = BURST, pause_s: float = PAUSE_S
) -> array[int]:
    """Time every call of publish(), with a pause before each burst."""
    node = Node("bench")
    publisher = node.create_publisher(String, "bench", 10)
    for _ in range(300):
        if publisher.get_subscription_count() == listeners:
            break
        time.sleep(0.1)
    else:
        raise SystemExit("Cannot measure: no subscriber.")
    time.sleep(SETTLE_S)
    message = String(data=text_of(0))
    call = publisher.publish
    times = array("q", bytes(8 * count))
    for number in range(-WARM_UP, count):
        if number % burst == 0:
            time.sleep(pause_s)
        begin = clock()
        call(message)
        times[max(number, 0)] = clock() - begin
    if listeners:
        end_peer(publisher)
    return times


def heard(count: int) -> array[int]:
    """Time every call where a subscriber in another process listens."""
    return publish(count, listeners=1, burst=1, pause_s=PERIOD_S)


class Ping:
    """Sends messages and waits for each one's answer."""

    def __init__(self) -> None:
        node = Node("ping")
        self.publisher = node.create_publisher(String, "ping", 10)
        node.create_subscription(String, "pong", self.answered, 10)
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(node)
        self.answer = ""
        self.end = 0

    def answered(self, message: String) -> None:
        """Note an answer."""
        self.end = clock()
        self.answer = message.data

    def is_answered(self, number: int) -> bool:
        """Send one; tell whether any answer has come."""
        self.publisher.publish(String(data=text_of(number)))
        self.executor.spin_once(timeout_sec=0.1)
        return self.answer != ""

    def send(self, number: int) -> int:
        """Send one and wait; return its round trip in nanoseconds."""
        text = text_of(number)
        message = String(data=text)
        begin = clock()
        self.publisher.publish(message)
        while self.answer != text:
            # Not with a time-out: it would make a timer each time.
            self.executor.spin_once()
        return self.end - begin


def ping(count: int) -> array[int]:
    """Time round trips, once the other process answers."""
    pinger = Ping()
    first = -1
    while not pinger.is_answered(first):
        first -= 1
        if first < -300:
            raise SystemExit("Cannot measure: pong does not answer.")
    times = array("q", bytes(8 * count))
    for number in range(-WARM_UP, count):
        times[max(number, 0)] = pinger.send(1000 + WARM_UP + number)
    end_peer(pinger.publisher)
    return times


def end_peer(publisher: Publisher) -> None:
    """Tell who listens that it was the last message."""
    publisher.publish(String(data=END))
    if not publisher.wait_for_all_acked(Duration(seconds=10)):
        raise SystemExit("Cannot measure: the other process does not end.")


def pong() -> None:
    """Answer until told to end."""
    node = Node("pong")
    publisher = node.create_publisher(String, "pong", 10)
    ended = False

    def answer(message: String) -> None:
        nonlocal ended
        ended = message.data == END
        if not ended:
            publisher.publish(message)

    node.create_subscription(String, "ping", answer, 10)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not ended:
        executor.spin_once()


def clock_cost() -> int:
    """Return what two readings of the clock are apart."""
    times = array("q", bytes(8 * 10_000))
    for number in range(len(times)):
        begin = clock()
        times[number] = clock() - begin
    return round(statistics.median(times))


def main() -> None:
    """Do what the command line says."""
    rclpy.init()
    gc.disable()
    if sys.argv[1] == "pong":
        pong()
        return
    times = {"publish": publish, "heard": heard, "ping": ping}[sys.argv[1]](int(sys.argv[2]))
    cost = clock_cost()
    figures = {
        "p50_ns": statistics.median(times) - cost,
        "p99_ns": sorted(times)[-1 - len(times) // 100] - cost,
        "least_ns": min(times) - cost,
        "clock_ns": cost,
        "messages": len(times) + WARM_UP,
    }
    sys.stdout.write(json.dumps(figures))
    rclpy.try_shutdown()


main()
