# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs on an installed workspace, and traces them with an LTTng of the tests' own."""

from __future__ import annotations

import os
import random
import re
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = ROOT / "tracing_ws/install"
# Root's session daemon has fixed paths; both kinds put their shared memory into /dev/shm.
_OWN_PLACES = (
    "mkdir -p /run/lttng && mount -t tmpfs none /run/lttng && mount -t tmpfs none /dev/shm"
)
_DEADLINE_S = 60.0
_IN_ENVIRONMENT = """
source "$1" $2
space=$3
packages=$(echo "$space"/lib/python3.*/site-packages)
export PYTHONPATH="$packages:$PYTHONPATH" LD_LIBRARY_PATH="$space/lib:$LD_LIBRARY_PATH"
export AMENT_PREFIX_PATH="$space:$AMENT_PREFIX_PATH"
shift 3
exec "$@"
"""
# Tests run beside each other, and each worker's nodes hear only each other.
_DOMAIN = 97 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
_LINE = re.compile(r"^\[(?P<time>[\d.]+)\] .*?ros2:(?P<name>\w+): (?P<rest>.*)$")
_FIELD = re.compile(r'(\w+) = ("(?:[^"\\]|\\.)*"|-?\w+)')


def free_domain() -> int:
    """Give a domain whose discovery port nobody has bound, and no other worker of pytest takes."""
    tables = [Path("/proc/net/udp"), Path("/proc/net/udp6")]
    lines = [line for table in tables if table.exists() for line in table.read_text().split("\n")]
    bound = {int(line.split()[1].rpartition(":")[2], 16) for line in lines[1:] if ": " in line}
    first = 1 + 20 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    domains = [domain for domain in range(first, first + 20) if 7400 + 250 * domain not in bound]
    return random.choice(domains)


def distros() -> list[str]:
    """Jazzy, built or not: without it these tests fail; and every other that is built."""
    others = sorted(path.name for path in INSTALLED.glob("*") if path.is_dir())
    return ["jazzy", *(name for name in others if name != "jazzy")]


@dataclass(frozen=True)
class Event:
    name: str
    vtid: int
    fields: dict[str, str] = field(repr=False)

    def __getitem__(self, name: str) -> str:
        return self.fields[name]


@dataclass(frozen=True)
class Ros:
    """One distribution's environment, as a recorder makes it."""

    distro: str

    @property
    def install(self) -> Path:
        return INSTALLED / self.distro

    @property
    def hook(self) -> Path:
        return self.install / "lib/rclpy_tracepoints"

    @property
    def packages(self) -> Path:
        (found,) = self.install.glob("lib/python3.*/site-packages/rclpy_tracepoints")
        return found.parent

    @property
    def wheels(self) -> Path | None:
        """The virtual environment with ROS; none where ROS is in /opt/ros."""
        if Path(f"/opt/ros/{self.distro}/setup.bash").is_file():
            return None
        return ROOT / (".venv" if self.distro == "jazzy" else f".venv-{self.distro}")

    def python(self, *arguments: str | Path) -> list[str]:
        line = [str(argument) for argument in arguments]
        if self.wheels is not None:
            return [str(self.wheels / "bin/python"), *line]
        setup = f'. /opt/ros/{self.distro}/setup.sh; PYTHONPATH="$HOOK:$PYTHONPATH" exec "$@"'
        return ["sh", "-c", setup, "sh", "/usr/bin/python3", *line]

    def command(self, *arguments: str | Path) -> list[str]:
        """Give the command that runs `arguments` with ROS set up; exec only, so pids agree."""
        own = [ROOT / "tracing_ws/setup/environment.sh", self.wheels]
        setup = own if self.wheels else [f"/opt/ros/{self.distro}/setup.bash", ""]
        line = ["bash", "-c", _IN_ENVIRONMENT, "bash", *setup, self.install, *arguments]
        return [str(word) for word in line]

    @property
    def provider(self) -> Path:
        """The directory of the libraries to preload."""
        return self.install / "lib/tracetools_provider"

    def environment(
        self, *, hook: bool = True, preload: bool = True, path: tuple[Path, ...] = ()
    ) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("LTTNG_", "ROS_", "RMW_", "AMENT_", "PYTHON", "LD_"))
        }
        first = [self.hook, self.packages] if hook else []
        own = [str(entry) for entry in (*first, *path)]
        kept |= {
            "ROS_DOMAIN_ID": str(_DOMAIN),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "HOOK": ":".join(own),
        }
        if self.wheels is None:
            return kept
        (packages,) = self.wheels.glob("lib/python3.*/site-packages")
        libraries = [self.install / "lib", self.wheels / "lib", *packages.glob("ros_*.libs")]
        names = ("libtracetools.so", "libnoust.so") if preload else ()
        preloaded = [self.provider / name for name in names]
        return kept | {
            "LD_LIBRARY_PATH": ":".join(str(directory) for directory in libraries),
            "AMENT_PREFIX_PATH": f"{self.install}:{self.wheels}",
            "PYTHONPATH": ":".join([*own, str(packages)]),
            "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1",
            "LD_PRELOAD": ":".join(str(file) for file in preloaded if file.exists()),
        }

    def run(
        self, *arguments: str | Path, environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.python(*arguments),
            env=environment or self.environment(),
            capture_output=True,
            text=True,
            timeout=120,
        )


