# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A process beside a recording that reads it while it goes on."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_EVERY_S = 0.5
_END_S = 60.0
_RESTARTS_WITHIN_S = 60.0
_MOST_RESTARTS = 3


class Companion:
    """Runs a Python module while something is recorded; a watcher of `Command.wait`.

    Its standard input is a pipe from the recorder, which ends when the recording does, or when the
    recorder is killed: the module ends then (`wait_for_end`). `arguments` makes those of the module
    from the recording's directory. One that `restarts` is begun again when it dies, up to three
    times a minute; beyond, or else, it is `over`, and its exit status `status`. That is the end of
    a recording without a command, but of one that is of use without it (`is_needed` false).
    """

    def __init__(
        self,
        module: str,
        arguments: Callable[[Path], Sequence[str]],
        *,
        restarts: bool = False,
        is_needed: bool = True,
    ) -> None:
        self.is_needed = is_needed
        self._module, self._arguments, self._restarts = module, arguments, restarts
        self._line: list[str] = []
        self._environment: Mapping[str, str] = {}
        self._say: Callable[[str], None] = lambda _: None
        self._process: subprocess.Popen[bytes] | None = None
        self._died: list[float] = []
        self._due = 0.0
        self.begun = self.over = False
        self.status: int | None = None

    @property
    def patience_s(self) -> float:
        """How long it is until the next look."""
        return max(0.0, self._due - time.monotonic())

    def begin(
        self, directory: Path, environment: Mapping[str, str], say: Callable[[str], None]
    ) -> None:
        """Start the process. Raises OSError."""
        self._line = [sys.executable, "-m", self._module, *self._arguments(directory)]
        self._environment, self._say = environment, say
        self.begun = True
        self._start()

    def look(self) -> None:
        """See whether it still runs. Raises OSError."""
        self._due = time.monotonic() + _EVERY_S
        if self._process is None or self.over or self._process.poll() is None:
            return
        self.status = self._process.returncode
        self._close()
        now = time.monotonic()
        self._died = [at for at in self._died if at > now - _RESTARTS_WITHIN_S] + [now]
        if not self._restarts or len(self._died) > _MOST_RESTARTS:
            self.over = True
            if self._restarts:
                self._say(f"{self._module} ended (status {self.status}) again and again: given up")
            return
        self._say(f"{self._module} ended (status {self.status}); it is started again")
        self._start()

    def end(self) -> None:
        """Have it end, and wait for that; it is killed when it does not within a minute."""
        if self._process is None:
            return
        self._close()
        try:
            self.status = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self.status = self._process.wait()

    def _start(self) -> None:
        # The recorder holds its signals; a process inherits that.
        held = signal.pthread_sigmask(signal.SIG_SETMASK, ())
        try:
            self._process = subprocess.Popen(
                self._line, env=dict(self._environment), stdin=subprocess.PIPE, bufsize=0
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)

    def _close(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()


def wait_for_end(seconds: float) -> bool:
    """Wait in a companion, at most so long; true when the recording has ended."""
    ready, _, _ = select.select([sys.stdin], [], [], max(0.0, seconds))
    return bool(ready) and not os.read(sys.stdin.fileno(), 1)
