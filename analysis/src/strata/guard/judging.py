# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What runs beside the ring buffers of `strata guard`: looks at them, and keeps snapshots.

Run as a module by the recorder (strata.record.companion): judging RING_DIR GUARD_FILE DIR. All is
well as long as it prints nothing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from strata.errors import StrataError
from strata.guard.kept import (
    Bounds,
    KeptSnapshots,
    has_verdict,
    incident_document,
    make_session,
)
from strata.guard.load import GuardFile, read_guard
from strata.guard.watch import Occurrence, Watch
from strata.live.following import Follower
from strata.live.ring_windows import RingWindows
from strata.live.sources import follow_ring, names_of_init_session
from strata.printable import printable
from strata.record.companion import wait_for_end
from strata.record.directory import MANIFEST, TRACE
from strata.units import format_count, format_ns, format_size

EVERY_NS = 2_000_000_000
_NICE = 10
_ATTEMPTS = 3
_RETRY_NS = 1_000_000_000
_REPEAT_S = 60.0
"""A failure that stays is said again after this time."""

Say = Callable[[str], None]


@dataclass
class _Pending:
    """Faults that were found, of which a snapshot is kept after `due_ns` (CLOCK_MONOTONIC)."""

    faults: list[Occurrence]
    due_ns: int
    attempts: int = 0


