# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a session daemon and its consumer say on stderr: the only place where some losses are
reported.

A consumer that cannot write a packet, or cannot allocate a buffer, says so there, goes on, and
counts nothing (lttng-tools 2.13).
"""

from __future__ import annotations

import fcntl
import os
import re

# Words of lttng-tools 2.13's errors after which events are missing in the trace.
_LOSING = re.compile(
    r"No space left on device"
    r"|File too large"
    r"|Read-only file system"
    r"|Input/output error"
    r"|Disk quota exceeded"
    r"|Too many open files"
    r"|Cannot allocate memory"
    r"|Error consuming subbuffer"
    r"|Error reading mmap subbuffer"
    r"|Error writing to tracefile"
    r"|consumer command failed"
    r"|[Mm]etadata creation failed"
    r"|Error creating UST channel"
    r"|Health error occurred"
    r"|Failed to close trace chunk"
)
_PREFIX = re.compile(r"^(?:PERROR - \S+ \[[^\]]*\]|Error|Warning): ")
_SUFFIX = re.compile(r" \(in \w+\(\) at [\w.-]+:\d+\)$")
_MOST_SAID = 8
_MOST_READ = 1 << 20


class DaemonLog:
    """The stderr of a session daemon that Strata started, in memory.

    It is no file, as a full disk is among what it tells of. The daemon appends; what was read is
    taken out of it at times, so that it stays small. Use `descriptor` as the daemon's stdout and
    stderr.
    """

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("strata-sessiond-log")
        flags = fcntl.fcntl(self.descriptor, fcntl.F_GETFL)
        fcntl.fcntl(self.descriptor, fcntl.F_SETFL, flags | os.O_APPEND)
        self._taken = 0
        self._said: set[str] = set()

    def close(self) -> None:
        """Give the memory back, once the daemon has ended, too."""
        os.close(self.descriptor)

    def take(self) -> list[str]:
        """Return the lines since the last call, oldest first."""
        content = os.pread(self.descriptor, _MOST_READ, self._taken)
        self._taken += len(content)
        # What is said between the two calls is lost, so this is done seldom.
        if self._taken >= _MOST_READ:
            os.ftruncate(self.descriptor, 0)
            self._taken = 0
        return content.decode(errors="replace").splitlines()

    def look(self) -> list[str]:
        """Read what was said; return, once each, the errors after which events are missing."""
        new = []
        for line in self.take():
            words = _SUFFIX.sub("", _PREFIX.sub("", line.strip()))
            if not _LOSING.search(words):
                continue
            # Sizes and addresses make each line another one.
            kind = re.sub(r"-?\d+", "N", words)
            if kind not in self._said and len(self._said) < _MOST_SAID:
                self._said.add(kind)
                new.append(words)
        return new
