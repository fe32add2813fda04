# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The stream files of a trace that was just recorded, held against LTTng's own index of them.

The consumer writes a packet, then its entry in `index/STREAM.idx`: a packet that was not written to
its end has none. babeltrace2 and Trace Compass refuse a whole trace for one such packet.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_INDEX = "index"
_METADATA = "metadata"
# Big-endian: magic, major, minor, size of an entry; an entry begins with the packet's offset in
# bytes and its size in bits (lttng-tools, include/lttng/ctf-index.h).
_HEADER = struct.Struct(">IIII")
_ENTRY = struct.Struct(">QQ")
_MAGIC = 0xC1F1DCC1


@dataclass(frozen=True)
class Stream:
    """A stream file of `size` bytes, of which the index knows the first `indexed`.

    The entries for them are the first `index_size` bytes of the index: what comes after is of
    packets that were not written (offsets that make no sense). `indexed` is null where the index
    cannot be read.
    """

    file: Path
    size: int
    index: Path
    indexed: int | None
    index_size: int


def mend(trace: Path) -> list[str]:
    """Cut off packets that were not written to their ends; return what the trace lacks, in words.

    Only for a trace whose session has ended.
    """
    _keep_interrupted_rotation(trace)
    problems = []
    torn = missing = 0
    cut_bytes = missing_bytes = 0
    for stream in _streams(trace):
        if stream.indexed is None or stream.indexed == stream.size:
            continue
        if stream.size < stream.indexed:
            missing += 1
            missing_bytes += stream.indexed - stream.size
            continue
        torn += 1
        cut_bytes += stream.size - stream.indexed
        os.truncate(stream.file, stream.indexed)
        os.truncate(stream.index, stream.index_size)
    if torn:
        problems.append(
            f"{torn} of the trace's files ended within a packet; its {cut_bytes} bytes were cut "
            "off so that all tools can read the remainder"
        )
    if missing:
        problems.append(f"{missing} of the trace's files lack {missing_bytes} bytes at the end")
    problems += [
        f"the metadata of {place} is missing: its events cannot be read"
        for place in _without_metadata(trace)
    ]
    return problems


def _keep_interrupted_rotation(trace: Path) -> None:
    """Give the chunk of a rotation that did not end a name by which readers find it."""
    chunk = trace / ".tmp_old_chunk"
    if chunk.is_dir() and not chunk.is_symlink():
        archives = trace / "archives"
        archives.mkdir(exist_ok=True)
        chunk.rename(archives / f"interrupted-{time.time_ns()}")


def _streams(trace: Path) -> Iterator[Stream]:
    for index in sorted(trace.rglob(f"{_INDEX}/*.idx")):
        file = index.parent.parent / index.stem
        if file.is_file() and not file.is_symlink():
            yield Stream(file, file.stat().st_size, index, *_indexed(index))


def _indexed(index: Path) -> tuple[int | None, int]:
    """Return where the packets that follow one another end, and their entries, in bytes."""
    content = index.read_bytes()
    if len(content) < _HEADER.size:
        return None, len(content)
    magic, _, _, entry_size = _HEADER.unpack_from(content)
    if magic != _MAGIC or entry_size < _ENTRY.size:
        return None, len(content)
    end = 0
    at = _HEADER.size
    while at + entry_size <= len(content):
        offset, bits = _ENTRY.unpack_from(content, at)
        if offset != end:
            break
        end += bits // 8
        at += entry_size
    return end, at


def _without_metadata(trace: Path) -> list[Path]:
    """Return the directories of streams with packets whose metadata were not written."""
    places = sorted({stream.file.parent for stream in _streams(trace) if stream.size})
    return [place for place in places if not _size(place / _METADATA)]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
