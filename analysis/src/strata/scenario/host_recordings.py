# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of other machines beside this one's: `hosts/NAME` of a session, each a session."""

from __future__ import annotations

import contextlib
import io
import json
import os
import select
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from strata.documents import read_json
from strata.errors import OutputError, ScenarioError
from strata.record.directory import MANIFEST
from strata.record.former import HOSTS
from strata.scenario.host_side import ARCHIVE, PATIENCE_S, RECEIVED, Request
from strata.scenario.remote_host import RemoteHost, Unreachable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# It may wait for the end of its recorder before the first byte.
SILENT_S = PATIENCE_S + 60.0
"""How long nothing may come, in seconds, before the copy of a recording is given up."""

_ENDS_WITHIN_S = 60.0
_MOST_GREETING_BYTES = 1 << 20


@dataclass(frozen=True)
class Brought:
    """A recording that was brought: where it is, what was expected there, what it lacks."""

    directory: Path
    unmet: list[str]
    problems: list[str]


def fetch(host: RemoteHost, request: Request, directory: Path) -> Brought:
    """Copy the recording of a part into the session in a directory; it is removed there.

    Raises Unreachable when it does not come, OutputError when it cannot be written.
    """
    with _new(directory, host.name) as place, tempfile.TemporaryFile() as said:
        began = whole = False
        with _sending(host, said) as ssh:
            assert ssh.stdin and ssh.stdout
            arriving = io.BufferedReader(_Arriving(ssh.stdout.fileno()))
            with contextlib.suppress(BrokenPipeError, tarfile.ReadError, EOFError):
                ssh.stdin.write(json.dumps(asdict(request)).encode() + b"\n")
                ssh.stdin.flush()
                if began := _skip_greeting(arriving):
                    with tarfile.open(fileobj=arriving, mode="r|") as archive:
                        whole = _extract(archive, place)
                if whole:
                    ssh.stdin.write(RECEIVED.encode() + b"\n")
                    ssh.stdin.flush()
        if not whole:
            said.seek(0)
            raise Unreachable(_why_not(host, ssh.returncode, said.read(), began=began))
    return _judged(directory / HOSTS / host.name, host.name)


