# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Find the CTF traces below a path.

A CTF trace is a directory with a file `metadata`. A recording holds several: one a user and bitness
(`ust/uid/0/64-bit`), one a process with per-PID buffers, the kernel's, one a host, one a rotation
chunk, and two sessions beside each other (`snapshot` and `runtime`).
"""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path

from strata.errors import TraceError

_METADATA_MAGIC = 0x75D11D57
_METADATA_HEADER = struct.Struct("<I16sIIIBBBBB")


@dataclass(frozen=True)
class CtfTrace:
    """One CTF trace directory and what its metadata text says of it, before any decoding."""

    directory: Path
    metadata: str

    @property
    def hostname(self) -> str:
        """Host that recorded it; "(unknown)" when the metadata does not say."""
        return self._environment("hostname") or "(unknown)"

    @property
    def tracer(self) -> str:
        """Name of the tracer that wrote it; empty when the metadata does not say."""
        return self._environment("tracer_name")

    @property
    def uuid(self) -> str:
        """The trace's UUID, the same for all rotation chunks of a session; may be empty."""
        match = re.search(r'\buuid\s*=\s*"([0-9a-fA-F-]+)"', self.metadata)
        return match.group(1) if match else ""

    @property
    def clock_offset_ns(self) -> int:
        """What is added to the clock's value (CLOCK_MONOTONIC for LTTng) to get time since epoch.

        0 when the metadata declares no clock. Sub-nanosecond clocks are rounded down.
        """
        offset = re.search(r"\boffset\s*=\s*(\d+)\s*;", self.metadata)
        seconds = re.search(r"\boffset_s\s*=\s*(\d+)\s*;", self.metadata)
        frequency = re.search(r"\bfreq\s*=\s*(\d+)\s*;", self.metadata)
        cycles = int(offset.group(1)) if offset else 0
        hertz = int(frequency.group(1)) if frequency else 1_000_000_000
        whole = int(seconds.group(1)) if seconds else 0
        return whole * 1_000_000_000 + cycles * 1_000_000_000 // hertz

    @property
    def event_names(self) -> list[str]:
        """Names of the declared events."""
        return re.findall(r'^\s*name\s*=\s*"([^"]+:[^"]+)";', self.metadata, re.MULTILINE)

    def stream_files(self) -> list[Path]:
        """Data stream files: every regular file beside the metadata, sorted by name."""
        return sorted(
            entry
            for entry in self.directory.iterdir()
            if entry.is_file() and entry.name != "metadata" and not entry.name.startswith(".")
        )

    def _environment(self, name: str) -> str:
        match = re.search(rf'^\s*{name}\s*=\s*"([^"]*)";', self.metadata, re.MULTILINE)
        return match.group(1) if match else ""


def read_metadata(path: Path) -> str:
    """Return the TSDL text of a `metadata` file, unpacked when it is packetized.

    Raises TraceError when a packet says more than the file holds or the file is not text.
    """
    data = path.read_bytes()
    if len(data) < 4 or struct.unpack_from("<I", data)[0] != _METADATA_MAGIC:
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise TraceError(
                f"Cannot read metadata {path}: byte {error.start} is neither text nor a packet "
                "of CTF 1.8. Record the trace again."
            ) from error
    chunks = []
    at = 0
    while at < len(data):
        if len(data) - at < _METADATA_HEADER.size:
            raise TraceError(_cut(path, at, _METADATA_HEADER.size, len(data)))
        magic, _, _, content_bits, packet_bits, *_ = _METADATA_HEADER.unpack_from(data, at)
        content, packet = content_bits // 8, packet_bits // 8
        if magic != _METADATA_MAGIC or not _METADATA_HEADER.size <= content <= packet:
            raise TraceError(
                f"Cannot read metadata {path}: no packet of CTF 1.8 begins at byte {at}. "
                "The file is damaged; record the trace again."
            )
        if at + content > len(data):
            raise TraceError(_cut(path, at, content, len(data)))
        chunks.append(data[at + _METADATA_HEADER.size : at + content])
        at += packet
    return b"".join(chunks).decode(errors="replace")


def _cut(path: Path, at: int, need: int, size: int) -> str:
    return (
        f"Cannot read metadata {path}: the packet at byte {at} needs {need} bytes and the file "
        f"ends at byte {size}. It was cut; copy the trace again."
    )


def find_traces(path: Path) -> tuple[list[CtfTrace], list[tuple[Path, str]]]:
    """Return the CTF traces at and below `path`, and those that cannot be read with the reason.

    Sorted by directory. Hidden directories are left out. Raises TraceError when there is none.
    """
    if not path.exists():
        raise TraceError(f"Cannot open trace {path}: there is no such directory. Check the path.")
    if not path.is_dir():
        raise TraceError(
            f"Cannot open trace {path}: it is a file. Give the directory that holds the trace."
        )
    found: list[CtfTrace] = []
    unreadable: list[tuple[Path, str]] = []
    for directory, names, files in os.walk(path):
        names[:] = sorted(name for name in names if not name.startswith("."))
        if "metadata" not in files:
            continue
        place = Path(directory)
        try:
            found.append(CtfTrace(place, read_metadata(place / "metadata")))
        except (TraceError, OSError) as error:
            unreadable.append((place, str(error)))
    if not found and unreadable:
        raise TraceError(unreadable[0][1])
    if not found:
        raise TraceError(
            f"Cannot open trace {path}: no directory at or below it holds a CTF `metadata` file. "
            "Give the directory that `strata record`, `ros2 trace` or `lttng` wrote."
        )
    return found, unreadable
