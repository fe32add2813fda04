# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the recorded program says itself: when it emitted which number."""

from __future__ import annotations

import fcntl
import os
import struct
import threading
import time
from pathlib import Path

_RECORD = struct.Struct("=IIq")
_PIPE_BYTES = 1 << 20
_PATIENCE_S = 0.02

Number = tuple[int, int]
"""A thread of the program, and the number that it emitted."""


class Truth:
    """Reads the program's pipe while it runs; `emitted_ns` is by number, of CLOCK_MONOTONIC.

    `late_s` is the longest by which a short sleep of ours was late meanwhile: what the machine's
    load does to anything that is due.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.emitted_ns: dict[Number, int] = {}
        self.late_s = 0.0
        os.mkfifo(path)
        # For writing, too, so that no program's end ends the pipe.
        self._pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read_on, daemon=True)
        self._thread.start()

    @property
    def begun(self) -> bool:
        """Tell whether the program has emitted anything."""
        return bool(self.emitted_ns)

    def close(self) -> None:
        """Read what is left in the pipe, and end."""
        self._ended.set()
        self._thread.join()
        self._read()
        os.close(self._pipe)

    def _read_on(self) -> None:
        while not self._ended.is_set():
            before = time.monotonic()
            time.sleep(_PATIENCE_S)
            self.late_s = max(self.late_s, time.monotonic() - before - _PATIENCE_S)
            self._read()

    def _read(self) -> None:
        while True:
            try:
                found = os.read(self._pipe, _PIPE_BYTES)
            except BlockingIOError:
                return
            for thread, number, at_ns in _RECORD.iter_unpack(found):
                self.emitted_ns[thread, number] = at_ns
