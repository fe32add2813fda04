# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Run the recorded command: its own process group, signals passed on once, then killed.

While `held_signals` is active no signal interrupts set-up or clean-up; it waits for us to ask.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from strata.errors import SessionError

# A program that ignores the end of its terminal or a supervisor's SIGTERM would be recorded for
# ever; an interactive Ctrl-C has no such limit, the user may press it again.
_GRACE_S = 15.0
LONGEST_S = 3600.0
"""How long a wait may last that nothing bounds."""
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_UNATTENDED = (signal.SIGTERM, signal.SIGHUP)
_TERMINAL_STOPS = (signal.SIGTTIN, signal.SIGTTOU)
# Python ignores these two, and a shell's background job starts with the others ignored.
_RESET = (*_FORWARDED, signal.SIGPIPE, signal.SIGXFSZ)


@dataclass(frozen=True)
class End:
    """How a command ended: an exit status or a signal, the other being null.

    `forwarded` is the first signal that we passed on to it, null for none; `killed` tells that it
    had to be killed after that. `timed_out`: that signal was ours, as its time was over.
    """

    exit_status: int | None
    signal: str | None
    forwarded: str | None = None
    killed: bool = False
    timed_out: bool = False

    @property
    def status(self) -> int:
        """The exit status as a shell tells it: 128 + its number for a signal.

        One that ended by the signal that was sent as its time was over has done what it should: 0.
        """
        if self.timed_out and self.succeeded:
            return 0
        if self.signal is not None:
            return 128 + _signal_number(self.signal)
        return self.exit_status or 0

    @property
    def succeeded(self) -> bool:
        """Return whether it ended well: with status 0, or by the very signal passed on to it."""
        if self.killed:
            return False
        if self.exit_status == 0:
            return True
        if self.forwarded is None:
            return False
        # Many programs tell their end by a signal as a shell does, by 128 + its number.
        by_signal = 128 + signal.Signals[self.forwarded]
        return self.signal == self.forwarded or self.exit_status == by_signal

    @property
    def description(self) -> str:
        """Say it in words."""
        how = f"signal {self.signal}" if self.signal else f"exit status {self.exit_status}"
        return how if self.forwarded is None else f"{how} after {self.forwarded}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        # Real-time signals but the first and the last have none.
        return f"SIGRTMIN+{number - signal.SIGRTMIN}"


def _signal_number(name: str) -> int:
    base, _, above = name.partition("+")
    return signal.Signals[base] + int(above or 0)


class Watcher(Protocol):
    """Looks after something while a command runs: `look` is called when `patience_s` is over."""

    @property
    def patience_s(self) -> float:
        """How long it is until the next look."""

    def look(self) -> None:
        """Look, when that is due."""


class EarlyStopError(SessionError):
    """A signal asked us to stop before the command ran."""


class NotFoundError(SessionError):
    """There is no such program, or no right to execute it."""


class CannotExecuteError(SessionError):
    """The system does not execute the program."""


