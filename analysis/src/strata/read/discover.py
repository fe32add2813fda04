# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Find the CTF traces below a path.

A CTF trace is a directory with a file `metadata`. A recording holds several: one a user and bitness
(`ust/uid/0/64-bit`), one a process with per-PID buffers, the kernel's, one a host, one a rotation
chunk, and two sessions beside each other (`snapshot` and `runtime`).
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from strata.errors import TraceError
from strata.read import _ctf
from strata.read.absent import absent_step
from strata.read.results import is_results

MOST_METADATA_BYTES = 64 << 20
_INDEX = ".idx"
_OWN_TRACER = "strata"
"""Tracer of a trace of Strata's results (strata.export.trace_compass), which is no recording."""
_SHORT_ID = 8
"""Characters of a clock's id that a host's name has beside it, where several have that name."""


@dataclass(frozen=True)
class CtfTrace:
    """One CTF trace directory and what its metadata say, before any decoding."""

    directory: Path
    metadata: _ctf.Metadata
    namesake: bool = False
    """Another machine of the recording has the same host name."""

    @property
    def hostname(self) -> str:
        """Host that recorded it; "(unknown)" when the metadata do not say.

        Of machines with one name each has the begin of its clock's id beside the name.
        """
        name = str(self.metadata.environment.get("hostname") or "(unknown)")
        return f"{name} ({self.clock[:_SHORT_ID]})" if self.namesake else name

    @property
    def clock(self) -> str:
        """Id of the clock that its times are of, empty when not known.

        LTTng's is the id of the machine's boot: traces that have the same are of one clock.
        """
        clocks = self.metadata.clocks
        return str(clocks[0]["uuid"]) if clocks else ""

    @property
    def clock_offset_ns(self) -> int:
        """What is added to the clock's value (CLOCK_MONOTONIC for LTTng) to get time since epoch.

        0 when the metadata declare no clock. Sub-nanosecond clocks are rounded down.
        """
        clocks = self.metadata.clocks
        return int(clocks[0]["offset_ns"]) if clocks else 0

    def stream_files(self) -> list[Path]:
        """Data stream files: every regular file beside the metadata, sorted by name.

        Also those that are not there any more, and of which LTTng's index tells what they held.
        """
        found = {
            entry
            for entry in self.directory.iterdir()
            if entry.is_file() and entry.name != "metadata" and not entry.name.startswith(".")
        }
        indexes = self.directory.glob(f"index/*{_INDEX}")
        names = (path.name.removesuffix(_INDEX) for path in indexes)
        return sorted(found | {self.directory / name for name in names if name})


def read_metadata(path: Path) -> _ctf.Metadata:
    """Parse a `metadata` file: TSDL of CTF 1.8, in packets or plain, or JSON of CTF 2.

    Raises TraceError when it cannot be read, is damaged or declares something that is not
    supported.
    """
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MOST_METADATA_BYTES:
                raise TraceError(
                    f"Cannot read metadata {path}: it has {size:,} bytes, and at most "
                    f"{MOST_METADATA_BYTES >> 20} MiB are supported; the metadata of a trace "
                    "with thousands of event types has a few. Check what wrote it."
                )
            content = file.read(MOST_METADATA_BYTES)
        if not content:
            raise TraceError(
                f"Cannot read metadata {path}: it is empty: the session is still being recorded or "
                "was killed before it wrote any. Stop the session, then try again."
            )
        return _ctf.parse_metadata(content)
    except OSError as error:
        raise TraceError(
            f"Cannot read metadata {path}: {error.strerror}. Check its permissions and the disk."
        ) from error
    except _ctf.MetadataError as error:
        raise TraceError(
            f"Cannot read metadata {path}: {error}. `babeltrace2 {path.parent}` may give more "
            "detail; if it can read the trace, its producer is not supported (docs/reading.md)."
        ) from error


