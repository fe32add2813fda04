# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples by their identity: the writer's GUID and its sequence number, the same in every process.

Every event that names a sample gives the same dense number to the same sample. An event whose GUID
or number is not known (zeros) names none.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.model.columns import NONE, EventColumns, Ints, Words

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


class Samples:
    """Every sample of a trace; the index is its dense number."""

    def __init__(self, events: EventColumns) -> None:
        counts = [events.count(name) for name in NAMING]
        guids = _joined([events.words(name, "writer_guid") for name in NAMING])
        sequence = np.concatenate([events.ints(name, "sequence_number") for name in NAMING])
        known = guids.any(axis=1) & (sequence != 0)
        writer, self._guids = number_words(guids)
        numbers, distinct = pd.factorize(sequence)
        key = writer * max(len(distinct), 1) + numbers
        dense, first = np.full(len(key), NONE, np.int64), np.flatnonzero(known)
        dense[first], keys = pd.factorize(key[first])
        keys = np.asarray(keys, np.int64)
        self.sequence: Ints = np.asarray(distinct, np.int64)[keys % max(len(distinct), 1)]
        self._writer = keys // max(len(distinct), 1)
        bounds = np.cumsum([0, *counts])
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
        if not len(self):
            return np.full(len(sample), NONE, np.int64)
        return np.where(sample != NONE, self._writer[np.maximum(sample, 0)], NONE)

    def writer_gids(self, sample: Ints) -> npt.NDArray[np.object_]:
        """Return the writers' GUIDs as 32 hexadecimal digits; None for `NONE`."""
        texts = np.asarray([guid.tobytes().hex() for guid in self._guids], dtype=object)
        out = np.full(len(sample), None, dtype=object)
        known = sample != NONE
        out[known] = texts[self._writer[sample[known]]]
        return out

    def sequences(self, sample: Ints) -> Ints:
        """Return sequence numbers; `NONE` for `NONE`."""
        if not len(self):
            return np.full(len(sample), NONE, np.int64)
        return np.where(sample != NONE, self.sequence[np.maximum(sample, 0)], NONE)


def number_words(words: Words) -> tuple[Ints, Words]:
    """Number the distinct rows of pairs of words; return each row's number and the rows."""
    high, highs = pd.factorize(words[:, 0])
    low, lows = pd.factorize(words[:, 1])
    numbers, pairs = pd.factorize(high.astype(np.int64) * max(len(lows), 1) + low)
    pairs = np.asarray(pairs, np.int64)
    width = max(len(lows), 1)
    distinct = np.stack(
        [np.asarray(highs)[pairs // width], np.asarray(lows)[pairs % width]], axis=1
    )
    return numbers.astype(np.int64), distinct.astype(np.uint64)


def _joined(parts: list[Words]) -> Words:
    return np.concatenate(parts)
