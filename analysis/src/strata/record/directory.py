# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The directory of one recording, and the state file that outlives a killed recorder."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
import struct
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from strata.errors import OutputError
from strata.masking import mask_command
from strata.record.daemon import alive
from strata.record.former import (
    CLEANUP,
    HOSTS,
    MANIFEST,
    PERF_DATA,
    RECORDED,
    STATE,
    THREAD_CPU,
    TRACE,
    Former,
    NotOursError,
    find_former,
    read_state_document,
)
from strata.record.places import sessions_root

__all__ = ["CLEANUP", "MANIFEST", "PERF_DATA", "STATE", "THREAD_CPU", "TRACE"]

SET_UP, RECORDING, STOPPING, CONVERTING = "set-up", "recording", "stopping", "converting"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# LTTng's packets: magic, UUID, stream id and instance id (32 bytes), then two timestamps, then the
# sizes of content and packet in bits; header and packet context take 84 bytes, aligned to 88.
_CONTENT_SIZE = struct.Struct("<QQ")
_CONTENT_SIZE_AT = 48
_EMPTY_PACKET_BITS = 88 * 8


@dataclass(frozen=True)
class State:
    """What must be known to clean up after a recorder that was killed.

    `start_ticks` (clock ticks since boot) tells the recorder from a later process of the same id;
    `daemon_pid` is null when the session daemon was not started by it, `command_pid` null until
    the command runs and again after its end (it is also the id of the command's process group).
    `perf_pid` is null when perf does not run beside it. `phase` is how far it has come: SET_UP
    until just before the command runs, RECORDING while it may run, STOPPING after its end, and
    CONVERTING when there is no LTTng session any more, while perf's data may still be converted.
    `mark` is in the environment of every process that recording starts for itself.
    `attached`: there is no command, the processes that run anyway are recorded. `ring`: nothing is
    written but snapshots, and the directory is of no use without the recorder.
    """

    session: str
    strata_pid: int
    start_ticks: int
    directory: str
    command: list[str]
    daemon_pid: int | None = None
    command_pid: int | None = None
    perf_pid: int | None = None
    phase: str = SET_UP
    mark: str = ""
    attached: bool = False
    ring: bool = False

    @property
    def recorder_alive(self) -> bool:
        """Return whether the recorder still runs."""
        return alive(self.strata_pid, self.start_ticks)

    def write(self) -> None:
        """Write the state file, in one step; secrets of the command line are masked."""
        document = asdict(self) | {"command": mask_command(self.command)}
        write_text(Path(self.directory) / STATE, json.dumps(document, indent=1) + "\n")


def read_state(directory: Path) -> State | None:
    """Read the state file of a recording; null when there is none, or none of ours."""
    document = read_state_document(directory / STATE)
    try:
        return State(**document) if document else None
    except TypeError:
        return None


def check_name(name: str) -> str:
    """Accept a recording's name: LTTng and the file system both take it as it is."""
    if not _NAME.fullmatch(name):
        raise OutputError(
            f"Cannot name a recording '{name}': only letters, digits, '.', '_' and '-' are "
            "allowed, and the first must be a letter or digit. Choose another --name."
        )
    return name


def default_directory(name: str) -> Path:
    """Give `sessions/<utc>_<name>` of the project; a number is added where that is taken."""
    first = sessions_root() / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}_{name}"
    later = (first.with_name(f"{first.name}_{number}") for number in itertools.count(2))
    return next(path for path in itertools.chain([first], later) if not os.path.lexists(path))


