# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the installed relay_chain as a user would, in a ROS domain of its own."""

from __future__ import annotations

import csv
import itertools
import json
import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from traced_ros import Ros, free_domain

BOUND_S = 60.0
"""A run of these tests takes 2 to 8 s on an idle machine."""


@dataclass(frozen=True)
class Place:
    """A ROS distribution and the workspace that was built for it."""

    distro: str

    @property
    def space(self) -> Path:
        return Ros(self.distro).install

    def command(self, *arguments: str | Path) -> list[str]:
        """Give the command that runs `arguments` with ROS set up; exec only, so pids agree."""
        if not list(self.space.glob("lib/python3.*/site-packages/relay_chain/__main__.py")):
            pytest.fail(f"{self.space} holds no relay_chain: run make setup", pytrace=False)
        wheels = Ros(self.distro).wheels
        if wheels and not (wheels / "lib/librcl.so").exists():
            pytest.fail(f"{wheels} holds no ROS 2: run make setup", pytrace=False)
        return Ros(self.distro).command(*arguments)

    def start(self, *arguments: str | Path, domain: int | None = None) -> subprocess.Popen[str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ROS_", "RMW_", "AMENT_", "PYTHON", "LD_", "FASTDDS_"))
        }
        own = {
            "ROS_DOMAIN_ID": str(domain or free_domain()),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        }
        return subprocess.Popen(
            self.command(*arguments), env=kept | own, stderr=subprocess.PIPE, text=True
        )

    def chain(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Start the chain, with a history that no stall of a process overruns."""
        return self.start("python3", "-m", "relay_chain", "--depth", "1000", *arguments)

    def executable(
        self, name: str, *settings: str, domain: int | None = None
    ) -> subprocess.Popen[str]:
        """Start one node alone, `settings` being `parameter:=value`."""
        words = [word for setting in settings for word in ("-p", setting)]
        program = self.space / "lib/relay_chain" / name
        return self.start(program, "--ros-args", *words, domain=domain)

    def run(self, *arguments: str | Path) -> tuple[int, str]:
        """Run the chain to its end: exit status and stderr."""
        return finish(self.chain(*arguments))


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Wait for the end of a process: exit status and stderr."""
    try:
        _, errors = process.communicate(timeout=BOUND_S)
    except subprocess.TimeoutExpired:
        process.terminate()
        _, errors = process.communicate()
        pytest.fail(f"did not end within {BOUND_S} s:\n{errors}")
    return process.returncode, errors


def wait_until(true: Callable[[], bool], what: str, seconds: float = 15.0) -> None:
    until = time.monotonic() + seconds
    while not true():
        if time.monotonic() > until:
            pytest.fail(f"no {what} within {seconds} s")
        time.sleep(0.05)


def read_until(process: subprocess.Popen[str], words: str) -> None:
    """Read stderr up to a line with `words`."""
    assert process.stderr
    seen = ""
    for line in process.stderr:
        seen += line
        if words in line:
            return
    pytest.fail(f"ended without {words!r}:\n{seen}")


def children(pid: int) -> dict[int, str]:
    """Give the command lines of a process's children."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    lines = {int(child): Path(f"/proc/{child}/cmdline").read_text() for child in found}
    return {child: line.replace("\0", " ") for child, line in lines.items()}


def alive(pid: int) -> bool:
    """Tell whether a process runs; one that nobody has reaped does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def _built_without_rclcpp() -> bool:
    return not (JAZZY.space / "lib/relay_chain/chain_cpp").exists()


JAZZY = Place("jazzy")
needs_rclcpp = pytest.mark.skipif(
    _built_without_rclcpp(), reason="relay_chain was built without rclcpp: only its Python nodes"
)
CLIENTS = ["rclpy", pytest.param("rclcpp", marks=needs_rclcpp)]
"""Both client libraries run the same chain, so they pass the same tests."""


@dataclass(frozen=True)
class Row:
    """A line of a node's stamps; times in ns of CLOCK_MONOTONIC."""

    pid: int
    tid: int
    event: str
    seq: int
    at: int
    sent: int


def truth(directory: Path) -> dict[str, list[Row]]:
    """Read the stamps of every node."""
    found: dict[str, list[Row]] = {}
    for path in sorted(directory.glob("*.csv")):
        with path.open(newline="") as file:
            lines = list(csv.reader(file))
        assert ",".join(lines[0]) == "node,pid,tid,event,seq,t_mono_ns,src_mono_ns"
        assert all(line[0] == path.stem for line in lines[1:])
        found[path.stem] = [
            Row(int(pid), int(tid), event, int(seq), int(at), int(sent))
            for _, pid, tid, event, seq, at, sent in lines[1:]
        ]
    return found


def summary(directory: Path, node: str) -> dict[str, Any]:
    """Read the numbers of a node."""
    document: dict[str, Any] = json.loads((directory / f"{node}.json").read_text())
    assert document["node"] == node
    return document


def stamps(rows: list[Row], event: str) -> list[int]:
    """Give the times of one event, by message."""
    return [row.at for row in sorted(rows, key=lambda row: row.seq) if row.event == event]


def check_line(nodes: dict[str, list[Row]], chain: list[str], messages: int) -> None:
    """Assert that each node of a line saw every message in order, and that the stamps agree."""
    sent = stamps(nodes["source"], "publish")
    for name in chain:
        rows = nodes[name]
        events = ["cb_start", "cb_end"] if name == chain[-1] else ["cb_start", "publish", "cb_end"]
        expected = list(itertools.product(range(messages), events))
        assert [(row.seq, row.event) for row in rows] == expected, name
        assert all(a.at <= b.at for a, b in itertools.pairwise(rows)), name
        assert [row.sent for row in rows] == [sent[row.seq] for row in rows], name
    for before, after in itertools.pairwise(chain):
        published, begun = stamps(nodes[before], "publish"), stamps(nodes[after], "cb_start")
        assert all(p < b for p, b in zip(published, begun, strict=True)), (before, after)
