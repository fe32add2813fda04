# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The other machine's side: it runs a part of a scenario for who asks through standard input.

A request is one line of JSON. The part is `strata run --only-host` as a process of its own. It ends
as by Ctrl-C when standard input ends, or says nothing for `SILENCE_S`: then nobody is there any
more, and nothing may be left.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Any, Self

from strata import __version__
from strata.errors import ScenarioError, StrataError
from strata.record.directory import MANIFEST, read_state
from strata.record.host import describe_host
from strata.record.places import sessions_root
from strata.record.ros import Ros
from strata.scenario.load import LoadedScenario, load_scenario
from strata.scenario.part import check_hosts, only_hosts
from strata.scenario.place import end_with_parent
from strata.scenario.remote_host import PROTOCOL
from strata.scenario.running import check_run, profile_digest, what_runs

SILENCE_S = 30.0
ARCHIVE = b"strata: an archive follows\n"
"""The line before the archive of a recording: start-up files of a shell may print before it."""

RECEIVED = "received"
"""What confirms the arrival."""

_TURN_S = 0.1
_MOST_PENDING_BYTES = 1 << 20
# Its processes end after some seconds each, and then its session is written.
PATIENCE_S = 150.0
"""How long a part may take to end, in seconds, before it is killed."""

_RUN = re.compile(r"[0-9a-f]{12,32}")
_SHUT_DOWN = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Request:
    """What the other side asks for.

    `run` is an id of the run, `host` whose part it is. `files` has the scenario's files, and a
    profile beside them, by name; `file` is the name by which to load `scenario` beside them.
    `changes` and `duration` are as of `strata run`. `variables` are set for it.
    """

    run: str
    host: str
    scenario: str
    file: str
    files: dict[str, str]
    changes: dict[str, str]
    duration: str | None
    session: str | None
    kernel: bool
    traced: bool
    variables: dict[str, str]
    protocol: int = PROTOCOL

    @classmethod
    def read(cls, line: str) -> Self:
        """Read a line. Raises ScenarioError for what is no request of this version."""
        try:
            document = json.loads(line)
            if document["protocol"] != PROTOCOL:
                raise ScenarioError(
                    f"Cannot run a part: Strata {__version__} here is of another version than that "
                    "of the other side. Install the same on both."
                )
            request = cls(**document)
        except (ValueError, TypeError, KeyError) as error:
            raise ScenarioError(
                "Cannot run a part: standard input has no request. `strata run --host` starts this."
            ) from error
        names = [*request.files, request.scenario, request.file, request.host]
        plain = all(Path(name).name == name and name not in ("", "..") for name in names)
        if not _RUN.fullmatch(request.run) or not plain:
            raise ScenarioError("Cannot run a part: the request has a name with a directory in it.")
        return request

    @property
    def directory(self) -> Path:
        """Give the directory of its session on this machine."""
        return sessions_root() / f"part_{self.host}_{self.run}"

    def write_files(self, directory: Path) -> Path:
        """Write the scenario's files; returns the path of the scenario."""
        for name, text in self.files.items():
            (directory / name).write_text(text, encoding="utf-8")
        return directory / self.file

    def load(self, directory: Path) -> LoadedScenario:
        """Load the part from its files. Raises ScenarioError."""
        loaded = load_scenario(str(self.write_files(directory)), self.changes, self.duration)
        check_hosts(loaded, [self.host], "--only-host")
        return only_hosts(loaded, [self.host])

    def command(self, scenario: Path) -> list[str]:
        """Give the command that runs it."""
        words = ["run", str(scenario), "--only-host", self.host, "-o", str(self.directory)]
        for key, text in self.changes.items():
            words += ["--set", f"{key}={text}"]
        words += ["--duration", self.duration] if self.duration else []
        words += ["-c", self.session] if self.session else []
        words += ["--kernel"] if self.kernel else []
        words += [] if self.traced else ["--no-trace"]
        return [sys.executable, "-m", "strata", *words]


def introduce(ros: Ros | None) -> dict[str, Any]:
    """Say who is here: the version of Strata, the machine, and its ROS 2."""
    return {
        "protocol": PROTOCOL,
        "strata": __version__,
        "host": describe_host(),
        "ros": ros.distro if ros else None,
    }


