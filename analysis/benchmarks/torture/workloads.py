# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is recorded, and what it says itself: which event it emitted when."""

from __future__ import annotations

import csv
import fcntl
import os
import random
import struct
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import processes

from strata.errors import StrataError
from strata.read import open_trace

_RECORD = struct.Struct("=IIq")
_PIPE_BYTES = 1 << 20
_PATIENCE_S = 0.02
_CHAIN = ("-m", "relay_chain")
_TOPIC = "/chain_0"

Number = tuple[int, int]
"""Of an event: the thread that emitted it, and its number there."""


class Workload(Protocol):
    """A program to record. `ms` is about how long it runs, `status` how it ends undisturbed."""

    event: str
    ms: int
    status: int
    with_ros: bool

    def open(self) -> None:
        """Get ready to listen to the program."""

    def close(self) -> None:
        """Take what it said last; nothing of it runs any more."""

    def line(self) -> Sequence[str]:
        """Give its command line."""

    def unheard_line(self) -> Sequence[str]:
        """Give the command line with which nobody listens."""

    def running(self) -> list[processes.Process]:
        """List its process while it runs."""

    def begun(self) -> bool:
        """Tell whether it has emitted anything."""

    def emitted_ns(self) -> dict[Number, int]:
        """Give the events that it emitted, and from when on (CLOCK_MONOTONIC)."""

    def recorded(self, recording: Path) -> set[Number] | None:
        """Read which of them are in a recording; null when it cannot be read."""

    def wrong_output(self, printed: str) -> str | None:
        """Say what is wrong with its output when it ran undisturbed; null for nothing."""


class Numbers:
    """programs/numbers.c: numbered events of several threads at a steady rate.

    It writes what it emitted into a pipe, whose bytes outlive a kill and count for no disk.
    """

    event = "ros2:numbered"
    with_ros = False

    def __init__(self, program: Path, place: Path, chance: random.Random) -> None:
        self.threads, self.rate, self.filling = 3, 500, 0
        self.ms = chance.randint(1500, 3500)
        self.status = chance.choice([0, 0, 3])
        self._program, self._fifo = program, place / "fifo"
        self._emitted_ns: dict[Number, int] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read_on, daemon=True)

    def open(self) -> None:
        """Make the pipe, and read it from now on."""
        os.mkfifo(self._fifo)
        # For writing, too, so that no program's end ends the pipe.
        self._pipe = os.open(self._fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._thread.start()

    def close(self) -> None:
        """Read what is left in the pipe, and end."""
        self._ended.set()
        self._thread.join()
        self._read()
        os.close(self._pipe)

    def line(self) -> list[str]:
        """Give its command line."""
        numbers = (self.threads, self.rate, self.ms, self.filling, self.status)
        return [str(self._program), *map(str, numbers), str(self._fifo)]

    def unheard_line(self) -> list[str]:
        """Give the command line with which nobody listens."""
        return [*self.line()[:-1], "/dev/null"]

    def running(self) -> list[processes.Process]:
        """List its process while it runs."""
        return [found for found in processes.all_running() if found.line[:1] == (self.line()[0],)]

    def begun(self) -> bool:
        """Tell whether it has emitted anything."""
        return bool(self._emitted_ns)

    def emitted_ns(self) -> dict[Number, int]:
        """Give the events that it emitted, and from when on (CLOCK_MONOTONIC)."""
        return self._emitted_ns

    def recorded(self, recording: Path) -> set[Number] | None:
        """Read which of them are in a recording; null when it cannot be read."""
        try:
            table = open_trace(recording).tables([self.event]).get(self.event)
        except (StrataError, OSError):
            return None
        if table is None:
            return set()
        return set(zip(table["thread"].to_pylist(), table["number"].to_pylist(), strict=True))

    def wrong_output(self, printed: str) -> str | None:
        """Say what is wrong with its output when it ran undisturbed; null for nothing."""
        right = f"{len(self._emitted_ns)} numbers of {self.threads} threads\n"
        return None if printed == right else f"it printed {printed!r} instead of {right!r}"

    def _read_on(self) -> None:
        while not self._ended.wait(_PATIENCE_S):
            self._read()

    def _read(self) -> None:
        while True:
            try:
                found = os.read(self._pipe, _PIPE_BYTES)
            except BlockingIOError:
                return
            for thread, number, at_ns in _RECORD.iter_unpack(found):
                self._emitted_ns[thread, number] = at_ns


class Chain:
    """A chain of real ROS 2 nodes (rclpy); its events are what the source publishes.

    The source stamps each message right before its publish(), in one thread: the event of a message
    lies between its stamp and the next.
    """

    event = "ros2:rcl_publish"
    with_ros = True
    status = 0

    def __init__(self, place: Path, chance: random.Random) -> None:
        self._messages = chance.randint(150, 300)
        self.ms = 10 * self._messages
        self._log = place / "truth"
        self._said = (place / "out", place / "err")

    def open(self) -> None:
        """Nothing is needed."""

    def close(self) -> None:
        """Nothing is needed."""

    def line(self) -> list[str]:
        """Give its command line."""
        return [*self.unheard_line(), f"--log={self._log}"]

    def unheard_line(self) -> list[str]:
        """Give the command line with which nobody listens."""
        options = {"relays": 1, "messages": self._messages, "depth": 1000}
        return ["python3", *_CHAIN, *(f"--{name}={value}" for name, value in options.items())]

    def running(self) -> list[processes.Process]:
        """List its first process while it runs."""
        return [found for found in processes.all_running() if found.line[1:3] == _CHAIN]

    def begun(self) -> bool:
        """Tell whether it has sent a message."""
        return any("all connected" in path.read_text() for path in self._said)

    def emitted_ns(self) -> dict[Number, int]:
        """Give the messages that its source published; none when it was killed."""
        try:
            with (self._log / "source.csv").open(newline="") as lines:
                rows = [row for row in csv.DictReader(lines) if row["event"] == "publish"]
        except OSError:
            return {}
        return {(0, int(row["seq"])): int(row["src_mono_ns"]) for row in rows}

    def recorded(self, recording: Path) -> set[Number] | None:
        """Read which of them are in a recording; null when it cannot be read."""
        try:
            trace = open_trace(recording)
            tables = trace.tables([self.event, "ros2:rcl_publisher_init"])
            offsets = list(trace.clock_offsets_ns.values())
        except (StrataError, OSError):
            return None
        made, sent = tables.get("ros2:rcl_publisher_init"), tables.get(self.event)
        if made is None or sent is None:
            return set()
        handles = dict(
            zip(made["topic_name"].to_pylist(), made["publisher_handle"].to_pylist(), strict=True)
        )
        ours = sent["publisher_handle"].to_numpy() == handles.get(_TOPIC)
        times = np.sort(sent["timestamp"].to_numpy()[ours] - offsets[0])
        stamps = sorted(self.emitted_ns().items())
        at = np.array([stamp for _, stamp in stamps], np.int64)
        counts = np.searchsorted(times, [*at[1:], np.iinfo(np.int64).max])
        counts -= np.searchsorted(times, at)
        return {number for (number, _), count in zip(stamps, counts, strict=True) if count}

    def wrong_output(self, printed: str) -> str | None:
        """Say what is wrong with its output when it ran undisturbed; null for nothing."""
        right = f"sink: received {self._messages} of {self._messages} messages"
        del printed
        if any(right in path.read_text() for path in self._said):
            return None
        return f"it did not say {right!r}"
