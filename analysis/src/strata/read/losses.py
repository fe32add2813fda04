# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace lost, from its packet headers and from what could not be decoded.

LTTng's `events_discarded` is a running count of its stream, as of the end of the packet; the
sequence number of a packet is one more than that of the packet before it (CTF 1.8, 5.3; CTF 2,
4.4).

Packets that only LTTng's index of a file knows are lost, each by itself. Between the packets of
their stream they take part in both counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.printable import printable
from strata.read.decoder import NO_TIME, Decoder
from strata.schema.quality import SAID_FIRST, Finding

Columns = dict[str, npt.NDArray[np.int64]]


@dataclass(frozen=True)
class Loss:
    """Something that the trace lost: `count` by `code` of strata.schema.quality, when and where.

    `begin_ns` and `end_ns` (since the epoch) bound the time of the loss; null when not known.
    """

    code: str
    count: int
    where: str
    begin_ns: int | None
    end_ns: int | None

    @property
    def finding(self) -> Finding:
        """What is said of it in results; with the time, unless it is of the whole recording."""
        if self.code in SAID_FIRST:
            names = (printable(self.where),) if self.where else ()
            return Finding(self.code, self.count, names)
        known = [ns for ns in (self.begin_ns, self.end_ns) if ns is not None]
        return Finding(self.code, self.count, span_ns=(known[0], known[-1]) if known else None)


def find_losses(
    decoder: Decoder, names: frozenset[int] = frozenset(), since_ns: int | None = None
) -> list[Loss]:
    """Count what the packets and the decoding so far say was lost, each stream by itself.

    `names` are the traces (numbers, as of `StreamFile.trace`) that stand for a part of the
    recording that was dropped on purpose (strata.read.rotated), from `since_ns` on.
    """
    known = set(decoder.missing_packets["file"].tolist())
    found = [
        Loss("empty_streams", 1, file.path, None, None)
        for number, file in enumerate(decoder.files)
        if not file.size and number not in known
    ]
    found += _damage(decoder)
    found += _missing(decoder)
    found += _witnesses(decoder)
    found += _of_streams(decoder, names, since_ns)
    if decoder.duplicate_packets:
        found.append(Loss("duplicate_packets", decoder.duplicate_packets, "", None, None))
    if decoder.out_of_order:
        found.append(Loss("out_of_order_events", decoder.out_of_order, "", None, None))
    return found


def last_known_ns(decoder: Decoder) -> int | None:
    """Return until when every stream tells what was: the earliest end of their last packets.

    Null without packets that have times.
    """
    packets = decoder.packets
    stream, end_ns = packets["stream"], packets["end_ns"]
    if not len(stream):
        return None
    last = np.flatnonzero(np.r_[stream[1:] != stream[:-1], True])
    return _known(end_ns[last].min())


def _damage(decoder: Decoder) -> list[Loss]:
    packets = decoder.packets
    rows_of_path = {
        decoder.files[number].path: np.flatnonzero(packets["file"] == number)
        for number in np.unique(packets["file"])
    }
    found = []
    for item in decoder.damage:
        rows = rows_of_path.get(item.path, np.empty(0, np.int64))
        begin, end = _window(packets, rows, item.offset)
        if item.truncated:
            found.append(Loss("truncated_streams", 1, item.path, begin, None))
            found.append(Loss("truncated_bytes", item.size, item.path, begin, None))
        else:
            where = f"{item.path}, byte {item.offset}: {item.reason}"
            found.append(Loss("unreadable_bytes", item.size, where, begin, end))
    return found


def _missing(decoder: Decoder) -> list[Loss]:
    """Runs of packets that the index of a file knows, and that it does not hold.

    One of which a part is there counts as the truncated one that it is.
    """
    missing = decoder.missing_packets
    cut = {(item.path, item.offset) for item in decoder.damage if item.truncated}
    rows = [
        row
        for row, (file, offset) in enumerate(zip(missing["file"], missing["offset"], strict=True))
        if (decoder.files[file].path, int(offset)) not in cut
    ]
    found = []
    for run in _runs(missing, np.asarray(rows, np.int64)):
        path = decoder.files[missing["file"][run[0]]].path
        size = int(missing["bytes"][run].sum())
        where = f"{path}: {size} bytes listed in its index are missing"
        begin, end = _known(missing["begin_ns"][run[0]]), _known(missing["end_ns"][run[-1]])
        found.append(Loss("lost_packets", len(run), where, begin, end))
    return found