def _by_clock(traces: list[CtfTrace]) -> list[CtfTrace]:
    """Give traces of one clock one offset, and machines of one name different ones.

    LTTng reads the two clocks whose difference the offset is again for each directory (one for
    each process with per-PID buffers). What these readings differ by is no time that passed.
    """
    clocks: dict[tuple[str, int], list[CtfTrace]] = {}
    names: dict[str, set[str]] = {}
    for trace in traces:
        if trace.clock:
            frequency = int(trace.metadata.clocks[0]["frequency"])
            clocks.setdefault((trace.clock, frequency), []).append(trace)
            names.setdefault(trace.hostname, set()).add(trace.clock)
    for own in clocks.values():
        median = sorted(own, key=lambda trace: trace.clock_offset_ns)[(len(own) - 1) // 2]
        for trace in own:
            trace.metadata.take_offset_of(median.metadata)
    return [replace(trace, namesake=len(names.get(trace.hostname, ())) > 1) for trace in traces]


def find_traces(path: Path) -> tuple[list[CtfTrace], list[tuple[Path, str]]]:
    """Return the CTF traces at and below `path`, and what could not be read there with the error.

    Both are sorted by directory. Hidden directories are left out; of a directory with several names
    (symbolic links are followed) one is taken. A trace of results of Strata is left out where there
    is another. Raises TraceError when there is no trace.
    """
    _require_directory(path)
    found: list[CtfTrace] = []
    unreadable: list[tuple[Path, str]] = []
    for place in _directories(path, unreadable):
        try:
            if _is_file(place / "metadata"):
                found.append(CtfTrace(place, read_metadata(place / "metadata")))
        except TraceError as error:
            unreadable.append((place, str(error)))
    recorded = [one for one in found if one.metadata.environment.get("tracer_name") != _OWN_TRACER]
    found = recorded or found
    found.sort(key=lambda trace: trace.directory.parts)
    unreadable.sort(key=lambda item: item[0].parts)
    if not found and unreadable:
        raise TraceError(unreadable[0][1])
    if not found and is_results(path):
        raise TraceError(
            f"Cannot open trace {path}: it has results, and no events. Give the directory of the "
            "recording that they are of."
        )
    if not found:
        raise TraceError(
            f"Cannot open trace {path}: no directory at or below it contains a CTF `metadata` "
            "file. Give the directory that `strata record`, `ros2 trace` or `lttng` wrote."
        )
    return _by_clock(found), unreadable


def _require_directory(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        raise TraceError(
            f"Cannot open trace {path}: there is no such directory. {absent_step(path)}"
        ) from error
    except OSError as error:
        raise TraceError(
            f"Cannot open trace {path}: {error.strerror}. Check the path and its permissions."
        ) from error
    if not stat.S_ISDIR(mode):
        raise TraceError(
            f"Cannot open trace {path}: it is a file. Give the directory that contains the trace."
        )


def _directories(path: Path, unreadable: list[tuple[Path, str]]) -> Iterator[Path]:
    """Yield each directory at and below `path` once; what cannot be listed goes to `unreadable`.

    Those behind symbolic links come last, so that a directory's own name wins over a link to it.
    """
    waiting = deque([path])
    linked: deque[Path] = deque()
    # A link to what holds `path` is a loop too.
    seen = {_identity(parent) for parent in path.resolve().parents}
    while waiting or linked:
        place = (waiting or linked).popleft()
        try:
            identity = _identity(place)
            if identity in seen:
                continue
            seen.add(identity)
            with os.scandir(place) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            unreadable.append((place, _unlisted(place, error)))
            continue
        for entry in inside:
            if not entry.name.startswith("."):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(place, entry.name))
                elif entry.is_symlink() and _leads_to_directory(entry):
                    linked.append(Path(place, entry.name))
        yield place


def _identity(place: Path) -> tuple[int, int]:
    status = place.stat()
    return status.st_dev, status.st_ino


def _unlisted(place: Path, error: OSError) -> str:
    return (
        f"Cannot list directory {place}: {error.strerror}. Check its permissions, or read it as "
        "its owner."
    )


def _leads_to_directory(entry: os.DirEntry[str]) -> bool:
    """Return whether a symbolic link is one to a directory; a loop of links leads nowhere."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_file(path: Path) -> bool:
    """Return whether there is a regular file; a pipe of that name would never end.

    Raises TraceError when that cannot be determined.
    """
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise TraceError(
            f"Cannot read metadata {path}: {error.strerror}. Check the directory's permissions."
        ) from error
