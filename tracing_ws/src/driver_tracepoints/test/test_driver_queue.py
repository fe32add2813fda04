# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long datagrams lay in a socket's queue, and how many it dropped, against what is true."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass

import pytest
from driver_trace import DriverEvent, free_ports, python, read, with_api, with_hooks
from traced_ros import Lttng, alone

pytestmark = pytest.mark.live
# Every socket that is bound to the port gets a copy, with the same stamp of the kernel.
ALL = "127.255.255.255"
SENT = 300
SO_TIMESTAMPNS = 35
WAIT_S = 0.3


@dataclass
class Run:
    port: int
    told: list[list[int]]
    stamps: list[int]
    events: list[DriverEvent]

    @property
    def packets(self) -> list[DriverEvent]:
        return [event for event in self.events if event.name == "packet_received"]


def observe(observer: socket.socket) -> list[tuple[int, int]]:
    """Give size and stamp of each datagram, as an independent reader finds them."""
    found = []
    with contextlib.suppress(BlockingIOError):
        while True:
            data, control, *_ = observer.recvmsg(2000, 100)
            ((_, kind, stamp),) = control
            assert kind == SO_TIMESTAMPNS
            seconds, nanoseconds = struct.unpack("qq", stamp)
            found.append((len(data), seconds * 1_000_000_000 + nanoseconds))
    return found


def run(lttng: Lttng, way: str) -> Run:
    (port,) = free_ports(1)
    environment = with_hooks([port]) if way == "hooks" else with_api()
    with contextlib.ExitStack() as stack:
        observer = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        observer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        observer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        observer.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        observer.bind(("0.0.0.0", port))
        observer.setblocking(False)
        sender = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        session, output = lttng.start("driver:*")
        stack.callback(lambda: session and lttng.stop(session))
        words = alone(python("queue.py", port, way), environment, lttng)
        program = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        stack.callback(program.kill)
        assert program.stdin is not None and program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        # The kernel needs a moment to turn its stamps on.
        time.sleep(0.2)
        observed = []
        for round_sizes in (range(100, 100 + SENT), (50,)):
            for size in round_sizes:
                sender.sendto(bytes(size), (ALL, port))
                observed += observe(observer)
            time.sleep(WAIT_S)
            observed += observe(observer)
            program.stdin.write("read\n")
            program.stdin.flush()
            assert program.stdout.readline() == "read\n"
        # Not by communicate, which does not see what readline has read ahead.
        out = program.stdout.readline()
        _, error = program.communicate(timeout=30)
        assert (program.returncode, error) == (0, "")
        lttng.stop(session)
        session = ""
    assert len(observed) == SENT + 1, "the observer lost some itself"
    told = json.loads(out)
    by_size = dict(observed)
    stamps = [by_size[size] for size, *_ in told]
    return Run(port, told, stamps, list(read(output)))


def check_told(told: list[list[int]]) -> None:
    """What a reader is told of sequence, waiting and losses."""
    assert [sequence for *_, sequence in told] == list(range(len(told)))
    assert all(WAIT_S * 1e9 < queue_ns < 30e9 for _, queue_ns, _, _ in told[:-1])
    dropped = SENT + 1 - len(told)
    assert dropped > 10
    # Of those that were there before any was dropped nothing is told.
    assert {told[0][2], told[-1][2]} == {0, dropped}


@pytest.mark.parametrize("way", ["hooks", "api"])
def test_stamps_and_losses_are_the_kernels(lttng, way):
    done = run(lttng, way)
    packets = done.packets
    assert len(packets) == len(done.told) < SENT
    assert [event["bytes"] for event in packets] == [size for size, *_ in done.told]
    assert [event["sequence"] for event in packets] == list(range(len(packets)))
    assert packets[-1]["dropped"] == SENT + 1 - len(packets)
    assert packets[0]["dropped"] == 0
    assert all(event["queue_ns"] > WAIT_S * 1e9 for event in packets)
    # The trace's clock and the kernel's differ by how exactly LTTng found their offset, once, and
    # by the moments between two readings of the clock.
    apart = sorted(
        event.arrival_ns - stamp for event, stamp in zip(packets, done.stamps, strict=True)
    )
    assert abs(apart[len(apart) // 2]) < 10e6
    assert max(abs(apart[0]), abs(apart[-1])) < 1e9
    (source,) = [event for event in done.events if event.name == "source_init"]
    assert (source["kind"], source["address"]) == ("udp", f"0.0.0.0:{done.port}")
    assert source["name"] == ("lidar" if way == "api" else "")
    assert {event["source"] for event in packets} == {source["source"]}
    assert done.events[0] is source
    if way == "api":
        check_told(done.told)
        assert [event["queue_ns"] for event in packets] == [row[1] for row in done.told]
        assert [event["dropped"] for event in packets] == [row[2] for row in done.told]


OVERFLOWS = """
import socket, sys
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
sock.bind(("127.0.0.1", int(sys.argv[1])))
sock.setblocking(False)
def send(count):
    for _ in range(count):
        sock.sendto(bytes(1000), sock.getsockname())
def read():
    count = 0
    try:
        while sock.recv(2000):
            count += 1
    except BlockingIOError:
        return count
send(300)
print("full", flush=True)
sys.stdin.readline()
told = [read()]
for count in (1, 300, 1):
    send(count)
    told.append(read())
print(*told)
"""


def test_what_was_dropped_before_the_session_is_not_of_it(lttng):
    (port,) = free_ports(1)
    words = alone([sys.executable, "-c", OVERFLOWS, str(port)], with_hooks([port]), lttng)
    program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None and program.stdout.readline() == "full\n"
        session, output = lttng.start("driver:*")
        out, _ = program.communicate("read\n", timeout=30)
        lttng.stop(session)
    finally:
        program.kill()
    first, one, second, last = map(int, out.split())
    assert (one, last) == (1, 1) and max(first, second) < 250
    dropped = [event["dropped"] for event in read(output) if event.name == "packet_received"]
    assert dropped == [0] * (first + 1 + second) + [300 - second]
