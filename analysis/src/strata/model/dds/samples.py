# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples by their identity: the writer's GUID and its sequence number, the same in every process.

Every event that names a sample gives the same dense number to the same sample. An event whose GUID
is not known (zeros) names none.

Where a sample goes through no socket (Cyclone DDS within a process, and over iceoryx), its number
is not known (0); its writer and source timestamp are. They name it when they name one sample only:

* no two numbers go with one pair of writer and stamp (one number that does is the sample's);
* no reader was told of a pair twice.

A reader_notify without a number tells no stamp: its sample is that of the reader_history_add just
before it on its thread, of the same writer.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.lazy import pandas as pd
from strata.model.columns import NONE, EventColumns, Ints, Words
from strata.model.search import GroupedSearch, pick
from strata.schema.rows import Coded

NAMING = (
    "dds:writer_history_add",
    "dds:send_begin",
    "dds:send_sample",
    "dds:receive",
    "dds:receive_sample",
    "dds:reader_history_add",
    "dds:reader_notify",
    "dds:take_end",
)
"""The events that name a sample."""
_ADD, _NOTIFY = "dds:reader_history_add", "dds:reader_notify"
_AT_ADD, _AT_NOTIFY = NAMING.index(_ADD), NAMING.index(_NOTIFY)
Flags = npt.NDArray[np.bool_]


class Samples:
    """Every sample of a trace; the index is its dense number."""

    def __init__(self, events: EventColumns) -> None:
        counts = [events.count(name) for name in NAMING]
        bounds = np.cumsum([0, *counts])
        guids = _joined([events.words(name, "writer_guid") for name in NAMING])
        sequence = np.concatenate([events.ints(name, "sequence_number") for name in NAMING])
        known = guids.any(axis=1)
        writer, self._guids = number_words(guids)
        dense, keys, distinct = _numbered(writer, sequence, known & (sequence != 0))
        self.sequence: Ints = distinct[keys % max(len(distinct), 1)]
        self._writer = keys // max(len(distinct), 1)
        bare = np.flatnonzero(known & (sequence == 0))
        if len(bare):
            stamp = _stamps(events, writer, sequence, bounds)
            dense, owner = _by_stamp(dense, writer, stamp, bare, _told(events, bounds))
            self.sequence = np.append(self.sequence, np.full(len(owner), NONE, np.int64))
            self._writer = np.append(self._writer, owner)
        self._of = {
            name: dense[begin:end]
            for name, begin, end in zip(NAMING, bounds[:-1], bounds[1:], strict=True)
        }

    def __len__(self) -> int:
        return len(self.sequence)

    def of(self, event: str) -> Ints:
        """Return the sample of each event of a name; `NONE` where it names none."""
        return self._of[event]

    def writer(self, sample: Ints) -> Ints:
        """Return a dense number of each sample's writer; `NONE` for `NONE`."""
        return pick(self._writer, sample)

    def writer_gids(self, sample: Ints) -> Coded:
        """Return the writers' GUIDs as 32 hexadecimal digits; null for `NONE`."""
        return Coded(self.writer(sample), tuple(guid.tobytes().hex() for guid in self._guids))

    def sequences(self, sample: Ints) -> Ints:
        """Return sequence numbers; `NONE` for `NONE`, and where none is known."""
        return pick(self.sequence, sample)


def _numbered(writer: Ints, sequence: Ints, known: Flags) -> tuple[Ints, Ints, Ints]:
    """Number the samples that have a sequence number.

    Returns the sample of each event (or `NONE`), and of each sample writer * n + i, where i is the
    place of its number among the n distinct ones.
    """
    numbers, distinct = pd.factorize(sequence)
    key = writer * max(len(distinct), 1) + numbers
    dense, first = np.full(len(key), NONE, np.int64), np.flatnonzero(known)
    dense[first], keys = pd.factorize(key[first])
    return dense, np.asarray(keys, np.int64), np.asarray(distinct, np.int64)


def _stamps(events: EventColumns, writer: Ints, sequence: Ints, bounds: Ints) -> Ints:
    """The source timestamp of each naming event; `NONE` where it is not known."""
    parts = [
        np.full(events.count(name), NONE, np.int64)
        if name == _NOTIFY
        else events.ints(name, "source_timestamp")
        for name in NAMING
    ]
    stamp = np.concatenate(parts)
    notify = np.arange(bounds[_AT_NOTIFY], bounds[_AT_NOTIFY + 1])
    adds = slice(bounds[_AT_ADD], bounds[_AT_ADD + 1])
    search = GroupedSearch(events.thread(_ADD), events.timestamps(_ADD))
    row = search.last_row(events.thread(_NOTIFY), events.timestamps(_NOTIFY), after_equal=True)
    own = (sequence[notify] == 0) & (pick(sequence[adds], row) == 0)
    own &= (row != NONE) & (pick(writer[adds], row) == writer[notify])
    stamp[notify] = np.where(own, pick(stamp[adds], row), NONE)
    return np.where(stamp > 0, stamp, NONE)


def _told(events: EventColumns, bounds: Ints) -> tuple[slice, Ints]:
    """Where the notifications are among the naming events, and the reader that each tells."""
    reader, _ = number_words(events.words(_NOTIFY, "reader_guid"))
    process = events.process(_NOTIFY)
    return slice(bounds[_AT_NOTIFY], bounds[_AT_NOTIFY + 1]), process * (len(reader) + 1) + reader


def _by_stamp(
    dense: Ints, writer: Ints, stamp: Ints, bare: Ints, told: tuple[slice, Ints]
) -> tuple[Ints, Ints]:
    """Add the samples that writer and stamp name; return each event's, and their writers.

    `bare` are the events without a number, `told` the readers that notifications tell.
    """
    pair = pd.MultiIndex.from_arrays([writer, stamp]).factorize()[0].astype(np.int64)
    count = int(pair.max(initial=-1)) + 1
    least, most = np.full(count, len(dense), np.int64), np.full(count, NONE, np.int64)
    named = np.flatnonzero((dense != NONE) & (stamp != NONE))
    np.minimum.at(least, pair[named], dense[named])
    np.maximum.at(most, pair[named], dense[named])
    at, reader = told
    notified = pd.DataFrame({"reader": reader, "pair": pair[at], "bare": dense[at] == NONE})
    notified = notified[notified["bare"] & (stamp[at] != NONE)]
    twice = notified["pair"][notified.duplicated(["reader", "pair"])].to_numpy(np.int64)
    one = (most == NONE) | (least == most)
    one[twice] = False
    mine = bare[(stamp[bare] != NONE) & one[pair[bare]]]
    fresh = mine[most[pair[mine]] == NONE]
    first = int(dense.max(initial=NONE)) + 1
    number, pairs = pd.factorize(pair[fresh])
    out = dense.copy()
    out[mine] = most[pair[mine]]
    out[fresh] = first + number
    owner = np.empty(len(pairs), np.int64)
    owner[number] = writer[fresh]
    return out, owner


def number_words(words: Words) -> tuple[Ints, Words]:
    """Number the distinct rows of pairs of words; return each row's number and the rows."""
    one = np.unique(words[:, 0], return_inverse=True)[1]
    low, other = np.unique(words[:, 1], return_inverse=True)
    _, first, number = np.unique(one * len(low) + other, return_index=True, return_inverse=True)
    # Numbered as they come.
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[number], np.ascontiguousarray(words[first[order]], np.uint64)


def _joined(parts: list[Words]) -> Words:
    return np.concatenate(parts)
