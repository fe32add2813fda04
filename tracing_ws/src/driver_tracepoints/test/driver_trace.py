# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs programs with the driver's library or its hooks, and reads the events that they emit."""

from __future__ import annotations

import contextlib
import random
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bt2
from traced_ros import INSTALLED, Lttng, alone

INSTALL = INSTALLED / "jazzy"
HOOKS = INSTALL / "lib/driver_tracepoints/libdriver_hooks.so"
LIBRARY = INSTALL / "lib/libdriver_tracepoints.so"
PROGRAMS = Path(__file__).parent / "programs"
PATIENCE_S = 60


@dataclass(frozen=True)
class DriverEvent:
    name: str
    provider: str
    time_ns: int
    vpid: int
    vtid: int
    fields: dict[str, int | str] = field(repr=False)

    def __getitem__(self, name: str) -> int | str:
        return self.fields[name]

    @property
    def arrival_ns(self) -> int:
        return self.time_ns - int(self["queue_ns"])


def with_api() -> dict[str, str]:
    (packages,) = INSTALL.glob("lib/python3.*/site-packages")
    return {"PYTHONPATH": str(packages)}


def with_hooks(ports: Sequence[int] = (), *more: Path | str) -> dict[str, str]:
    libraries = ":".join(str(path) for path in (HOOKS, *more))
    named = ",".join(str(port) for port in ports)
    return {"LD_PRELOAD": libraries, "DRIVER_TRACEPOINTS_UDP_PORTS": named}


def free_ports(count: int) -> list[int]:
    """Give UDP ports that nobody has, outside of those that the kernel gives away."""
    with contextlib.ExitStack() as held:
        found: list[int] = []
        while len(found) < count:
            port = random.randrange(10_000, 32_000)
            probe = held.enter_context(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):
                probe.bind(("::", port))
                found.append(port)
        return found


def run(
    line: Sequence[str | Path], environment: Mapping[str, str], lttng: Lttng | None = None
) -> str:
    """Run a program that must end well and say nothing on stderr; give what it printed."""
    words = alone(line, environment, lttng)
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def trace(
    lttng: Lttng,
    line: Sequence[str | Path],
    environment: Mapping[str, str],
    events: str = "driver:*",
) -> tuple[str, list[DriverEvent]]:
    """Run a program and record it; give what it printed, and its events in order."""
    session, output = lttng.start(events)
    try:
        printed = run(line, environment, lttng)
    finally:
        lttng.stop(session)
    return printed, list(read(output)) if any(output.rglob("metadata")) else []


def python(program: str, *arguments: object) -> list[str]:
    return [sys.executable, str(PROGRAMS / program), *map(str, arguments)]


def compiled(output: Path, *arguments: str | Path) -> Path:
    """Compile C with warnings as errors."""
    warnings = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
    line = ["gcc", *warnings, "-O2", "-g", "-o", output, *arguments]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return output


def read(path: Path) -> Iterator[DriverEvent]:
    for message in bt2.TraceCollectionMessageIterator(str(path)):
        assert type(message) is not bt2._DiscardedEventsMessageConst, "events were discarded"
        if type(message) is not bt2._EventMessageConst:
            continue
        event = message.event
        provider, _, name = event.name.partition(":")
        context = event.common_context_field
        yield DriverEvent(
            name,
            provider,
            message.default_clock_snapshot.ns_from_origin,
            int(context["vpid"]),
            int(context["vtid"]),
            {name: _value(value) for name, value in event.payload_field.items()},
        )


def _value(value: bt2._FieldConst) -> int | str:
    if isinstance(value, bt2._StringFieldConst):
        return str(value)
    return int(value) if isinstance(value, bt2._IntegerFieldConst) else repr(value)
