# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What happened to each take within the middleware, on the taking thread.

    take_begin -> deserialize_begin -> deserialize_end -> take_end -> rmw_take

A DDS take belongs to an rmw_take when it is the last one that ended before it and after the
rmw_take before, on the same thread, and it took something. Its sample is the one that it names;
where it names none, the one that this process received with the same source timestamp.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from strata.model.columns import NONE, EventColumns, Ints, Words, filled
from strata.model.dds.samples import Samples, number_words
from strata.model.dds.writes import received_samples
from strata.model.search import Lifetimes
from strata.model.timeline import EVENT_OF, Kind, Timeline
from strata.model.traffic import Takes


@dataclass(frozen=True)
class Reads:
    """One row a take; `NONE` is null. `reader` is two words, zeros where it is not known."""

    begin_ns: Ints
    deserialize_begin_ns: Ints
    deserialize_end_ns: Ints
    sample: Ints
    reader: Words


def find_reads(events: EventColumns, timeline: Timeline, takes: Takes, samples: Samples) -> Reads:
    """Return the DDS take of every take."""
    at = takes.position
    previous = timeline.before(at, Kind.RMW_TAKE)
    end = timeline.before(at, Kind.TAKE_END)
    row = timeline.row_at(end)
    taken = events.ints(EVENT_OF[Kind.TAKE_END], "taken")
    named = np.full(len(at), NONE, np.int64)
    own = (end != NONE) & (end > previous)
    own[own] = taken[row[own]] > 0
    end = np.where(own, end, NONE)
    named[own] = samples.of(EVENT_OF[Kind.TAKE_END])[row[own]]
    begin = np.full(len(at), NONE, np.int64)
    begin[own] = timeline.before(end[own], Kind.TAKE_BEGIN)
    begin = np.where(begin > previous, begin, NONE)
    deserialize_begin = timeline.within(begin, end, Kind.DESERIALIZE_BEGIN)
    deserialize_end = timeline.within(deserialize_begin, end, Kind.DESERIALIZE_END)
    paired = deserialize_end != NONE
    process = events.processes.thread_process[takes.thread]
    by_stamp = received_samples(events, samples, process, takes.source_timestamp)
    return Reads(
        timeline.ns_at(begin),
        np.where(paired, timeline.ns_at(deserialize_begin), NONE),
        np.where(paired, timeline.ns_at(deserialize_end), NONE),
        np.where(named != NONE, named, by_stamp),
        _readers(events, process, np.where(own, row, NONE), timeline.ns_at(end)),
    )


def _readers(events: EventColumns, process: Ints, row: Ints, at_ns: Ints) -> Words:
    """GUIDs of the readers that takes name by handle; zeros where none was made known."""
    made = "dds:create_reader"
    out = np.zeros((len(row), 2), np.uint64)
    if not events.count(made):
        return out
    lives = Lifetimes(events.process(made), events.ints(made, "reader"), events.timestamps(made))
    known = np.flatnonzero(row != NONE)
    handle = events.ints(EVENT_OF[Kind.TAKE_END], "reader")[row[known]]
    found = lives.find(process[known], handle, at_ns[known])
    guid = events.words(made, "gid_prefix", "gid_entity")
    out[known[found != NONE]] = guid[found[found != NONE]]
    return out


def find_notified(events: EventColumns, samples: Samples, takes: Takes, reads: Reads) -> Ints:
    """Return when each take's reader was told of its sample; `NONE` where that is not known.

    Where one side does not know the reader, the first notification of the sample in the process is
    taken: all readers of a process are told by one thread, one after the other.
    """
    name = "dds:reader_notify"
    told, count = events.words(name, "reader_guid"), events.count(name)
    reader, _ = number_words(np.concatenate([told, reads.reader]))
    known = np.asarray(np.concatenate([told, reads.reader]).any(axis=1))
    notified = pd.DataFrame(
        {
            "process": events.process(name),
            "sample": samples.of(name),
            "reader": np.where(known[:count], reader[:count], NONE),
            "ns": events.timestamps(name),
        }
    )
    notified = notified[notified["sample"] != NONE]
    asked = pd.DataFrame(
        {
            "process": events.processes.thread_process[takes.thread],
            "sample": reads.sample,
            "reader": np.where(known[count:], reader[count:], NONE),
        }
    )
    exact = _earliest(notified, asked, ["process", "sample", "reader"])
    unknown = notified[notified["reader"] == NONE]
    loose = np.where(
        asked["reader"] == NONE,
        _earliest(notified, asked, ["process", "sample"]),
        _earliest(unknown, asked, ["process", "sample"]),
    )
    return np.where(exact != NONE, exact, loose)


def _earliest(notified: pd.DataFrame, asked: pd.DataFrame, key: list[str]) -> Ints:
    first = notified.groupby(key, as_index=False)["ns"].min()
    first["ns"] = first["ns"].astype("Int64")
    return filled(asked[key].merge(first, on=key, how="left")["ns"])