def resolve(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Find the program of a command on the PATH that it will get.

    Raises SessionError when there is none, so that nothing has been started yet.
    """
    program = shutil.which(command[0], path=environment.get("PATH", os.defpath))
    if program is None:
        there = shutil.which(command[0], os.F_OK, environment.get("PATH", os.defpath))
        if there is not None:
            raise CannotExecuteError(
                f"Cannot run {command[0]}: {there} is not executable. Check its permissions "
                "(chmod +x)."
            )
        raise NotFoundError(
            f"Cannot run {command[0]}: no such program. Check the spelling and PATH; write "
            "./NAME for a file in this directory."
        )
    return program


@contextlib.contextmanager
def held_signals() -> Iterator[None]:
    """Hold back the signals that end a program; those that come are then for us to ask for."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held())
    try:
        yield
    finally:
        # What came during clean-up has had its effect, the end of the recording.
        forget_signals()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def held() -> set[signal.Signals]:
    """Give the signals that `held_signals` holds back."""
    return {signum for signum in _FORWARDED if not _ignores(signum)} | {signal.SIGCHLD}


def _ignores(signum: signal.Signals) -> bool:
    # nohup ignores SIGHUP on purpose. A shell's background job ignores SIGINT only by default.
    return signum == signal.SIGHUP and signal.getsignal(signum) == signal.SIG_IGN


def waiting_signal() -> str | None:
    """Name a held signal that asks us to end; null when none waits."""
    waiting = signal.sigpending() & set(_FORWARDED)
    return signal.Signals(min(waiting)).name if waiting else None


def forget_signals() -> None:
    """Take back the held signals that wait: they have had their effect."""
    while signal.sigtimedwait(held(), 0) is not None:
        pass


def refuse_if_interrupted() -> None:
    """Raise EarlyStopError when a held signal waits; called between the steps of the set-up."""
    name = waiting_signal()
    if name:
        raise EarlyStopError(
            f"Cannot record: {name} was received before the recording began. Nothing is left "
            "behind; run it again."
        )


class Command:
    """A running command; `pid` is also its process group."""

    def __init__(
        self, program: str, command: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        try:
            self.pid = os.posix_spawn(
                program,
                list(command),
                dict(environment),
                setpgroup=0,
                setsigmask=(),
                setsigdef=[signum for signum in _RESET if not _ignores(signum)],
            )
        except OSError as error:
            raise CannotExecuteError(
                f"Cannot run {command[0]}: {error.strerror}. Check the file and its first line."
            ) from error
        self._forwarded: list[signal.Signals] = []
        self._deadline: float | None = None
        self._limit: float | None = None
        self._timed_out = False
        self._killed = False
        self._has_terminal = False

    def wait(self, *watchers: Watcher, limit_s: float | None = None) -> End:
        """Wait for its end; the first signal to us is passed on, the second kills its group.

        Signals must be held. A SIGTERM or SIGHUP kills after a grace time by itself. After
        `limit_s`, SIGINT is sent to it, and it has the same grace time. The watchers are made to
        look meanwhile.
        """
        awaited = held()
        if limit_s is not None:
            self._limit = time.monotonic() + limit_s
        try:
            while True:
                for watcher in watchers:
                    watcher.look()
                end = self._poll()
                if end is not None:
                    return end
                patience = min([self._patience(), *(one.patience_s for one in watchers)])
                arrived = signal.sigtimedwait(awaited, patience)
                if arrived is None:
                    self._end_when_due()
                    self._kill_when_late()
                elif arrived.si_signo != signal.SIGCHLD:
                    self._forward(signal.Signals(arrived.si_signo))
        finally:
            if self._has_terminal:
                _give_terminal(self.pid, os.getpgrp())

    def kill(self) -> None:
        """Kill the group and reap the command; for a failure of our own."""
        self._signal(signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

    def _poll(self) -> End | None:
        while True:
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WSTOPPED | os.WNOHANG)
            if found is None:
                return None
            if found.si_code == os.CLD_STOPPED:
                self._hand_over_terminal(found.si_status)
                continue
            forwarded = self._forwarded[0].name if self._forwarded else None
            if found.si_code == os.CLD_EXITED:
                return End(found.si_status, None, forwarded, self._killed, self._timed_out)
            name = _signal_name(found.si_status)
            return End(None, name, forwarded, self._killed, self._timed_out)

    def _hand_over_terminal(self, stopped_by: int) -> None:
        # A program in a background group is stopped when it reads its terminal: let it have it.
        if stopped_by in _TERMINAL_STOPS and _give_terminal(os.getpgrp(), self.pid):
            self._has_terminal = True
            self._signal(signal.SIGCONT)

    def _forward(self, signum: signal.Signals) -> None:
        if self._forwarded:
            self._killed = True
            self._signal(signal.SIGKILL)
            return
        self._forwarded.append(signum)
        self._signal(signum)
        # One that was stopped, for reading a terminal that is not its own, hears nothing else.
        self._signal(signal.SIGCONT)
        if signum in _UNATTENDED:
            self._deadline = time.monotonic() + _GRACE_S

    def _patience(self) -> float:
        due = [] if self._killed else [at for at in (self._deadline, self._limit) if at is not None]
        return max(0.0, min(due) - time.monotonic()) if due else LONGEST_S

    def _end_when_due(self) -> None:
        """Send SIGINT when the time is over, unless somebody has sent a signal already."""
        if self._limit is None or time.monotonic() < self._limit:
            return
        self._limit = None
        if not self._forwarded:
            self._timed_out = True
            self._forward(signal.SIGINT)
            self._deadline = time.monotonic() + _GRACE_S

    def _kill_when_late(self) -> None:
        if self._deadline is not None and time.monotonic() >= self._deadline and not self._killed:
            self._killed = True
            self._signal(signal.SIGKILL)

    def _signal(self, signum: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signum)


def _give_terminal(giver: int, taker: int) -> bool:
    """Make `taker` the terminal's foreground group; false when `giver` does not have it to give."""
    try:
        terminal = sys.__stdin__.fileno() if sys.__stdin__ else -1
        # From the background, changing it would stop us.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            if os.tcgetpgrp(terminal) != giver:
                return False
            os.tcsetpgrp(terminal, taker)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    except (OSError, ValueError):
        return False
    return True
