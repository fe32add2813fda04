# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Records the `dds` events of several programs at once, and reads them."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bt2
from traced_ros import INSTALLED, Lttng, alone

LIBRARY = INSTALLED / "jazzy/lib/dds_tracepoints/libdds_tracepoints.so"
HOOKS = INSTALLED / "jazzy/share/dds_tracepoints/hooks.def"
PATIENCE_S = 120


@dataclass(frozen=True)
class Program:
    line: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended:
    """How a program ended; `code` is 0 for all of them, else the test has failed."""

    pid: int
    out: str
    err: str


@dataclass(frozen=True)
class DdsEvent:
    name: str
    time_ns: int
    vpid: int
    vtid: int
    fields: dict[str, int | str | bytes] = field(repr=False)

    def __getitem__(self, name: str) -> int | str | bytes:
        return self.fields[name]

    @property
    def sample(self) -> tuple[bytes, int]:
        """The writer's GUID and the sequence number."""
        guid, sequence = self["writer_guid"], self["sequence_number"]
        assert isinstance(guid, bytes) and isinstance(sequence, int)
        return guid, sequence


def start(program: Program, lttng: Lttng | None) -> subprocess.Popen[str]:
    line = alone(program.line, program.environment, lttng)
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(programs: Sequence[Program], lttng: Lttng | None = None) -> list[Ended]:
    """Run programs at once, with the hooks' events going to `lttng`."""
    started = [start(program, lttng) for program in programs]
    ended = []
    with contextlib.ExitStack() as left:
        for process in started:
            left.callback(process.kill)
        for process in started:
            out, err = process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0, (process.args, out, err)
            ended.append(Ended(process.pid, out, err))
    return ended


def trace(lttng: Lttng, programs: Sequence[Program]) -> tuple[list[Ended], list[DdsEvent]]:
    """Run programs at once and record their `dds` events; give both."""
    session, output = lttng.start("dds:*")
    try:
        ended = run(programs, lttng)
    finally:
        lttng.stop(session)
    return ended, list(read(output)) if any(output.rglob("metadata")) else []


def read(path: Path) -> Iterator[DdsEvent]:
    for message in bt2.TraceCollectionMessageIterator(str(path)):
        assert type(message) is not bt2._DiscardedEventsMessageConst, "events were discarded"
        if type(message) is not bt2._EventMessageConst:
            continue
        event = message.event
        context = event.common_context_field
        yield DdsEvent(
            event.name.removeprefix("dds:"),
            message.default_clock_snapshot.ns_from_origin,
            int(context["vpid"]),
            int(context["vtid"]),
            {name: _value(value) for name, value in event.payload_field.items()},
        )


def _value(value: bt2._FieldConst) -> int | str | bytes:
    if isinstance(value, bt2._StringFieldConst):
        return str(value)
    if isinstance(value, bt2._ArrayFieldConst):
        return bytes(int(byte) for byte in value)
    return int(value)
