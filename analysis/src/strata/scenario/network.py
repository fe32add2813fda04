# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Hosts of a scenario on one machine: network namespaces joined by virtual Ethernet.

Two hosts have one pair of interfaces; more have one each to a bridge in a namespace of its own.
Nothing of it is seen from outside, so that runs beside each other do not meet. What leaves an
interface is held to the link's rate by the qdisc tbf, delayed and lost by netem. Imports the
standard library only.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from strata.scenario.namespaces import (
    MACHINE_ID,
    NetworkNamespace,
    UserNamespace,
    needs_user_namespace,
    tried,
)

INTERFACE = "eth0"
"""The name of each host's interface."""

_NET = "10.42.0"
# What a frame takes of the line beside what the kernel counts (which has the 14 bytes of its
# header): preamble 8, checksum 4, gap 12 (IEEE 802.3).
_FRAME_EXTRA = 24
_HEADER = 14
# A bucket must hold what the rate gives between two looks at it: 16 frames at least.
_BURST_FRAMES = 16
# A sender is held back by its socket's buffer (at most twice net.core.wmem_max, some MB) before
# this is full: the shaper itself loses nothing.
_QUEUE_BYTES = 64 << 20
_QUEUE_PACKETS = 1 << 16
_FAILED = re.compile(r"Command failed -:(\d+)")


@dataclass(frozen=True)
class Link:
    """What joins some hosts: rate in Mbit/s (0: not limited), delay one way, loss, longest packet.

    The rate counts what a frame takes of a real line: with 1500 bytes a packet, 1538 bytes. What it
    gives in `burst_us` may leave at once after a pause, or when the machine was late.
    """

    hosts: tuple[str, ...]
    rate_mbit: float = 1000.0
    delay_us: float = 0.0
    loss_percent: float = 0.0
    mtu: int = 1500
    burst_us: float = 100.0

    def burst_bytes(self) -> int:
        """Give what may leave at once after a pause."""
        frames = _BURST_FRAMES * (self.mtu + _HEADER + _FRAME_EXTRA)
        return max(frames, round(self.rate_mbit * self.burst_us / 8))

    def shaping(self, device: str) -> list[str]:
        """Give the commands of `tc -batch` that make a device's outgoing side this link."""
        commands, place = [], "root"
        if self.rate_mbit:
            commands.append(
                f"qdisc add dev {device} root handle 1: tbf rate {round(self.rate_mbit * 1e6)}bit "
                f"burst {self.burst_bytes()} limit {_QUEUE_BYTES} overhead {_FRAME_EXTRA}"
            )
            place = "parent 1:1"
        if self.delay_us or self.loss_percent:
            delay = f" delay {self.delay_us:g}us" if self.delay_us else ""
            loss = f" loss {self.loss_percent:g}%" if self.loss_percent else ""
            commands.append(
                f"qdisc add dev {device} {place} handle 10: netem limit {_QUEUE_PACKETS}"
                f"{delay}{loss}"
            )
        return commands


class Refused(Exception):  # noqa: N818 - a fact of this system, which callers put into a sentence
    """The system does not let us have such a network; the text says why."""


def namespaces_unavailable(link: Link | None = None) -> str | None:
    """Make a link of two hosts and remove it; say why that cannot be, null when it can.

    `link` is what is tried in place of the usual one, 1 Gbit/s.
    """
    with tempfile.TemporaryDirectory() as directory:
        try:
            Hosts(link or Link(("a", "b")), Path(directory)).close()
        except Refused as refused:
            return str(refused)
    return None


