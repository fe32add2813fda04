# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Damage that is done to the streams of a trace on disk."""

from __future__ import annotations

from pathlib import Path

from strata.read import open_trace

SAMPLE = "fast_relay1p_st"
STREAMS = "ust/ust/uid/0/64-bit"
# Where LTTng-UST's packets have their numbers of 64 bits.
FIELDS = {"begin": 32, "end": 40, "content": 48, "size": 56, "sequence": 64, "discarded": 72}
HEADER = 84


def packets_of(directory: Path) -> list[tuple[Path, int, int]]:
    """Path, offset and bytes of every packet."""
    decoder = open_trace(directory).decoder
    rows = zip(*(decoder.packets[name] for name in ("file", "offset", "bytes")), strict=True)
    return [(Path(decoder.files[file].path), int(at), int(size)) for file, at, size in rows]


def flip(path: Path, byte: int, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(byte)
        (value,) = file.read(1)
        file.seek(byte)
        file.write(bytes([value ^ 1 << bit]))


def flip_of_number(path: Path, at: int, bit: int) -> None:
    """Flip a bit of a little-endian number."""
    flip(path, at + bit // 8, bit % 8)


def take_packets(directory: Path, stream: str, first: int, count: int) -> int:
    """Remove packets from a stream file; return their bytes."""
    path = directory / stream
    sizes = [size for where, _, size in packets_of(directory) if where == path]
    content = path.read_bytes()
    begin, end = sum(sizes[:first]), sum(sizes[: first + count])
    path.write_bytes(content[:begin] + content[end:])
    return end - begin
