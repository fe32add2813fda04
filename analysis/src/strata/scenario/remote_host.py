# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A host of a scenario that is another machine, reached by the OpenSSH client.

Imports the standard library only.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

SSH_VARIABLE = "STRATA_SSH"
"""The command in place of `ssh`, with options of its own."""

PROTOCOL = 2
"""Of the requests and answers between two sides."""

LOST = 255
"""Exit status of ssh when there is no connection, or no longer."""

_NOT_THERE = 127
_ASK_WITHIN_S = 120.0
_OPTIONS = (
    *("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"),
    # A connection is lost when nothing is answered for so long.
    *("-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"),
)
_FORM = re.compile(
    r"(?P<name>[A-Za-z]\w*)=(?P<address>[^-\s/][^\s/]*?)(:(?P<directory>(~?/|~).*))?"
)


class Unreachable(Exception):  # noqa: N818 - a fact of the other machine, which callers tell
    """A host cannot be used; the text says why, in one line."""


@dataclass(frozen=True)
class RemoteHost:
    """The machine of a scenario's host: what ssh takes as its address, and where Strata is there.

    `directory` is null where `strata` is on the PATH that ssh gives to commands.
    """

    name: str
    address: str
    directory: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read NAME=ADDRESS or NAME=ADDRESS:DIRECTORY; raises ValueError for what is neither."""
        found = _FORM.fullmatch(text)
        if found is None:
            raise ValueError(f"'{text}' has not the form NAME=ADDRESS[:DIRECTORY]")
        return cls(found["name"], found["address"], found["directory"])

    @property
    def text(self) -> str:
        """Give the form that `parse` reads."""
        return f"{self.name}={self.address}" + (f":{self.directory}" if self.directory else "")

    @property
    def title(self) -> str:
        """Name it for people."""
        return f"host {self.name} ({self.address})"

    def command(self, action: str) -> list[str]:
        """Give the command that runs an action of `strata host-side` there."""
        ssh = shlex.split(os.environ.get(SSH_VARIABLE, "")) or ["ssh"]
        return [
            *ssh,
            *_OPTIONS,
            "--",
            self.address,
            f"exec sh -c {shlex.quote(self._line(action))}",
        ]

    def _line(self, action: str) -> str:
        if self.directory is None:
            return f"exec strata host-side {action}"
        place = self.directory
        home, rest = (place == "~" or place.startswith("~/")), place.lstrip("~").lstrip("/")
        where = f'"$HOME"/{shlex.quote(rest)}' if home else shlex.quote(place)
        return (
            f'd={where}; for s in "$d/.venv/bin/strata" "$d/bin/strata" "$d"; do '
            f'if [ -f "$s" ] && [ -x "$s" ]; then exec "$s" host-side {action}; fi; done; '
            f'echo "no strata in $d" >&2; exit {_NOT_THERE}'
        )

    def ask(self, action: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request to an action, and return the answer. Raises Unreachable."""
        try:
            done = subprocess.run(
                self.command(action),
                input=json.dumps(request) + "\n",
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_ASK_WITHIN_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            no_answer = f"no answer within {_ASK_WITHIN_S:.0f} s"
            why = no_answer if isinstance(error, subprocess.TimeoutExpired) else str(error)
            raise Unreachable(f"{self.title}: {why}") from error
        if done.returncode:
            raise Unreachable(self.failure(done.returncode, done.stderr))
        try:
            answer = json.loads(done.stdout.strip().splitlines()[-1])
            assert isinstance(answer, dict)
        except (ValueError, IndexError, AssertionError) as error:
            raise Unreachable(f"{self.title} answers what is none of Strata's") from error
        if answer.get("error"):
            raise Unreachable(f"{self.title}: {answer['error']}")
        return answer

    def failure(self, status: int, said: str, *, connected: bool = False) -> str:
        """Say in one line why a command of ssh failed, by its exit status and what it wrote.

        `connected`: there was a connection before.
        """
        words = [line.strip() for line in said.splitlines() if line.strip()]
        last = words[-1].rstrip(".") if words else f"exit status {status}"
        if status == LOST and connected:
            return f"{self.title}: the connection was lost: {last.removeprefix('ssh: ')}"
        if status == LOST:
            step = f"`ssh {self.address} true` must work without a password"
            return f"{self.title} cannot be reached: {last.removeprefix('ssh: ')}; {step}"
        if status == _NOT_THERE:
            step = f"write where it is installed: {self.name}={self.address}:DIRECTORY"
            return f"{self.title} has no Strata: {last}; {step}"
        return f"{self.title}: {last.removeprefix('strata: ')}"

    def as_json(self) -> dict[str, Any]:
        """Give the form of a request's file."""
        return asdict(self)
