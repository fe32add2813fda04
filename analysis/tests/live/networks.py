# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Network namespaces and a slow link between two of them; gone when their holders are."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

# No name in the file system: whatever ends this process ends the holder, and the namespace with it.
_HOLDER = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sh", "-c"]
_READY = "ip link set lo up && echo ready && exec sleep infinity"


@dataclass(frozen=True)
class Network:
    """A network namespace that a process holds."""

    pid: int

    @property
    def inside(self) -> list[str]:
        """Words before a command that is to run here."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", "--"]

    def run(self, *command: str) -> str:
        done = subprocess.run([*self.inside, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def udp(self, counter: str) -> int:
        """Read one of the kernel's counters of UDP."""
        lines = [line for line in self.run("cat", "/proc/net/snmp").splitlines() if "Udp:" in line]
        names, values = (line.split() for line in lines)
        return int(values[names.index(counter)])


@contextmanager
def network() -> Iterator[Network]:
    """Make a namespace with nothing but loopback; skip where that is not allowed."""
    holder = subprocess.Popen(
        [*_HOLDER, _READY], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        if holder.stdout.readline() != "ready\n":
            holder.kill()
            _, errors = holder.communicate()
            pytest.skip(f"no network namespace can be made here: {errors.strip()}")
        yield Network(holder.pid)
    finally:
        holder.kill()
        holder.communicate()


@dataclass(frozen=True)
class Link:
    """Two networks; what `near` sends to `far` leaves at a rate, after a burst (bits/s, bytes)."""

    near: Network
    far: Network
    rate: int
    burst: int

    def queue(self) -> dict[str, Any]:
        """Read the kernel's statistics of the slow queue."""
        (found,) = json.loads(self.near.run("tc", "-s", "-j", "qdisc", "show", "dev", "out"))
        queue: dict[str, Any] = found
        return queue


@contextmanager
def slow_link(rate: int, burst: int) -> Iterator[Link]:
    with ExitStack() as stack:
        near, far = stack.enter_context(network()), stack.enter_context(network())
        ends = ["ip", "link", "add", "out", "type", "veth", "peer", "name", "in"]
        near.run(*ends, "netns", str(far.pid))
        for place, name, host in [(near, "out", 1), (far, "in", 2)]:
            place.run("ip", "address", "add", f"10.77.0.{host}/24", "dev", name)
            place.run("ip", "link", "set", name, "up")
            place.run("ip", "route", "add", "224.0.0.0/4", "dev", name)
        # As deep as some seconds of traffic: nothing is to be dropped.
        tbf = ["tbf", "rate", str(rate), "burst", str(burst), "limit", str(8 << 20)]
        near.run("tc", "qdisc", "add", "dev", "out", "root", *tbf)
        yield Link(near, far, rate, burst)
