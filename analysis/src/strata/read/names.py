# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Keep what names things in parts of a trace that are to be dropped (`--max-size`, `--keep`).

`python -m strata.read.names BUDGET BEFORE CHUNK AFTER [CHUNK AFTER ...]` makes each directory
AFTER: of what BEFORE holds (the result for the parts dropped until now; empty: there are none) and
of what the CHUNKs up to this one hold, the newest naming event (`strata.schema.naming`) of each
thing. It is a CTF trace like CHUNK, with one packet a stream, which has the sequence number and the
count of discarded events of the last packet dropped. Its `metadata` files are called `.metadata`:
whoever drops CHUNK gives them their name.

Of more than BUDGET bytes, the names of processes go of which no event was seen for longest.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from operator import itemgetter
from pathlib import Path

import numpy as np
import pyarrow as pa

from strata.errors import StrataError, TraceError
from strata.read import _ctf
from strata.read.decoder import NO_TIME, Decoder, Selection
from strata.read.discover import CtfTrace, find_traces
from strata.read.rotated import DROPPED, METADATA_NEW, Dropped, read_dropped
from strata.read.trace import open_trace
from strata.schema.naming import NAMING_EVENTS

# Lower still, it would get nothing of a busy machine before the chunk has to go.
_NICE = 5
# LTTng's packet header and the begin of its packet context, little-endian: magic number, UUID,
# stream class, stream instance; begin, end, content and packet size (bits).
_HEADER = struct.Struct("<I16sIQQQQQ")
_TIMES_AND_SIZES = struct.Struct("<QQQQ")
_TIMES_AT = _HEADER.size - _TIMES_AND_SIZES.size
_MAGIC = 0xC1FC1FC1
# Once names have to go, this share of the room is made free, so that it is not so again at once.
_FREED = 0.25


@dataclass
class _Stream:
    """One stream of the result: the file that it stands in, and the header of its last packet."""

    directory: Path
    file: str
    header: bytes


@dataclass(frozen=True)
class _Named:
    """A naming event: its stream, time in cycles, bytes, and the process that it is of."""

    stream: tuple[Path, int]
    cycles: int
    content: bytes
    process: str


_Things = dict[tuple[object, ...], _Named]


