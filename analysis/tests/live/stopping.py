# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Stop a running process, or a single thread of one with ptrace, for known times."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import signal
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lttng_world import wait_until

_CONTINUE, _DETACH, _SYSCALL, _SEIZE, _INTERRUPT = 7, 17, 24, 0x4206, 0x4207
_SYSCALL_INFO, _MARK_SYSCALLS, _ENTRY = 0x420E, 1, 1
_SYSCALL_STOP = signal.SIGTRAP | 0x80
_SENDS = {"x86_64": {44, 46, 307}, "aarch64": {206, 211, 269}}.get(platform.machine(), set())
"""The numbers of sendto, sendmsg and sendmmsg."""
_ANY_THREAD = 0x40000000
_FIRST_PORT = 7400
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.ptrace.restype = ctypes.c_long
_LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def _ptrace(request: int, tid: int, data: int | None = None) -> None:
    if _LIBC.ptrace(request, tid, None, data) == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"ptrace({request:#x}) of thread {tid}: {os.strerror(number)}")


def descendants(pid: int) -> Iterator[int]:
    """List the processes that a process started, and those that they did."""
    children: list[str] = []
    with suppress(FileNotFoundError, ProcessLookupError):  # It ended meanwhile.
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += (task / "children").read_text().split()
    for child in children:
        yield int(child)
        yield from descendants(int(child))


def find_process(ancestor: int, *words: str) -> int:
    """Wait for a descendant whose command line holds all words."""

    def found() -> int | None:
        for pid in descendants(ancestor):
            with suppress(FileNotFoundError, ProcessLookupError):
                line = Path(f"/proc/{pid}/cmdline").read_text()
                if all(word in line for word in words):
                    return pid
        return None

    return int(wait_until(found, f"a process with {words}"))


def find_receiver(pid: int, transport: str) -> int:
    """Find the thread that receives the application's samples: its name ends in an RTPS port."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        match = re.fullmatch(rf"dds\.{transport}\.(\d+)\n", (task / "comm").read_text())
        # The odd ports are those of user traffic; lower ones serve something else.
        if match and int(match[1]) > _FIRST_PORT and int(match[1]) % 2:
            return int(task.name)
    raise AssertionError(f"no thread of {pid} receives by {transport}")


class StoppableThread:
    """A thread of another process, seized by this one; `stops` are CLOCK_MONOTONIC intervals."""

    def __init__(self, tid: int) -> None:
        self.stops: list[tuple[int, int]] = []
        self._tid = tid

    def stop(self, seconds: float) -> None:
        """Stop the thread and let it go on."""
        self._halt()
        begin_ns = time.monotonic_ns()
        time.sleep(seconds)
        end_ns = time.monotonic_ns()
        _ptrace(_CONTINUE, self._tid)
        self.stops.append((begin_ns, end_ns))

    def _halt(self) -> None:
        _ptrace(_INTERRUPT, self._tid)
        os.waitpid(self._tid, _ANY_THREAD)

    @classmethod
    @contextmanager
    def seized(cls, tid: int) -> Iterator[StoppableThread]:
        """Seize a thread, and release it at the end; all from one thread of this process."""
        _ptrace(_SEIZE, tid)
        thread = cls(tid)
        try:
            yield thread
        finally:
            # Its process may have ended: a busy machine is late.
            with suppress(ProcessLookupError):
                thread._halt()
                _ptrace(_DETACH, tid)


def stop_in_sends(tid: int, seconds: float, stops: int) -> int:
    """Stop a thread for a time before each message that it sends through a socket, so many times.

    It ends with the thread at the latest; returns how often it was stopped.
    """
    _ptrace(_SEIZE, tid, _MARK_SYSCALLS)
    _ptrace(_INTERRUPT, tid)
    done = 0
    while done < stops:
        _, status = os.waitpid(tid, _ANY_THREAD)
        if not os.WIFSTOPPED(status):
            return done
        number = os.WSTOPSIG(status)
        if number == _SYSCALL_STOP and _entered(tid) in _SENDS:
            time.sleep(seconds)
            done += 1
        passed_on = number if number not in (_SYSCALL_STOP, signal.SIGTRAP) else None
        _ptrace(_SYSCALL if done < stops else _DETACH, tid, passed_on)
    return done


def _entered(tid: int) -> int | None:
    """Return the number of the system call that a stopped thread is about to make."""
    info = ctypes.create_string_buffer(88)
    if _LIBC.ptrace(_SYSCALL_INFO, tid, len(info), info) == -1:
        raise OSError(ctypes.get_errno(), "ptrace(PTRACE_GET_SYSCALL_INFO)")
    # op, padding, architecture, instruction and stack pointer; then the number.
    op, number = struct.unpack_from("<B23xQ", info)
    return number if op == _ENTRY else None


class StoppableProcess:
    """A process that SIGSTOP stops; `stops` are CLOCK_MONOTONIC intervals."""

    def __init__(self, pid: int) -> None:
        self.stops: list[tuple[int, int]] = []
        self._pid = pid

    def stop(self, seconds: float) -> None:
        """Stop all threads of the process and let them go on."""
        os.kill(self._pid, signal.SIGSTOP)
        # It is asked only; a thread that has no CPU stops once it gets one.
        wait_until(lambda: self._state() in "TZ", f"process {self._pid} to stop")
        begin_ns = time.monotonic_ns()
        time.sleep(seconds)
        end_ns = time.monotonic_ns()
        os.kill(self._pid, signal.SIGCONT)
        self.stops.append((begin_ns, end_ns))

    def _state(self) -> str:
        return Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()[0]
