# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A relay daemon of a test's own."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from lttng_world import World, wait_until

from strata.live.viewer import Viewer

TIMER_US = 200_000


@dataclass(frozen=True)
class Relay:
    """A relay daemon of the test's own: its live port, and where it keeps what it receives."""

    world: World
    ports: tuple[int, ...]
    output: Path
    process: subprocess.Popen[str]

    def create(
        self, session: str, *, timer_us: int = TIMER_US, events: Sequence[str] = ("ros2:tick",)
    ) -> None:
        control, data, _ = (f"tcp4://127.0.0.1:{port}" for port in self.ports)
        self.world.lttng("create", session, f"--live={timer_us}", "-C", control, "-D", data)
        self.world.lttng("enable-event", "-u", "-s", session, ",".join(events))
        self.world.lttng("add-context", "-u", "-s", session, "-t", "vpid", "-t", "vtid")
        self.world.lttng("start", session)

    def viewer(self) -> Viewer:
        return Viewer.connect("127.0.0.1", self.ports[2])


def free_ports(count: int) -> tuple[int, ...]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = tuple(one.getsockname()[1] for one in sockets)
    for one in sockets:
        one.close()
    return ports


@contextlib.contextmanager
def relay_daemon(world: World, output: Path) -> Iterator[Relay]:
    """Run a relay daemon, and a session daemon, until this ends."""
    ports = free_ports(3)
    control, data, live = (f"tcp://127.0.0.1:{port}" for port in ports)
    output.mkdir()
    line = ["lttng-relayd", "-C", control, "-D", data, "-L", live, "-o", output]
    process = world.popen(*line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: can_connect(ports[2]), "the relay daemon")
        world.start_daemon()
        yield Relay(world, ports, output, process)
    finally:
        process.terminate()
        process.wait(60)


def can_connect(port: int) -> bool:
    with closing(socket.socket()) as one:
        return one.connect_ex(("127.0.0.1", port)) == 0
