# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A recording that goes on with a copy of itself, in which some processes have other ids."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np

from strata.read import open_trace

SHIFT = 5 << 32
"""By how much the copy is later, in ns: whole steps of the 32 bits that short timestamps have."""


def chunks_of(session: Path) -> list[Path]:
    return sorted((session / "trace/archives").glob("2*"), key=lambda one: int(one.name[-1]))


def live_again(session: Path, other_ids: dict[int, int]) -> None:
    """Add chunks that are copies of those that are there."""
    first = chunks_of(session)
    offset = next(iter(open_trace(first[0]).clock_offsets_ns.values()))
    spans = [open_trace(chunk).decoder.packets for chunk in first]
    low = min(int(span["begin_ns"].min()) for span in spans) - offset
    high = max(int(span["end_ns"].max()) for span in spans) - offset
    for index in (path for chunk in first for path in chunk.rglob("*.idx")):
        index.unlink()
    for number, chunk in enumerate(first):
        name = f"{chunk.name.rpartition('-')[0]}-{len(first) + number}"
        copy = chunk.with_name(name)
        shutil.copytree(chunk, copy)
        # Times of events, and stamps of messages.
        _make_anew(copy, other_ids, [(low, high), (low + offset, high + offset)])


def _make_anew(chunk: Path, other_ids: dict[int, int], times: list[tuple[int, int]]) -> None:
    (metadata,) = chunk.rglob("metadata")
    content = metadata.read_bytes()
    match = re.search(rb'trace \{.*?uuid = "([0-9a-f-]{36})"', content, re.DOTALL)
    assert match is not None
    known = bytes.fromhex(match[1].decode().replace("-", ""))
    other = bytes([known[0] ^ 0x55]) + known[1:]
    text = re.sub("(.{8})(.{4})(.{4})(.{4})(.{12})", r"\1-\2-\3-\4-\5", other.hex()).encode()
    metadata.write_bytes(content.replace(match[1], text).replace(known, other))
    for stream in chunk.rglob("ust_*"):
        found = _later(stream.read_bytes(), times)
        for own, another in other_ids.items():
            found = found.replace(own.to_bytes(4, "little"), another.to_bytes(4, "little"))
        stream.write_bytes(found.replace(known, other))


def _later(content: bytes, times: list[tuple[int, int]]) -> bytes:
    """Move every 64-bit number that may be a time of the recording, wherever it lies."""
    octets = np.frombuffer(content, np.uint8).astype(np.uint64)
    count = len(octets) - 7
    numbers = np.zeros(count, np.uint64)
    for place in range(8):
        numbers |= octets[place : count + place] << np.uint64(8 * place)
    out = bytearray(content)
    moved = np.zeros(count, bool)
    for low, high in times:
        moved |= (numbers >= low) & (numbers <= high)
    for at in np.flatnonzero(moved).tolist():
        out[at : at + 8] = (int(numbers[at]) + SHIFT).to_bytes(8, "little")
    return bytes(out)