class Hosts:
    """The hosts of a link, each a network namespace with an address on INTERFACE.

    They end with this object and the last process in them, however those end. `directory` gets the
    files that make them different machines for their programs. Raises Refused.
    """

    def __init__(self, link: Link, directory: Path) -> None:
        for program in ("ip", "tc"):
            if shutil.which(program) is None:
                raise Refused(f"there is no program {program} (package iproute2)")
        self.link = link
        self._user: UserNamespace | None = None
        self._switch: NetworkNamespace | None = None
        self._spaces: dict[str, NetworkNamespace] = {}
        self._ids: dict[str, Path] = {}
        try:
            self._make_spaces()
            self._join()
            self._tell_apart(directory)
        except BaseException:
            self.close()
            raise

    def enter(self, name: str) -> None:
        """Move this process to a host, with no more rights than before. Raises OSError."""
        self._spaces[name].enter_as_user(self._ids.get(name))

    def address(self, name: str) -> str:
        """Give a host's IPv4 address."""
        return f"{_NET}.{self.link.hosts.index(name) + 1}"

    def _make_spaces(self) -> None:
        what = "a network namespace"
        try:
            if needs_user_namespace():
                what = "a user namespace, needed without root,"
                self._user = UserNamespace()
            for name in self.link.hosts:
                self._spaces[name] = NetworkNamespace(self._user)
            if len(self.link.hosts) > 2:
                self._switch = NetworkNamespace(self._user)
        except OSError as error:
            raise Refused(f"{what} is refused: {error.strerror}") from error

    def _join(self) -> None:
        names = self.link.hosts
        mtu = self.link.mtu
        if self._switch is None:
            first, second = (self._spaces[name] for name in names)
            self._in(first, "ip", [_pair(INTERFACE, mtu, second)], second)
        else:
            lines = ["link add bridge type bridge mcast_snooping 0", "link set bridge up"]
            for number, name in enumerate(names):
                port = f"port{number}"
                lines.append(_pair(port, mtu, self._spaces[name]))
                lines.append(f"link set {port} master bridge up")
            self._in(self._switch, "ip", lines, *self._spaces.values())
            for number, _ in enumerate(names):
                self._in(self._switch, "tc", self.link.shaping(f"port{number}"))
        for name, space in self._spaces.items():
            lines = [
                "link set lo up",
                f"addr add {self.address(name)}/24 dev {INTERFACE}",
                f"link set {INTERFACE} up",
                # Multicast, too, has a way.
                f"route add default dev {INTERFACE}",
            ]
            self._in(space, "ip", lines)
            self._in(space, "tc", self.link.shaping(INTERFACE))

    def _tell_apart(self, directory: Path) -> None:
        # A machine without the file is distinguished by its addresses.
        if not MACHINE_ID.is_file():
            return
        own = MACHINE_ID.read_text()
        for name in self.link.hosts:
            file = directory / name / MACHINE_ID.name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(hashlib.sha256(f"{own}{name}".encode()).hexdigest()[:32] + "\n")
            self._ids[name] = file.absolute()
        error = tried(partial(self.enter, self.link.hosts[0]))
        if error:
            raise Refused(f"a {MACHINE_ID} for each host is refused: {error.strerror}")

    def _in(
        self, space: NetworkNamespace, program: str, lines: list[str], *known: NetworkNamespace
    ) -> None:
        """Run commands in a namespace; `known` are others that they name."""
        if not lines:
            return
        try:
            done = subprocess.run(
                [program, "-batch", "-"],
                input="\n".join(lines) + "\n",
                text=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**os.environ, "LC_ALL": "C"},
                pass_fds=[one.file for one in known],
                preexec_fn=space.enter,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise Refused(f"{program} in a network namespace is refused: {error}") from error
        if done.returncode:
            number = _FAILED.search(done.stderr)
            line = lines[int(number[1]) - 1] if number else "; ".join(lines)
            why = " ".join(_FAILED.sub("", done.stderr).split()).strip(".")
            raise Refused(f"`{program} {line}` fails: {why or f'exit status {done.returncode}'}")

    def as_json(self) -> dict[str, Any]:
        """Return what the link is, and what went over it so far, host by host."""
        return {
            "link": "veth",
            "rate_mbit": self.link.rate_mbit,
            "delay_us": self.link.delay_us,
            "loss_percent": self.link.loss_percent,
            "mtu": self.link.mtu,
            "burst_bytes": self.link.burst_bytes() if self.link.rate_mbit else None,
            "queue_bytes": _QUEUE_BYTES if self.link.rate_mbit else None,
            "user_namespace": self._user is not None,
            "hosts": [self._host(name) for name in self.link.hosts],
        }

    def _host(self, name: str) -> dict[str, Any]:
        space = self._spaces[name]
        counts = space.protocol_counters()
        return {
            "name": name,
            "interface": INTERFACE,
            "address": self.address(name),
            **space.interface_counters(INTERFACE),
            "queue_drops": self._drops(space, INTERFACE) + self._drops_at_switch(name),
            "udp_receive_buffer_drops": counts.get("Udp.RcvbufErrors"),
            "ip_reassembly_failures": counts.get("Ip.ReasmFails"),
        }

    def _drops_at_switch(self, name: str) -> int:
        if self._switch is None:
            return 0
        return self._drops(self._switch, f"port{self.link.hosts.index(name)}")

    @staticmethod
    def _drops(space: NetworkNamespace, device: str) -> int:
        done = subprocess.run(
            ["tc", "-statistics", "-json", "qdisc", "show", "dev", device],
            capture_output=True,
            preexec_fn=space.enter,
            check=False,
        )
        found = json.loads(done.stdout or b"[]")
        return sum(one.get("drops", 0) for one in found)

    def close(self) -> None:
        """Let go of the namespaces: they end with the last process in each."""
        for space in self._spaces.values():
            space.close()
        if self._switch:
            self._switch.close()
        if self._user:
            self._user.close()
        self._spaces, self._switch, self._user = {}, None, None


def _pair(name: str, mtu: int, other: NetworkNamespace) -> str:
    """Give the command that makes an interface here and its peer, INTERFACE, in another."""
    there = f"/proc/self/fd/{other.file}"
    return f"link add {name} mtu {mtu} type veth peer name {INTERFACE} mtu {mtu} netns {there}"
