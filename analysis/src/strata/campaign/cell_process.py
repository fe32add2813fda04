# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The process that runs a cell: one at a time, ended in order, and never outliving the campaign."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from strata.scenario.place import end_with_parent

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TURN_S = 0.1
_GRACE_S = 60.0


class Interrupts:
    """The signals that end a campaign: noted, and passed on to the process that runs."""

    def __init__(self) -> None:
        self.first: signal.Signals | None = None
        self._child: subprocess.Popen[bytes] | None = None

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Note signals instead of ending by them. One that the caller ignores stays ignored."""
        before = {number: signal.getsignal(number) for number in _SIGNALS}
        for number, handler in before.items():
            if number != signal.SIGHUP or handler != signal.SIG_IGN:
                signal.signal(number, self._note)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def passed_to(self, child: subprocess.Popen[bytes]) -> Iterator[None]:
        """Pass signals on to a child, also one that came before."""
        self._child = child
        try:
            if self.first is not None:
                self._pass(self.first)
            yield
        finally:
            self._child = None

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.first = self.first or signal.Signals(number)
        self._pass(signal.Signals(number))

    def _pass(self, number: signal.Signals) -> None:
        # Not with poll(), which could reap it under the one who waits for it.
        if self._child is not None and self._child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child.pid, number)


def run_child(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    output: Path,
    limit_s: float,
    held: int,
    interrupts: Interrupts,
    turn: Callable[[], None],
) -> int | None:
    """Run a command to its end; its exit status, negative for a signal, null when it took too long.

    It ends with this process, by SIGTERM, even when that is killed; it holds the descriptor `held`.
    `output` gets what it writes, `turn` is called while it runs. One that takes longer than
    `limit_s` is ended, at last killed.
    """
    parent = os.getpid()
    with output.open("ab") as log:
        child = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            pass_fds=(held,),
            # The terminal's Ctrl-C reaches us only, and we pass it on.
            start_new_session=True,
            preexec_fn=lambda: end_with_parent(parent),
        )
    late = False
    deadline = time.monotonic() + limit_s
    with interrupts.passed_to(child):
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_TURN_S)
                return None if late else child.returncode
            turn()
            if time.monotonic() > deadline:
                child.send_signal(signal.SIGKILL if late else signal.SIGTERM)
                late, deadline = True, deadline + _GRACE_S
