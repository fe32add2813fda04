# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What happened to each take within the middleware, on the taking thread.

    take_begin -> deserialize_begin -> deserialize_end -> take_end -> rmw_take

A DDS take belongs to an rmw_take when it is the last one that ended before it and after the
rmw_take before, on the same thread, it took something, and that is the same: by source timestamp,
or where it tells none, by the address of the message. The take of a loaned message is its DDS take.
Its sample is the one that it names; where it
names none, the one that this process received with the same source timestamp.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.lazy import pandas as pd
from strata.model.columns import NONE, EventColumns, Ints, Words, filled
from strata.model.dds.samples import Samples, number_words
from strata.model.dds.writes import Flags, received_samples, same_message
from strata.model.search import GroupedSearch, Lifetimes, pick
from strata.model.timeline import EVENT_OF, Kind, Timeline
from strata.model.traffic import Takes


@dataclass(frozen=True)
class Reads:
    """One row a take; `NONE` is null.

    `reader` is the GUID of its reader, two words, zeros where it is not known; `made_ns` when that
    was made known.
    """

    begin_ns: Ints
    deserialize_begin_ns: Ints
    deserialize_end_ns: Ints
    sample: Ints
    reader: Words
    made_ns: Ints


def find_reads(events: EventColumns, timeline: Timeline, takes: Takes, samples: Samples) -> Reads:
    """Return the DDS take of every take."""
    at = takes.position
    previous = timeline.before(at, Kind.RMW_TAKE)
    end = np.where(takes.loaned, at, timeline.before(at, Kind.TAKE_END))
    row = timeline.row_at(end)
    told = np.where(takes.loaned, NONE, at)
    name = EVENT_OF[Kind.TAKE_END]
    own = (end != NONE) & (end > previous) & (pick(events.ints(name, "taken"), row) > 0)
    own &= same_message(
        pick(events.ints(name, "source_timestamp"), row),
        takes.source_timestamp,
        pick(events.ints(name, "buffer"), row),
        pick(events.ints(EVENT_OF[Kind.RMW_TAKE], "message"), timeline.row_at(told)),
    )
    end = np.where(own, end, NONE)
    row = np.where(own, row, NONE)
    named = pick(samples.of(name), row)
    begin = np.full(len(at), NONE, np.int64)
    begin[own] = timeline.before(end[own], Kind.TAKE_BEGIN)
    begin = np.where(begin > previous, begin, NONE)
    deserialize_begin = timeline.within(begin, end, Kind.DESERIALIZE_BEGIN)
    deserialize_end = timeline.within(deserialize_begin, end, Kind.DESERIALIZE_END)
    paired = deserialize_end != NONE
    process = events.processes.thread_process[takes.thread]
    by_stamp = received_samples(events, samples, process, takes.source_timestamp)
    reader, made_ns = _readers(events, process, row, timeline.ns_at(end))
    return Reads(
        timeline.ns_at(begin),
        np.where(paired, timeline.ns_at(deserialize_begin), NONE),
        np.where(paired, timeline.ns_at(deserialize_end), NONE),
        np.where(named != NONE, named, by_stamp),
        reader,
        made_ns,
    )


def _readers(events: EventColumns, process: Ints, row: Ints, at_ns: Ints) -> tuple[Words, Ints]:
    """GUIDs of the readers that takes name by handle, and when each was made known."""
    made = "dds:create_reader"
    out, made_ns = np.zeros((len(row), 2), np.uint64), np.full(len(row), NONE, np.int64)
    if not events.count(made):
        return out, made_ns
    lives = Lifetimes(events.process(made), events.ints(made, "reader"), events.timestamps(made))
    known = np.flatnonzero(row != NONE)
    handle = events.ints(EVENT_OF[Kind.TAKE_END], "reader")[row[known]]
    found = lives.find(process[known], handle, at_ns[known])
    guid = events.words(made, "gid_prefix", "gid_entity")
    out[known[found != NONE]] = guid[found[found != NONE]]
    made_ns[known] = pick(events.timestamps(made), found)
    return out, made_ns


@dataclass(frozen=True)
class Notified:
    """When each take's reader was told of its sample, and on which thread; `NONE` is null.

    `added_ns`: when that thread had put the sample into a reader's history last. `unnumbered`: it
    had no sequence number there, so it came through no socket. `inferred` counts
    takes whose reader is not known, of samples that several readers of the process were told of.
    """

    ns: Ints
    thread: Ints
    added_ns: Ints
    unnumbered: Flags
    inferred: int


def find_notified(events: EventColumns, samples: Samples, takes: Takes, reads: Reads) -> Notified:
    """Return the notification of each take.

    Where one side does not know the reader, the first notification of the sample in the process is
    taken.
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
            "row": np.arange(count),
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
    place = ["process", "sample"]
    exact = _first(notified, asked, [*place, "reader"])
    loose = np.where(
        asked["reader"] == NONE,
        _first(notified, asked, place),
        _first(notified[notified["reader"] == NONE], asked, place),
    )
    several = notified[notified.duplicated(place)][place].drop_duplicates()
    unsure = asked[(exact == NONE) & (loose != NONE)].merge(several, on=place)
    row = np.where(exact != NONE, exact, loose)
    ns, thread = pick(events.timestamps(name), row), pick(events.thread(name), row)
    added_ns = _added(events, samples, thread, reads.sample, ns)
    bare = pick(events.ints(name, "sequence_number"), row) == 0
    return Notified(ns, thread, added_ns, np.asarray(bare, bool), len(unsure))


def _first(notified: pd.DataFrame, asked: pd.DataFrame, key: list[str]) -> Ints:
    """The row of the earliest notification with each key, or `NONE`."""
    first = notified.sort_values("ns", kind="stable").drop_duplicates(key)
    return filled(asked[key].merge(first[[*key, "row"]], on=key, how="left")["row"])


def _added(events: EventColumns, samples: Samples, thread: Ints, sample: Ints, at_ns: Ints) -> Ints:
    """When a thread put a sample into a reader's history last, up to an instant; or `NONE`."""
    name = "dds:reader_history_add"
    ns, width = events.timestamps(name), len(samples) + 1
    search = GroupedSearch(events.thread(name) * width + samples.of(name), ns)
    group = thread * width + sample
    at = search.position(group, at_ns, after_equal=True) - 1
    found = (thread != NONE) & (sample != NONE) & (at >= search.begin(group))
    return pick(ns, np.where(found, pick(search.order, at), NONE))