class _Names:
    """The naming events of several traces of one session, the newest of each thing."""

    def __init__(self) -> None:
        self.metadata: dict[Path, bytes] = {}
        self.streams: dict[tuple[Path, int], _Stream] = {}
        self.things: _Things = {}

    def add(self, root: Path) -> None:
        """Add all CTF traces below a directory, which has the layout of the session's output."""
        for trace, metadata in _traces(root):
            place = trace.directory.relative_to(root)
            self.metadata[place] = metadata
            decoder = Decoder([trace])
            self._add_streams(place, trace.directory, decoder)
            self._add_events(place, decoder)

    def _add_streams(self, place: Path, directory: Path, decoder: Decoder) -> None:
        packets = decoder.packets
        for row in np.argsort(packets["sequence"], kind="stable").tolist():
            file = directory / Path(decoder.files[packets["file"][row]].path).name
            with file.open("rb") as opened:
                opened.seek(int(packets["offset"][row]))
                header = opened.read(int(packets["events_at"][row]) // 8)
            _check(file, header, int(packets["content_bits"][row]), int(packets["bytes"][row]) * 8)
            key = place, int(packets["instance"][row])
            self.streams.setdefault(key, _Stream(place, file.name, header)).header = header

    def _add_events(self, place: Path, decoder: Decoder) -> None:
        instances = decoder.packets["instance"]
        for event in decoder.extract(frozenset(NAMING_EVENTS)):
            process = _process(
                int.from_bytes(event.fields.get("vpid", b""), "little", signed=True),
                int.from_bytes(event.fields.get("pid_ns", b""), "little"),
            )
            identity = tuple(event.fields.get(name, b"") for name in NAMING_EVENTS[event.name])
            thing = (place, process, event.name, identity)
            known = self.things.get(thing)
            if known is None or known.cycles <= event.cycles:
                stream = place, int(instances[event.packet])
                self.things[thing] = _Named(stream, event.cycles, event.content, process)


def _traces(root: Path) -> list[tuple[CtfTrace, bytes]]:
    """Find the CTF traces of a chunk, or of kept names that may not count yet."""
    if (root / DROPPED).is_file():
        # They may come to count just now.
        for name in (METADATA_NEW, "metadata"):
            with contextlib.suppress(FileNotFoundError):
                found = {path.parent: path.read_bytes() for path in sorted(root.rglob(name))}
                if found:
                    return [(CtfTrace(at, _ctf.parse_metadata(c)), c) for at, c in found.items()]
    traces, unreadable = find_traces(root)
    if unreadable:
        raise TraceError(unreadable[0][1])
    return [(trace, (trace.directory / "metadata").read_bytes()) for trace in traces]


def _check(file: Path, header: bytes, content_bits: int, packet_bits: int) -> None:
    """Refuse a packet whose header is not laid out as LTTng's."""
    if len(header) >= _HEADER.size:
        values = _HEADER.unpack_from(header)
        if (values[0], *values[-2:]) == (_MAGIC, content_bits, packet_bits):
            return
    raise TraceError(
        f"Cannot keep the names of {file}: its packets do not have LTTng's little-endian header. "
        "Record without --max-size and --keep on this machine."
    )


def _process(vpid: int, pid_ns: int) -> str:
    return f"{vpid}@{pid_ns}"


def keep(parts: Sequence[tuple[Path, Path]], before: Path | None, budget: int) -> Dropped:
    """Make a directory of names for each chunk; `parts` are pairs of both, the oldest chunk first.

    `before` is null when nothing was dropped yet. Returns what the last directory says of all that
    was dropped. Raises TraceError when a trace cannot be read or is not LTTng-UST's, OSError; the
    directories of the chunks before are whole then.
    """
    names = _Names()
    dropped = Dropped()
    if before is not None:
        names.add(before)
        dropped = read_dropped(before)
    for chunk, after in parts:
        names.add(chunk)
        dropped = _forget(names, _with_chunk(dropped, chunk), budget)
        _write(after, names)
        # Who sees it takes the directory for whole.
        whole = after / f".{DROPPED}"
        whole.write_text(json.dumps(asdict(dropped)) + "\n", encoding="utf-8")
        whole.rename(after / DROPPED)
    return dropped


def _forget(names: _Names, dropped: Dropped, budget: int) -> Dropped:
    """Let go of names beyond the budget, and of what is known of processes without any."""
    room = budget - sum(map(len, names.metadata.values()))
    before = len(names.things)
    names.things = _within(room, names.things, dropped.processes)
    alive = {event.process for event in names.things.values()}
    processes = {name: ns for name, ns in dropped.processes.items() if name in alive}
    forgotten = dropped.forgotten + before - len(names.things)
    return replace(dropped, forgotten=forgotten, processes=processes)


def _with_chunk(before: Dropped, chunk: Path) -> Dropped:
    """Add what a chunk holds to what was dropped before it."""
    trace = open_trace(chunk)
    seen = dict(before.processes)
    events = 0
    for tables in trace.chunks(Selection(columns=frozenset({"timestamp", "vpid", "pid_ns"}))):
        for batch in (batch for batches in tables.values() for batch in batches):
            events += len(batch)
            for process, ns in _last_seen(batch):
                seen[process] = max(seen.get(process, ns), ns)
    packets = trace.decoder.packets
    begins, ends = (times[times != NO_TIME] for times in (packets["begin_ns"], packets["end_ns"]))
    return replace(
        before,
        chunks=before.chunks + 1,
        events=before.events + events,
        bytes=before.bytes + sum(file.size for file in trace.decoder.files),
        begin_ns=min(begins.tolist(), default=None) if before.begin_ns is None else before.begin_ns,
        end_ns=max(ends.tolist(), default=before.end_ns),
        processes=seen,
    )


def _last_seen(batch: pa.RecordBatch) -> Iterator[tuple[str, int]]:
    """Give the processes of a batch, each with the time of its last event, ns since the epoch."""
    if not len(batch) or "vpid" not in batch.schema.names:
        return
    names = [name for name in ("vpid", "pid_ns") if name in batch.schema.names]
    ids = np.stack([batch.column(name).fill_null(0).to_numpy().astype(np.int64) for name in names])
    times = batch.column("timestamp").to_numpy()
    found, of = np.unique(ids, axis=1, return_inverse=True)
    last = np.full(found.shape[1], times.min())
    np.maximum.at(last, of.ravel(), times)
    for values, ns in zip(found.T.tolist(), last.tolist(), strict=True):
        yield _process(values[0], values[1] if len(values) > 1 else 0), ns


def _within(room: int, things: _Things, seen: dict[str, int]) -> _Things:
    """Give the things whose events `room` bytes hold, all of them if it can be.

    Else those of the processes that were seen last stay, and of one process the newest.
    """
    if sum(len(event.content) for event in things.values()) <= room:
        return things
    room = int(room * (1 - _FREED))

    def age(item: tuple[tuple[object, ...], _Named]) -> tuple[int, int]:
        return seen.get(item[1].process, 0), item[1].cycles

    kept = {}
    for thing, event in sorted(things.items(), key=age, reverse=True):
        room -= len(event.content)
        if room < 0:
            break
        kept[thing] = event
    return kept


def _write(after: Path, names: _Names) -> None:
    after.mkdir()
    for place, content in names.metadata.items():
        (after / place).mkdir(parents=True)
        (after / place / METADATA_NEW).write_bytes(content)
    events: dict[tuple[Path, int], list[tuple[int, bytes]]] = {}
    for event in names.things.values():
        events.setdefault(event.stream, []).append((event.cycles, event.content))
    for key, stream in names.streams.items():
        packet = _packet(stream.header, sorted(events.get(key, []), key=itemgetter(0)))
        (after / stream.directory / stream.file).write_bytes(packet)


def _packet(last_header: bytes, events: Sequence[tuple[int, bytes]]) -> bytes:
    """Give the one packet of a stream: it begins with its first event, all else is as it was."""
    content = b"".join(event for _, event in events)
    header = bytearray(last_header)
    begin, end, _, _ = _TIMES_AND_SIZES.unpack_from(header, _TIMES_AT)
    bits = (len(header) + len(content)) * 8
    times = [begin, *(cycles for cycles, _ in events)]
    _TIMES_AND_SIZES.pack_into(header, _TIMES_AT, min(times), max(end, *times), bits, bits)
    return bytes(header) + content


def main(arguments: list[str]) -> int:
    """Run as a process of low priority, beside a recording; what fails is said on stderr."""
    os.nice(_NICE)
    budget, before, *places = arguments
    paths = [Path(place) for place in places]
    try:
        keep(
            list(zip(paths[::2], paths[1::2], strict=True)),
            Path(before) if before else None,
            int(budget),
        )
    except (StrataError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