class Lttng:
    """A session daemon of the tests' own: in a mount namespace for root, an LTTNG_HOME else."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._prefix: list[str] = []
        self._holder: subprocess.Popen[str] | None = None
        if os.geteuid() == 0:
            self._holder = subprocess.Popen(
                ["unshare", "--mount", "sh", "-c", f"{_OWN_PLACES} && echo ready && exec cat"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert self._holder.stdout is not None
            if self._holder.stdout.readline() == "ready\n":
                self._prefix = ["nsenter", f"--mount=/proc/{self._holder.pid}/ns/mnt", "--"]
            # Else a container without the right to mount: root's own places, when they are free.
        # Not in the background: the test ends what it started, by its process.
        self._daemon = subprocess.Popen(
            [*self._prefix, "lttng-sessiond", "--no-kernel"],
            env=os.environ | self.variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + _DEADLINE_S
        while self._lttng("list").returncode != 0:
            assert self._daemon.poll() is None, "the session daemon ended"
            assert time.monotonic() < deadline, "the session daemon does not answer"
            time.sleep(0.1)

    @property
    def variables(self) -> dict[str, str]:
        return {"LTTNG_HOME": str(self.home), "LTTNG_UST_REGISTER_TIMEOUT": "-1"}

    def close(self) -> None:
        self._daemon.terminate()
        self._daemon.wait(60)
        if self._holder is not None:
            self._holder.communicate("")

    def _lttng(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._prefix, "lttng", "--no-sessiond", *arguments],
            env=os.environ | self.variables,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def command(self, *arguments: str) -> None:
        done = self._lttng(*arguments)
        assert done.returncode == 0, (arguments, done.stderr)

    @property
    def prefix(self) -> list[str]:
        """What a command line begins with to be where this daemon is."""
        return list(self._prefix)

    def start(self, events: str = "ros2:*") -> tuple[str, Path]:
        """Start to record some events; return the session's name and its trace directory."""
        session = f"traced_ros_{uuid.uuid4().hex[:8]}"
        output = self.home / session
        self.command("create", session, f"--output={output}")
        self.command("enable-channel", "-u", "-s", session, "--subbuf-size=4M", "all")
        self.command("enable-event", "-u", "-s", session, "-c", "all", events)
        self.command("add-context", "-u", "-s", session, "-t", "vpid", "-t", "vtid")
        self.command("start", session)
        return session, output

    def stop(self, session: str) -> None:
        self.command("destroy", session)

    def run(
        self, ros: Ros, *arguments: str | Path, environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program whose events go to this daemon; `environment` wins over all else."""
        words = alone(ros.python(*arguments), environment or ros.environment(), self)
        return subprocess.run(words, capture_output=True, text=True, timeout=120)

    def record(
        self, ros: Ros, *arguments: str | Path, environment: dict[str, str] | None = None
    ) -> tuple[subprocess.CompletedProcess[str], Path]:
        """Record all ros2 events of a program; return how it ended and the trace's directory."""
        session, output = self.start()
        try:
            done = self.run(ros, *arguments, environment=environment)
        finally:
            self.stop(session)
        return done, output

    def trace(
        self, ros: Ros, *arguments: str | Path
    ) -> tuple[subprocess.CompletedProcess[str], list[Event]]:
        """Trace all ros2 events of a program; return how it ended and its events in order."""
        done, output = self.record(ros, *arguments)
        assert any(output.rglob("metadata")), f"no event was recorded; the program: {done}"
        return done, read(output)


def alone(
    line: Sequence[str | Path], environment: Mapping[str, str], lttng: Lttng | None = None
) -> list[str]:
    """Give the command line of a program with just this environment; its events go to `lttng`."""
    variables = {"PATH": "/usr/bin:/bin", **(lttng.variables if lttng else {}), **environment}
    # Not nsenter's environment: threads of a preloaded LTTng would keep it from entering.
    given = [f"{name}={value}" for name, value in variables.items()]
    return [*(lttng.prefix if lttng else []), "env", "-i", *given, *map(str, line)]


def read(trace: Path) -> list[Event]:
    """Read a trace's events in order; none may have been discarded."""
    done = subprocess.run(
        ["babeltrace2", "--clock-seconds", str(trace)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "discarded" not in done.stderr, done.stderr
    events = []
    for line in done.stdout.splitlines():
        match = _LINE.match(line)
        assert match is not None, line
        fields = {name: text.strip('"') for name, text in _FIELD.findall(match["rest"])}
        events.append(Event(match["name"], int(fields["vtid"]), fields))
    return events
