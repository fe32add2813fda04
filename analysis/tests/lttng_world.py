# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A place with an LTTng of its own: no daemon, session or file of the user's is touched."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
_DEADLINE_S = 60.0
# Tests run beside each other, and one worker's nodes never hear the other's.
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
# Root's session daemon has fixed paths, and both kinds put their shared memory here.
_PRIVATE = "mkdir -p /run/lttng && mount -t tmpfs none /run/lttng && mount -t tmpfs none /dev/shm"


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + _DEADLINE_S
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"not within {_DEADLINE_S:.0f} s: {what}")


class World:
    """A place where no session daemon runs: a mount namespace for root, an LTTNG_HOME else."""

    def __init__(self, home: Path, prefix: list[str]) -> None:
        self.home = home
        self.prefix = prefix
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("LTTNG_", "ROS_", "RMW_", "AMENT_", "STRATA_"))
        } | {"LTTNG_HOME": str(home), "HOME": str(home), "ROS_DOMAIN_ID": str(92 + _WORKER)}
        self.environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"

    def popen(self, *command: str | Path, **options: Any) -> subprocess.Popen[str]:
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("env", self.environment)
        line = [*self.prefix, *map(str, command)]
        return subprocess.Popen(line, text=True, stdin=subprocess.DEVNULL, **options)

    def run(
        self, *command: str | Path, timeout_s: float = 120, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        process = self.popen(*command, **options)
        out, err = process.communicate(timeout=timeout_s)
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def strata(self, *arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "strata", *arguments, **options)

    def record(self, *arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.strata("record", "-c", "ros2", "--no-ros", *arguments, **options)

    def start_recording(self, target: Path, *command: str | Path) -> subprocess.Popen[str]:
        """Begin to record a command that prints a line once it runs, and wait for that line."""
        line = ("record", "-c", "ros2", "--no-ros", "-o", target, "--", *command)
        process = self.popen(sys.executable, "-m", "strata", *line)
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        state = target / "recording.json"
        wait_until(lambda: json.loads(state.read_text())["command_pid"], "the command's pid")
        return process

    def lttng(self, *arguments: str) -> str:
        done = self.run("lttng", "--no-sessiond", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def daemon_pid(self) -> int | None:
        """Read the daemon's pid file, as the world's processes see it."""
        path = "/run/lttng" if os.geteuid() == 0 else f"{self.home}/.lttng"
        text = self.run("cat", f"{path}/lttng-sessiond.pid").stdout.strip()
        return int(text) if text and alive(int(text)) else None

    def start_daemon(self) -> int:
        done = self.run("lttng-sessiond", "--background", stdout=subprocess.DEVNULL, stderr=None)
        assert done.returncode == 0
        pid = self.daemon_pid()
        assert pid is not None
        return pid

    def sessions(self) -> list[str]:
        return re.findall(r"<name>([^<]+)</name><path>", self.lttng("--mi", "xml", "list"))


def any_domain() -> str:
    """Give a ROS domain of this worker's; tests of another worker use others."""
    return str(random.randint(1, 20) + 20 * _WORKER)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def events(trace: Path) -> list[str]:
    """Read a trace with babeltrace2, an event a line."""
    done = subprocess.run(
        ["babeltrace2", trace], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.splitlines()


def manifest(directory: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((directory / "manifest.json").read_text())
    return content


def private_namespace() -> subprocess.Popen[str] | None:
    holder = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", f"{_PRIVATE} && echo ready && exec sleep infinity"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert holder.stdout is not None
    if holder.stdout.readline() == "ready\n":
        return holder
    holder.kill()
    holder.communicate()
    return None
