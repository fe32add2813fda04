# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How a verb ends when it is stopped, or when its output cannot be written."""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
from types import FrameType
from typing import NoReturn

from strata.errors import OutputError

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
_EXHAUSTED = {
    errno.EMFILE: "this process may have {files} open. Allow more with `ulimit -n`",
    errno.ENFILE: "the whole system has as many open as it may. End other programs, or raise the "
    "sysctl fs.file-max",
    errno.EAGAIN: "no further process, thread or memory is to be had. End other programs, or allow "
    "more processes (`ulimit -u`, a container's pids limit) and memory",
    errno.ENOMEM: "no further memory is to be had. End other programs, or allow more (`ulimit -v`, "
    "a container's memory limit)",
}


def exit_on_signals() -> None:
    """Make SIGTERM and SIGHUP raise SystemExit(128 + number), so that what was begun is removed.

    One that the caller ignores (nohup) stays ignored.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _exit)


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    for other in _SIGNALS:
        # Removing takes a moment in which an impatient sender would leave the rest lying.
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)


def explain(error: OSError) -> OutputError | None:
    """Return what to tell of an error that no verb expected; null for a reader that went away."""
    if error.errno in _EXHAUSTED and not _is_output_that_blocks(error):
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        cause = _EXHAUSTED[error.errno].format(files=files)
        return OutputError(f"Cannot go on: {os.strerror(error.errno)}: {cause}.")
    # What is still buffered would fail again at the interpreter's end, with a traceback.
    _drop_stdout()
    if error.errno == errno.EPIPE:
        return None
    fact = os.strerror(error.errno) if error.errno else str(error)
    if error.filename is not None:
        name = os.fsdecode(error.filename) if isinstance(error.filename, bytes) else error.filename
        return OutputError(f"Cannot use {name}: {fact}. Check the path and its permissions.")
    return OutputError(f"Cannot write the result: {fact}. Write it to another place.")


def _is_output_that_blocks(error: OSError) -> bool:
    """Tell a full pipe that does not wait from a process that could not be started."""
    return isinstance(error, BlockingIOError) and hasattr(error, "characters_written")


def _drop_stdout() -> None:
    if sys.stdout is None:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