def answer_check(request: Request, ros: Ros, base: Mapping[str, str]) -> dict[str, Any]:
    """Say whether a part could run here, and what runs it; `error` is null when it could."""
    error = profile = None
    runs: dict[str, Any] = {}
    try:
        with tempfile.TemporaryDirectory(prefix="strata-host-") as directory:
            loaded = request.load(Path(directory))
            profile = profile_digest(loaded)
            variables = {**base, **request.variables}
            check_run(loaded, ros=ros, base=variables)
            runs = what_runs(loaded, ros=ros, base=variables)
    except StrataError as refused:
        error = str(refused)
    answer = {
        "directory": str(request.directory),
        "profile": profile,
        "runs": runs,
        "error": error,
    }
    return {**introduce(ros), **answer}


class _Stop:
    """Whether a signal asked for the end."""

    def __init__(self) -> None:
        self.asked = False
        for number in _SHUT_DOWN:
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.asked = True


def run_part(request: Request) -> int:
    """Run a part to its end, for as long as somebody is at standard input; its exit status."""
    stop = _Stop()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    with tempfile.TemporaryDirectory(prefix="strata-host-") as directory:
        scenario = request.write_files(Path(directory))
        log = Path(directory, "run.log")
        parent = os.getpid()
        with log.open("wb") as file:
            child = subprocess.Popen(
                request.command(scenario),
                env={**os.environ, **request.variables},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=lambda: end_with_parent(parent),
            )
        with log.open("rb") as output:
            status = _Attended(child, output, stop).wait()
    return status if status >= 0 else 128 - status


class _Attended:
    """A child whose output goes to standard output, while somebody is at standard input."""

    def __init__(self, child: subprocess.Popen[bytes], output: IO[bytes], stop: _Stop) -> None:
        self._child, self._output, self._stop = child, output, stop
        self._pending = b""
        self._heard = time.monotonic()
        self._deadline: float | None = None
        os.set_blocking(1, False)

    def wait(self) -> int:
        """Wait for its end; the exit status, negative for a signal."""
        with selectors.DefaultSelector() as selector:
            selector.register(0, selectors.EVENT_READ)
            while self._child.poll() is None:
                if selector.get_map() and selector.select(_TURN_S):
                    self._hear(selector)
                elif not selector.get_map():
                    time.sleep(_TURN_S)
                if self._stop.asked or time.monotonic() - self._heard > SILENCE_S:
                    self._end()
                self._pass_on()
        until = time.monotonic() + 2.0
        while self._pass_on() and time.monotonic() < until:
            time.sleep(_TURN_S)
        return self._child.returncode

    def _hear(self, selector: selectors.BaseSelector) -> None:
        self._heard = time.monotonic()
        if not os.read(0, 1 << 12):
            selector.unregister(0)
            self._stop.asked = True

    def _end(self) -> None:
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + PATIENCE_S
            self._child.send_signal(signal.SIGINT)
        elif now > self._deadline:
            # Its watchdog ends its session then.
            self._child.kill()

    def _pass_on(self) -> bool:
        """Write what is new, as far as it is taken; returns whether something is left."""
        self._pending = (self._pending + self._output.read())[-_MOST_PENDING_BYTES:]
        if self._pending:
            try:
                self._pending = self._pending[os.write(1, self._pending) :]
            except BlockingIOError:
                return True
            except OSError:
                # Nobody is there; what it says is in its session, too.
                self._pending = b""
        return bool(self._pending)


def send_part(request: Request) -> None:
    """Write a part's session to standard output, and remove it when its arrival is confirmed.

    It is a tar archive after the line `ARCHIVE`, with the manifest as its last member: so one that
    was cut is seen to be. Raises ScenarioError where there is no such session.
    """
    directory = request.directory
    until = time.monotonic() + PATIENCE_S
    # The one who asks may have lost it before it has ended.
    while (state := read_state(directory)) and state.recorder_alive and time.monotonic() < until:
        time.sleep(_TURN_S)
    if not (directory / MANIFEST).is_file():
        raise ScenarioError(
            f"Cannot send the recording of host {request.host}: there is none in {directory}. It "
            "was not made, or was fetched before."
        )
    # What was printed before may have no end of its line.
    sys.stdout.buffer.write(b"\n" + ARCHIVE)
    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as archive:
        for one in sorted(directory.iterdir(), key=lambda path: path.name == MANIFEST):
            archive.add(one, arcname=one.name)
    sys.stdout.buffer.flush()
    if sys.stdin.readline().strip() == RECEIVED:
        with contextlib.suppress(OSError):
            shutil.rmtree(directory)