def _runs(missing: Columns, rows: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
    """Cut rows where another file begins, or where packets between two are there."""
    file, offset, size = (missing[name][rows] for name in ("file", "offset", "bytes"))
    goes_on = (file[1:] == file[:-1]) & (offset[1:] == offset[:-1] + size[:-1])
    return np.split(rows, np.flatnonzero(~goes_on) + 1) if len(rows) else []


def _witnesses(decoder: Decoder) -> list[Loss]:
    """Damage of what tells of packets and events: their times, their headers, their indexes."""
    packets, files = decoder.packets, decoder.files
    found = []
    for (file, offset), count in sorted(decoder.misplaced.items()):
        rows = np.flatnonzero(packets["file"] == file)
        window = _window(packets, rows, offset)
        where = f"{files[file].path}, byte {offset}: their times are outside the packet"
        found.append(Loss("misplaced_events", count, where, *window))
    found += [
        Loss("damaged_packet_headers", count, files[file].path, None, None)
        for file, count in sorted(decoder.mended_headers.items())
    ]
    found += [
        Loss("damaged_indexes", 1, f"{files[file].path}, its index: {why}", None, None)
        for file, why in sorted(decoder.index_faults.items())
    ]
    return found


def _window(
    packets: Columns, rows: npt.NDArray[np.int64], offset: int
) -> tuple[int | None, int | None]:
    """Return the time of the packet that a byte of a file is in; else that between its neighbours.

    `rows` are the packets of the file.
    """
    rows = rows[np.argsort(packets["offset"][rows])]
    after = int(np.searchsorted(packets["offset"][rows], offset, side="right"))
    begin = end = None
    if after:
        row = rows[after - 1]
        end_ns = _known(packets["end_ns"][row])
        if offset < packets["offset"][row] + packets["bytes"][row]:
            return _known(packets["begin_ns"][row]), end_ns
        begin = end_ns
    if after < len(rows):
        end = _known(packets["begin_ns"][rows[after]])
    return begin, end


def _of_streams(
    decoder: Decoder, names: frozenset[int], dropped_since_ns: int | None
) -> list[Loss]:
    """Growth of the discarded counts and gaps of the sequence numbers, between packets."""
    packets = _with_missing(decoder)
    stream, sequence, discarded = packets["stream"], packets["sequence"], packets["discarded"]
    begin, end = packets["begin_ns"], packets["end_ns"]
    if not len(stream):
        return []
    first = np.r_[True, stream[1:] != stream[:-1]]
    before = np.r_[0, np.arange(len(stream) - 1)]
    discarded = _without_dips(discarded, stream, packets["discarded_bits"])
    # Before the first packet a stream had discarded nothing and written no packet.
    grown = np.where(discarded < 0, 0, discarded - np.where(first, 0, discarded[before]))
    grown = _unwrapped(grown, packets["discarded_bits"])
    known = (sequence >= 0) & (first | (sequence[before] >= 0))
    missing = np.where(known, sequence - np.where(first, -1, sequence[before]) - 1, 0)
    missing = _unwrapped(missing, packets["sequence_bits"])
    since = np.where(first, begin, end[before])
    of_names = np.isin([file.trace for file in decoder.files], sorted(names))[packets["file"]]
    if dropped_since_ns is not None:
        since = np.where(of_names, np.minimum(since, dropped_since_ns), since)
    found = []
    # A count of 64 bits does not wrap but may restart (session stopped and started): only growth
    # is a loss.
    for row in np.flatnonzero((grown > 0) | (missing > 0) | of_names):
        file = decoder.files[packets["file"][row]]
        path = file.path
        began = bool(first[row]) and missing[row] > 0 and not of_names[row]
        if grown[row] > 0:
            start = None if began else _known(since[row])
            code = "lost_kernel_events" if file.of_kernel else "discarded_events"
            found.append(Loss(code, int(grown[row]), path, start, _known(end[row])))
        if of_names[row]:
            # It has the number and the end of the last packet dropped.
            span = _known(since[row]), _known(end[row])
            found.append(Loss("dropped_packets", int(missing[row]) + 1, path, *span))
        elif missing[row] > 0:
            code = "packets_before_trace" if first[row] else "lost_packets"
            if not first[row] and of_names[before[row]]:
                code = "dropped_packets"
            start = None if first[row] else _known(since[row])
            found.append(Loss(code, int(missing[row]), path, start, _known(begin[row])))
    return found


def _with_missing(decoder: Decoder) -> Columns:
    """Put the packets that only indexes know where they were in their streams."""
    packets, missing = decoder.packets, decoder.missing_packets
    if not len(missing["stream"]):
        return packets
    both = {name: np.concatenate([packets[name], missing[name]]) for name in packets}
    order = np.lexsort((both["begin_ns"], both["stream"]))
    return {name: column[order] for name, column in both.items()}


def _without_dips(
    discarded: npt.NDArray[np.int64],
    stream: npt.NDArray[np.int64],
    bits: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Level out a wide count that goes back in one packet and is as high as before in the next.

    LTTng-UST reads the count when a packet's last event is committed: a thread that is held up
    there reads it after the one of the next packet did.
    """
    if len(stream) < 3:
        return discarded
    before, at, after = discarded[:-2], discarded[1:-1], discarded[2:]
    one_stream = (stream[:-2] == stream[1:-1]) & (stream[1:-1] == stream[2:])
    wide = bits[1:-1] >= 63
    dip = one_stream & wide & (at >= 0) & (at < before) & (after >= before)
    level = discarded.copy()
    level[1:-1] = np.where(dip, before, at)
    return level


def _unwrapped(growth: npt.NDArray[np.int64], bits: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Undo the wrap-around of counters of fewer than 64 bits."""
    narrow = (bits < 63) & (growth < 0)
    return np.where(narrow, growth + (np.int64(1) << np.minimum(bits, 62)), growth)


def _known(time_ns: np.int64) -> int | None:
    return None if time_ns == NO_TIME else int(time_ns)
