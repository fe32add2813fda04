# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m strata.scenario.remote_part FILE`: stands for the part of a run on another machine.

It has the part run there, passes its output on, and keeps the connection alive. SIGINT or SIGTERM
ends the part as if its time were over. Exit status 0 when it ran and was recorded, else 1, and the
last line says why. Imports the standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

from strata.scenario.child import WHY
from strata.scenario.remote_host import LOST, RemoteHost
from strata.scenario.runner import ALL_RUN

ALIVE_S = 2.0
"""How often it says that it is there."""

_TURN_S = 0.2
# Of `strata run` there: what was expected is missing, and what is not complete, is told elsewhere.
_RAN = (0, 3, 121)
_REASONS = ("scenario: ", "strata: ")


class RemotePart:
    """One part on another machine."""

    def __init__(self, host: RemoteHost, request: dict[str, Any]) -> None:
        self._host = host
        self._stopped = False
        self._reason: str | None = None
        self._refusal: str | None = None
        self._last = ""
        self._rest = b""
        self._ssh = subprocess.Popen(
            host.command("run"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # The terminal's Ctrl-C reaches us, and we end it in order.
            start_new_session=True,
        )
        self._say(json.dumps(request).encode() + b"\n")

    def stop(self, number: int = 0, frame: FrameType | None = None) -> None:
        """Have it end."""
        del number, frame
        self._stopped = True

    def run(self) -> int:
        """Run it to its end; the exit status."""
        assert self._ssh.stdout and self._ssh.stdin
        output, said = self._ssh.stdout, time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while True:
                if self._stopped and not self._ssh.stdin.closed:
                    with contextlib.suppress(OSError):
                        self._ssh.stdin.close()
                elif time.monotonic() - said > ALIVE_S:
                    said = time.monotonic()
                    self._say(b"\n")
                if selector.select(_TURN_S) and not self._read(output.fileno()):
                    break
        return self._judged(self._ssh.wait())

    def _say(self, data: bytes) -> None:
        assert self._ssh.stdin
        if not self._ssh.stdin.closed:
            # Its end is seen by its output.
            with contextlib.suppress(OSError):
                self._ssh.stdin.write(data)
                self._ssh.stdin.flush()

    def _read(self, file: int) -> bool:
        data = os.read(file, 1 << 16)
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not data and self._rest:
            lines, self._rest = [self._rest], b""
        for line in lines:
            text = line.decode(errors="replace")
            self._note(text)
            with contextlib.suppress(OSError):
                sys.stdout.write(f"{text}\n")
                sys.stdout.flush()
        return bool(data)

    def _note(self, text: str) -> None:
        if text.strip():
            self._last = text
        if text.startswith("scenario: ") and text != ALL_RUN:
            self._reason = text.removeprefix("scenario: ")
        elif text.startswith("strata: Cannot"):
            self._refusal = text.removeprefix("strata: ")

    def _judged(self, status: int) -> int:
        if status in _RAN:
            return 0
        if status == LOST:
            why = self._host.failure(status, self._last, connected=True)
        elif self._reason or self._refusal:
            why = f"{self._host.title}: {self._reason or self._refusal}"
        else:
            why = self._host.failure(status, self._last)
        sys.stdout.write(f"{WHY}{why}\n")
        return 1


def main(path: str) -> int:
    """Run the part of a file: `host` and `request`."""
    document = json.loads(Path(path).read_text())
    part = RemotePart(RemoteHost(**document["host"]), document["request"])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, part.stop)
    return part.run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