class Judge:
    """Looks at the ring buffers again and again, and keeps a snapshot when a condition holds.

    `directory` has the snapshots, `ring` is the recorder's.
    """

    def __init__(self, file: GuardFile, ring: Path, directory: Path, say: Say) -> None:
        self._file, self._ring, self._say = file, ring, say
        self._windows: RingWindows = follow_ring(ring, EVERY_NS, file.look_back_ns)
        self._follower = Follower(self._windows, names_of_init_session())
        self._watch = Watch(file.when)
        self._kept = KeptSnapshots(directory, Bounds(file.every_ns, file.keep, file.max_size))
        self._pending: _Pending | None = None
        self._passed_over = 0
        self._unfinished = ring / "unfinished"
        # Of a judge, or of the process that writes verdicts, that was killed.
        shutil.rmtree(self._unfinished, ignore_errors=True)
        self._without_verdict = [one for one in self._kept.places() if not has_verdict(one)]
        self._writing: subprocess.Popen[bytes] | None = None
        self._said: dict[str, float] = {}
        self._unseen = (0, 0)
        self._said_unseen_s = -_REPEAT_S

    def run(self, wait: Callable[[float], bool]) -> None:
        """Look until `wait` (for so many seconds) returns that the recording has ended."""
        while not wait(self._wait_s()):
            self._guarded(self._look)
            self._guarded(self._keep_when_due)
        # What was found is not lost, though less of what comes after is there.
        self._guarded(self._look)
        if self._pending is not None:
            self._pending.due_ns = 0
            self._guarded(self._keep_when_due)
        while self._writing is not None or self._without_verdict:
            if self._writing is not None:
                self._writing.wait()
            self._write_verdicts()
        if self._passed_over:
            self._say(self._passed_over_text())

    def _wait_s(self) -> float:
        until_look = self._windows.wait_s
        if self._pending is None:
            return until_look
        return min(until_look, max(0.0, (self._pending.due_ns - time.monotonic_ns()) / 1e9))

    def _look(self) -> None:
        self._write_verdicts()
        seen = self._follower.step()
        self._say_unseen()
        faults = self._settled(self._watch.look(*seen)) if seen else []
        if not faults:
            return
        if self._pending is not None:
            self._pending.faults += faults
            return
        wait_ns = self._kept.wait_ns()
        if wait_ns > self._file.after_ns:
            self._passed_over += len(faults)
            return
        first_ns = min(fault.at_ns for fault in faults)
        self._say(f"fault: {faults[0].text}; a snapshot follows")
        due_ns = first_ns - (self._windows.offset_ns or 0) + self._file.after_ns
        self._pending = _Pending(faults, due_ns)

    def _say_unseen(self) -> None:
        """Say that something was not looked at, and again after a while if there is more."""
        tally = self._follower.tally
        unseen = (tally.unread, tally.unseen_ns)
        now = time.monotonic()
        if unseen == self._unseen or now - self._said_unseen_s < _REPEAT_S:
            return
        if tally.unread > self._unseen[0]:
            count = format_count(tally.unread, "window", "windows")
            self._say(f"{count} could not be read until now, and {_was(tally.unread)} not judged")
        if tally.unseen_ns > self._unseen[1]:
            lost = format_ns(tally.unseen_ns)
            self._say(f"events of {lost} were overwritten until now before they were looked at")
        self._unseen, self._said_unseen_s = unseen, now

    def _settled(self, faults: list[Occurrence]) -> list[Occurrence]:
        """Leave out what happened while programs started."""
        first_ns = self._windows.cuts.first_ns or 0
        settled = [one for one in faults if one.at_ns >= first_ns + self._file.settle_ns]
        if len(settled) < len(faults):
            count = format_count(len(faults) - len(settled), "fault", "faults")
            self._say(f"passed over {count} of the start (limits.settle)")
        return settled

    def _keep_when_due(self) -> None:
        pending = self._pending
        if pending is None or time.monotonic_ns() < pending.due_ns:
            return
        self._pending = None
        try:
            self._keep(pending)
        except Exception:
            # What is wanted is in the ring buffers for some seconds yet.
            pending.attempts += 1
            if pending.attempts < _ATTEMPTS:
                pending.due_ns = time.monotonic_ns() + _RETRY_NS
                self._pending = pending
            else:
                self._passed_over += len(pending.faults)
            raise

    def _keep(self, pending: _Pending) -> None:
        first_ns = min(fault.at_ns for fault in pending.faults)
        now_ns = time.monotonic_ns() + (self._windows.offset_ns or 0)
        span_ns = (first_ns - self._file.before_ns, max(now_ns, first_ns + self._file.after_ns))
        place = self._kept.new_place(first_ns, pending.faults[0].when.name)
        incident = incident_document(pending.faults, span_ns, self._passed_over)
        shutil.rmtree(self._unfinished, ignore_errors=True)
        self._windows.keep(self._unfinished / TRACE)
        manifest = self._ring / MANIFEST
        make_session(self._unfinished, manifest, self._follower.names, span_ns, incident)
        # In one step: a snapshot is there as a whole, or not at all.
        self._unfinished.rename(place)
        self._passed_over = 0
        self._kept.kept()
        removed, left = self._kept.drop_oldest(place)
        for old in left:
            self._say(f"cannot drop the oldest snapshot, {old}: remove it by hand")
        for dropped in removed:
            bounds = f"keep {self._file.keep}, max_size {format_size(self._file.max_size)}"
            self._say(f"dropped the oldest snapshot, {dropped} (limits: {bounds})")
        self._without_verdict.append(place)
        self._write_verdicts()

    def _write_verdicts(self) -> None:
        """Have the verdict of the next snapshot written, beside: it takes seconds."""
        if self._writing is not None and self._writing.poll() is None:
            return
        self._writing = None
        while self._without_verdict:
            place = self._without_verdict.pop(0)
            if not place.is_dir():
                continue
            nice = shutil.which("nice")
            prefix = [nice, "-n", str(_NICE)] if nice else []
            line = [*prefix, sys.executable, "-m", "strata.guard.verdict", str(place)]
            self._writing = subprocess.Popen(line, stdin=subprocess.DEVNULL)
            return

    def _passed_over_text(self) -> str:
        count = format_count(self._passed_over, "further fault", "further faults")
        return f"no snapshot was kept of {count} (limits.every)"

    def _guarded(self, step: Callable[[], None]) -> None:
        """Do a step; a failure is said, not more than once a minute, and the next one is tried."""
        try:
            step()
        except Exception as error:
            # Nothing that goes wrong with one window, ours included, ends the guard.
            text = str(error) if isinstance(error, (StrataError, OSError)) else repr(error)
            now = time.monotonic()
            if now - self._said.get(text, -_REPEAT_S) >= _REPEAT_S:
                self._said = {text: now}
                self._say(text)
            # A failure that comes at once must not fill a CPU.
            time.sleep(0.2)


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def say(line: str) -> None:
    """Say something, on stderr."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"strata: {printable(line)}\n")
        sys.stderr.flush()


def main() -> None:
    """Run beside a recorder until it ends."""
    # A terminal's Ctrl-C is the recorder's; its end is ours.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    ring, file, directory = (Path(word) for word in sys.argv[1:4])
    with contextlib.suppress(OSError):
        os.nice(1)
    try:
        Judge(read_guard(file), ring, directory, say).run(wait_for_end)
    except StrataError as error:
        say(str(error))
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
