# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The directory of one recording, and the state file that outlives a killed recorder."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from strata.errors import OutputError
from strata.record.daemon import alive
from strata.record.places import sessions_root

MANIFEST = "manifest.json"
TRACE = "trace"
PERF_DATA = "perf.data"
THREAD_CPU = "thread_cpu"
STATE = "recording.json"
CLEANUP = "CLEANUP.txt"
# What a recording and the verbs on it write; --force replaces these and nothing else.
_OWN = (MANIFEST, TRACE, PERF_DATA, THREAD_CPU, "tables", "report.html", "scenario", STATE, CLEANUP)
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
    `perf_pid` is null when perf does not run beside it. `session_ended` tells that there is no
    LTTng session any more; perf's data may still be being converted.
    """

    session: str
    strata_pid: int
    start_ticks: int
    directory: str
    command: list[str]
    daemon_pid: int | None = None
    command_pid: int | None = None
    perf_pid: int | None = None
    session_ended: bool = False

    @property
    def recorder_alive(self) -> bool:
        """Tell whether the recorder still runs."""
        return alive(self.strata_pid, self.start_ticks)

    def write(self) -> None:
        """Write the state file, in one step."""
        write_text(Path(self.directory) / STATE, json.dumps(asdict(self), indent=1) + "\n")


def read_state(directory: Path) -> State | None:
    """Read the state file of a recording; null when there is none, or none of ours."""
    try:
        return State(**json.loads((directory / STATE).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def check_name(name: str) -> str:
    """Accept a recording's name: LTTng and the file system both take it as it is."""
    if not _NAME.fullmatch(name):
        raise OutputError(
            f"Cannot name a recording '{name}': only letters, digits, '.', '_' and '-' go, and "
            "the first must be a letter or digit. Choose another --name."
        )
    return name


def default_directory(name: str) -> Path:
    """Give `sessions/<utc>_<name>` of the project."""
    return sessions_root() / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}_{name}"


def check_directory(directory: Path, *, force: bool) -> None:
    """Refuse a directory that must not be recorded into.

    Raises OutputError when it is a file, holds something (without `force`), holds something but
    no recording (even with `force`), or is being recorded into.
    """
    if not directory.exists():
        return
    if not directory.is_dir():
        raise OutputError(f"Cannot record into {directory}: it is a file. Choose another -o.")
    entries = sorted(path.name for path in directory.iterdir())
    if not entries:
        return
    state = read_state(directory)
    if state is not None and state.recorder_alive:
        raise OutputError(
            f"Cannot record into {directory}: process {state.strata_pid} is recording into it. "
            "Wait for its end, or choose another -o."
        )
    if not force:
        raise OutputError(
            f"Cannot record into {directory}: it is not empty ({entries[0]}; {len(entries)} in "
            "all). Choose another -o, or replace a former recording with --force."
        )
    if not {MANIFEST, STATE} & set(entries) and set(entries) & set(_OWN):
        raise OutputError(
            f"Cannot replace {directory}: it has no {MANIFEST}, so its files are no recording of "
            "Strata. Choose another -o."
        )


def clear_directory(directory: Path) -> list[Path]:
    """Make the directory, without a former recording's files; returns those that were removed."""
    removed = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name in _OWN:
            path = directory / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.is_symlink() or path.exists():
                path.unlink()
            else:
                continue
            removed.append(path)
    except OSError as error:
        raise OutputError(
            f"Cannot prepare {directory}: {error.strerror}: {error.filename}. Choose another -o."
        ) from error
    return removed


def write_text(path: Path, text: str) -> None:
    """Write a file so that no reader ever sees a part of it."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise OutputError(
            f"Cannot write {path}: {error.strerror}. Check the disk and the directory's rights."
        ) from error


def holds_events(trace: Path) -> bool:
    """Tell whether any stream below `trace` holds an event.

    A traced process that emitted nothing leaves one packet a CPU whose content is its header alone.
    """
    for path in trace.rglob("*"):
        if path.name == "metadata" or path.suffix == ".idx" or not path.is_file():
            continue
        with path.open("rb") as stream:
            head = stream.read(_CONTENT_SIZE.size + _CONTENT_SIZE_AT)
            size = path.stat().st_size
        if len(head) < _CONTENT_SIZE.size + _CONTENT_SIZE_AT:
            continue
        content, packet = _CONTENT_SIZE.unpack_from(head, _CONTENT_SIZE_AT)
        if content > _EMPTY_PACKET_BITS or size > packet // 8:
            return True
    return False
