# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace lost, from its packet headers and from what could not be decoded.

LTTng's `events_discarded` is a running count of its stream, as of the end of the packet; the
sequence number of a packet is one more than that of the packet before it (CTF 1.8, 5.3; CTF 2,
4.4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.read.decoder import Decoder


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


def find_losses(decoder: Decoder) -> list[Loss]:
    """Count what the packets and the decoding so far say was lost, each stream by itself."""
    found = [
        Loss("empty_streams", 1, file.path, None, None) for file in decoder.files if not file.size
    ]
    found += _damage(decoder)
    found += _of_streams(decoder)
    if decoder.duplicate_packets:
        found.append(Loss("duplicate_packets", decoder.duplicate_packets, "", None, None))
    if decoder.out_of_order:
        found.append(Loss("out_of_order_events", decoder.out_of_order, "", None, None))
    return found


def _damage(decoder: Decoder) -> list[Loss]:
    last_ns: dict[str, int] = {}
    for number, end in zip(decoder.packets["file"], decoder.packets["end_ns"], strict=True):
        path = decoder.files[number].path
        last_ns[path] = max(last_ns.get(path, -1), int(end))
    found = []
    for item in decoder.damage:
        if item.truncated:
            last = last_ns.get(item.path)
            found.append(Loss("truncated_streams", 1, item.path, last, None))
            found.append(Loss("truncated_bytes", item.size, item.path, last, None))
        else:
            where = f"{item.path}, byte {item.offset}: {item.reason}"
            found.append(Loss("unreadable_bytes", item.size, where, None, None))
    return found


def _of_streams(decoder: Decoder) -> list[Loss]:
    """Growth of the discarded counts and gaps of the sequence numbers, between packets."""
    packets = decoder.packets
    stream, sequence, discarded = packets["stream"], packets["sequence"], packets["discarded"]
    begin, end = packets["begin_ns"], packets["end_ns"]
    if not len(stream):
        return []
    first = np.r_[True, stream[1:] != stream[:-1]]
    before = np.r_[0, np.arange(len(stream) - 1)]
    # Before the first packet a stream had discarded nothing and written no packet.
    grown = np.where(discarded < 0, 0, discarded - np.where(first, 0, discarded[before]))
    known = (sequence >= 0) & (first | (sequence[before] >= 0))
    missing = np.where(known, sequence - np.where(first, -1, sequence[before]) - 1, 0)
    since = np.where(first, begin, end[before])
    found = []
    # A count may also restart (session stopped and started): only growth is a loss.
    for row in np.flatnonzero((grown > 0) | (missing > 0)):
        path = decoder.files[packets["file"][row]].path
        began = bool(first[row]) and missing[row] > 0
        if grown[row] > 0:
            start = None if began else _known(since[row])
            found.append(Loss("discarded_events", int(grown[row]), path, start, _known(end[row])))
        if missing[row] > 0:
            code = "packets_before_trace" if first[row] else "lost_packets"
            start = None if first[row] else _known(since[row])
            found.append(Loss(code, int(missing[row]), path, start, _known(begin[row])))
    return found


def _known(time_ns: np.int64) -> int | None:
    return None if time_ns < 0 else int(time_ns)