@contextlib.contextmanager
def _sending(host: RemoteHost, said: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """Run `send` there; afterwards it has ended, killed where it does not end by itself."""
    with subprocess.Popen(
        host.command("send"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said
    ) as ssh:
        try:
            yield ssh
            for pipe in (ssh.stdin, ssh.stdout):
                assert pipe
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                ssh.wait(_ENDS_WITHIN_S)
        finally:
            # Popen's own end waits without limit.
            if ssh.poll() is None:
                ssh.kill()


class _Arriving(io.RawIOBase):
    """A pipe to read from; raises Unreachable when nothing comes for `SILENT_S`."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        if not select.select([self._file], [], [], SILENT_S)[0]:
            raise Unreachable(f"nothing came for {SILENT_S:.0f} s")
        return os.readv(self._file, [memoryview(buffer)])


def _skip_greeting(arriving: BinaryIO) -> bool:
    """Read up to the archive, past what a start-up file of a shell prints; false for none."""
    skipped = 0
    while skipped < _MOST_GREETING_BYTES:
        line = arriving.readline(_MOST_GREETING_BYTES)
        if line == ARCHIVE:
            return True
        if not line:
            return False
        skipped += len(line)
    return False


def _why_not(host: RemoteHost, status: int, said: bytes, *, began: bool) -> str:
    if status and status > 0:
        return host.failure(status, said.decode(errors="replace"))
    if began:
        return f"{host.title}: its recording arrived only in part"
    return f"{host.title} sends no recording, but something else"


def add_host(session: Path, recording: Path) -> Brought:
    """Copy the recording of another part of the same run into a session.

    Raises ScenarioError for what is no part of that run, OutputError when it cannot be written.
    """
    name = _check_part(session, recording)
    with _new(session, name) as place:
        try:
            shutil.copytree(recording, place, dirs_exist_ok=True, symlinks=True)
        except (OSError, shutil.Error) as error:
            raise _unwritable(place, error) from error
    return _judged(session / HOSTS / name, name)


def _check_part(session: Path, recording: Path) -> str:
    """Return the name of the host that a recording is of."""
    own, other = (_scenario(one) for one in (session, recording))
    why = f"Cannot add {recording} to {session}"
    part, there = other.get("part"), own.get("part")
    if not part:
        raise ScenarioError(
            f"{why}: it is no part of a scenario. Record it with `strata run --only-host`."
        )
    if there is None:
        raise ScenarioError(
            f"{why}: this has the whole scenario already. Record a part with --only-host or --host."
        )
    for key, what in (("name", "scenario"), ("changes", "settings"), ("variant", "variant")):
        if own.get(key) != other.get(key):
            raise ScenarioError(
                f"{why}: its {what} is {_shown(other.get(key))}, and not {_shown(own.get(key))}. "
                "Add the other part of the same run."
            )
    twice = sorted({*part} & {*there})
    if twice or (session / HOSTS / part[0]).exists():
        raise ScenarioError(f"{why}: it has the recording of host {(twice or part)[0]} already.")
    versions = [
        (_manifest(one).get("versions") or {}).get("strata") for one in (session, recording)
    ]
    if versions[0] != versions[1]:
        raise ScenarioError(
            f"{why}: it was recorded by Strata {versions[1]}, and this by {versions[0]}. Record "
            "both with the same version."
        )
    return str(part[0])


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _scenario(directory: Path) -> dict[str, Any]:
    scenario = _manifest(directory).get("scenario")
    if not isinstance(scenario, dict):
        raise ScenarioError(
            f"Cannot use {directory}: it is no recording of a scenario. Give a directory that "
            "`strata run` wrote."
        )
    return scenario


def _manifest(directory: Path) -> dict[str, Any]:
    try:
        content = read_json(directory / MANIFEST)
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


@contextlib.contextmanager
def _new(directory: Path, name: str) -> Iterator[Path]:
    """Make a place, which becomes `hosts/NAME` when all went well, and is removed when not."""
    target = directory / HOSTS / name
    place = target.with_name(f".{name}.{os.getpid()}")
    if os.path.lexists(target):
        raise OutputError(f"Cannot write {target}: it is there already. Move it away.")
    try:
        place.mkdir(parents=True)
    except OSError as error:
        raise _unwritable(place, error) from error
    try:
        yield place
        try:
            place.rename(target)
        except OSError as error:
            raise _unwritable(target, error) from error
    finally:
        shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(OSError):
            target.parent.rmdir()


def _extract(archive: tarfile.TarFile, place: Path) -> bool:
    """Write the plain files and directories of an archive below a place, and nothing else.

    Returns whether it is whole, which its manifest at its end shows: an archive that was cut before
    a member looks like one that ends there.
    """
    path = Path()
    for member in archive:
        path = Path(member.name)
        if path.is_absolute() or ".." in path.parts:
            raise Unreachable(f"it sends a file outside of its directory ({member.name})")
        target = place / path
        try:
            if member.isdir():
                target.mkdir(parents=True, exist_ok=True)
            elif member.isfile() and (content := archive.extractfile(member)):
                with target.open("xb") as file:
                    shutil.copyfileobj(content, file)
                target.chmod(member.mode & 0o644 | 0o400)
        except OSError as error:
            raise _unwritable(target, error) from error
    return path == Path(MANIFEST) and (place / MANIFEST).is_file()


def _judged(directory: Path, name: str) -> Brought:
    manifest = _manifest(directory)
    checks = (manifest.get("scenario") or {}).get("checks") or ()
    return Brought(
        directory,
        [f"host {name}: {one['text']}" for one in checks if not one["met"]],
        [f"host {name}: {one}" for one in manifest.get("problems") or ()],
    )


def _unwritable(path: Path, error: Exception) -> OutputError:
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return OutputError(f"Cannot write {path}: {why}. Check the disk and the directory's rights.")