def check_directory(directory: Path, *, force: bool) -> None:
    """Refuse a directory that must not be recorded into.

    Raises OutputError when it is a file, cannot be read, holds something (without `force`), holds
    something of the user's where a recording would write (even with `force`), or is being recorded
    into.
    """
    try:
        entries = sorted(path.name for path in directory.iterdir())
    except FileNotFoundError:
        if directory.is_symlink():
            raise OutputError(
                f"Cannot record into {directory}: it is a dangling symbolic link. Choose another "
                "-o."
            ) from None
        return
    except OSError as error:
        raise _unusable(directory, error) from error
    if not entries:
        return
    state = read_state(directory)
    if state is not None and state.recorder_alive:
        raise OutputError(
            f"Cannot record into {directory}: process {state.strata_pid} is recording into it. "
            "Wait until it ends, or choose another -o."
        )
    if not force:
        raise OutputError(
            f"Cannot record into {directory}: it is not empty ({entries[0]}; {len(entries)} in "
            "all). Choose another -o, or replace an earlier recording with --force."
        )
    former = _former(directory)
    if directory.is_symlink() and not former.recorded:
        raise OutputError(
            f"Cannot record into {directory}: it is a link to a directory that contains no "
            "Strata recording. Choose another -o."
        )


def make_directory(directory: Path) -> bool:
    """Make the directory of a recording; tells whether there was none. Raises OutputError."""
    existed = directory.exists()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"Cannot prepare {directory}: {error.strerror}. Choose another -o."
        ) from error
    return not existed


def clear_directory(directory: Path) -> list[Path]:
    """Make the directory, without a former recording's files; returns those that were removed.

    Raises OutputError, before anything is removed, when something of the user's is in the way.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return _former(directory).remove()
    except OSError as error:
        raise _unusable(directory, error) from error


def remove_begun(directory: Path) -> None:
    """Remove what a recording has begun to write into a directory that was cleared for it."""
    for name in RECORDED:
        path = directory / name
        with contextlib.suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def _former(directory: Path) -> Former:
    try:
        return find_former(directory)
    except NotOursError as error:
        raise OutputError(
            f"Cannot replace {directory}: {error.path.relative_to(directory)} is not part of a "
            f"recording: {error}. Move it away, or choose another -o."
        ) from error
    except OSError as error:
        raise _unusable(directory, error) from error


def _unusable(directory: Path, error: OSError) -> OutputError:
    """Say why a directory cannot be made, read or cleared; what is inside is named by its name."""
    fact = error.strerror or str(error)
    if isinstance(error, NotADirectoryError | FileExistsError):
        fact = "it is a file" if os.path.lexists(directory) else "part of its path is a file"
    elif error.filename and (place := Path(os.fsdecode(error.filename))).is_relative_to(directory):
        inside = place.relative_to(directory)
        fact = f"{inside}: {fact}" if inside.parts else fact
    return OutputError(f"Cannot record into {directory}: {fact}. Choose another -o.")


def write_text(path: Path, text: str, mode: int = 0o640) -> None:
    """Write a file so that no reader ever sees a part of it, nor, by default, a stranger any."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        try:
            with os.fdopen(os.open(partial, flags, mode), "w", encoding="utf-8") as file:
                file.write(text)
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(
            f"Cannot write {path}: {error.strerror}. Check the disk and the directory's "
            "permissions."
        ) from error


def host_sessions(directory: Path) -> dict[str, Path]:
    """Return the sessions of other machines beside that in a directory, by the hosts' names."""
    found = sorted((directory / HOSTS).glob(f"[!.]*/{MANIFEST}"))
    return {path.parent.name: path.parent for path in found}


def holds_events(trace: Path) -> bool:
    """Return whether any stream below `trace` holds an event.

    A traced process that emitted nothing leaves packets whose content is their header alone.
    """
    return any(
        path.name != "metadata" and path.suffix != ".idx" and path.is_file() and _has_event(path)
        for path in trace.rglob("*")
    )


def _has_event(path: Path) -> bool:
    with path.open("rb") as stream:
        while True:
            begin = stream.tell()
            head = stream.read(_CONTENT_SIZE.size + _CONTENT_SIZE_AT)
            if len(head) < _CONTENT_SIZE.size + _CONTENT_SIZE_AT:
                return False
            content, packet = _CONTENT_SIZE.unpack_from(head, _CONTENT_SIZE_AT)
            if content > _EMPTY_PACKET_BITS:
                return True
            if packet < _EMPTY_PACKET_BITS:
                return False
            stream.seek(begin + packet // 8)
