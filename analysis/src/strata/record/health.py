# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is looked at once a second while a command is recorded: daemons, their words, the disk."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from strata.record import daemon as session_daemon
from strata.record.anchored import AnchoredDirectory
from strata.record.rotation import Rotation
from strata.record.session import Session
from strata.record.space import DiskLimit, free_bytes
from strata.units import format_size

_EVERY_S = 1.0
DISK, SIZE, DAEMON = "disk", "size", "daemon"


@dataclass(frozen=True)
class StoppedEarly:
    """Why and when a recording ended before its command: `reason` is one of this module's words."""

    reason: str
    utc: str
    text: str

    def as_json(self) -> dict[str, Any]:
        """Give what the manifest says of it."""
        return {"reason": self.reason, "utc": self.utc, "text": self.text}


class Health:
    """Looks after a session while its command runs; a watcher of `Command.wait`.

    A session that can record no more is said at once. One whose disk gets full, or which would
    outgrow its bound, is stopped in good order. The command is left alone.
    `attached`: there is none.
    """

    def __init__(
        self,
        session: Session,
        daemon: session_daemon.Daemon,
        disk: DiskLimit,
        rotation: Rotation | None,
        place: AnchoredDirectory,
        *,
        attached: bool = False,
    ) -> None:
        self.session, self.rotation = session, rotation
        self._daemon, self._disk, self._place = daemon, disk, place
        self._how = "stopped" if attached else "stopped before its command"
        self._processes = session_daemon.daemon_processes(session.lttng)
        self._begun = {pid: session_daemon.process_start_ticks(pid) for pid in self._processes}
        self._due = time.monotonic() + _EVERY_S
        self.stopped: StoppedEarly | None = None

    @property
    def patience_s(self) -> float:
        """How long it is until the next look."""
        return max(0.0, self._due - time.monotonic())

    def look(self, *, now: bool = False) -> None:
        """Look when that is due, or `now`."""
        if not now and time.monotonic() < self._due:
            return
        self._hear()
        if self.stopped is None:
            self._look_at_daemons()
        if self.stopped is None:
            self._look_at_disk()
        if self.stopped is None and self.rotation is not None:
            self.rotation.look()
            if self.rotation.failed:
                self._stop(SIZE, "its size can no longer be kept within --max-size")
        self._due = time.monotonic() + _EVERY_S

    def end(self) -> None:
        """Hear what the daemons said until the session's end, and whether they lived to see it."""
        self._hear()
        if self.stopped is None:
            self._look_at_daemons()
        if self.rotation is not None:
            self.rotation.end()
            self.session.problems += self.rotation.problems

    def _hear(self) -> None:
        for words in self._daemon.log.look() if self._daemon.log else ():
            self.session.problem(f"LTTng reports missing events: {words}")

    def _look_at_daemons(self) -> None:
        for pid, name in self._processes.items():
            if not session_daemon.alive(pid, self._begun[pid]):
                self.stopped = _now(DAEMON, f"{name} (process {pid}) ended; nothing is recorded")
                self.session.lose(self.stopped.text)
                return

    def _look_at_disk(self) -> None:
        path = self._place.path()
        free = None if path is None else free_bytes(path)
        if free is not None and free < self._disk.free_bytes:
            limit = format_size(self._disk.free_bytes)
            self._stop(DISK, f"the disk has {format_size(free)} free, but --min-free is {limit}")

    def _stop(self, reason: str, why: str) -> None:
        self.stopped = _now(reason, f"the recording was {self._how}: {why}")
        self.session.stop()
        self.session.problem(self.stopped.text)


def _now(reason: str, text: str) -> StoppedEarly:
    utc = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return StoppedEarly(reason, utc, text)
