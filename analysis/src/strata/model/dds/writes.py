# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What happened to each publication within its write, on the publishing thread.

    rmw_publish -> write_begin -> serialize_begin -> serialize_end -> writer_history_add
                -> write_end

A write belongs to a publication when it is the first one after its rmw_publish and before the next
one of the thread, and what it wrote is the publication's: its source timestamp, or where the write
tells none, the address of the message. What lies between write_begin and write_end on that thread
is of this write. The sample is the one that was added to the history; where that is not known, the
one that was sent with the publication's source timestamp by this process.

A loaned message is in the writer's history as it is: nothing is serialized. So a write is *lent*
when nothing was serialized between its begin and its writer_history_add, no events were lost
meanwhile, and the hook of serializations binds in its process: others were seen there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.lazy import pandas as pd
from strata.model.columns import NONE, EventColumns, Ints, filled
from strata.model.dds.samples import Samples
from strata.model.search import pick
from strata.model.timeline import EVENT_OF, Kind, Timeline
from strata.model.traffic import Publications
from strata.model.windows import NO_LOSSES, Windows, touched

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Writes:
    """One row a publication; `NONE` is null.

    `sample` is a row of the samples; `size` the bytes that were made of the value, or of a loan
    those in the writer's history; `end_ns` when the write returned. `lent`: nothing was serialized.
    """

    serialize_begin_ns: Ints
    serialize_end_ns: Ints
    size: Ints
    sample: Ints
    end_ns: Ints
    lent: Flags


def find_writes(
    events: EventColumns,
    timeline: Timeline,
    publications: Publications,
    samples: Samples,
    losses: Windows = NO_LOSSES,
) -> Writes:
    """Return the write of every publication."""
    at = publications.position
    after = timeline.after(at, Kind.RMW_PUBLISH)
    begin = timeline.within(at, after, Kind.WRITE_BEGIN)
    end = timeline.within(begin, after, Kind.WRITE_END)
    # A write that threw, or whose end was lost, is bounded by the next publication.
    until = np.where(end != NONE, end, after)
    added_at = timeline.within(begin, until, Kind.WRITER_HISTORY_ADD)
    added = timeline.row_at(added_at)
    own = same_message(
        pick(events.ints(EVENT_OF[Kind.WRITER_HISTORY_ADD], "source_timestamp"), added),
        publications.source_timestamp,
        pick(events.ints(EVENT_OF[Kind.WRITE_BEGIN], "data"), timeline.row_at(begin)),
        pick(events.ints(EVENT_OF[Kind.RMW_PUBLISH], "message"), timeline.row_at(at)),
    )
    begin = np.where(own, begin, NONE)
    serialize_begin = timeline.within(begin, until, Kind.SERIALIZE_BEGIN)
    serialize_end = timeline.within(serialize_begin, until, Kind.SERIALIZE_END)
    paired = serialize_end != NONE
    size = pick(events.ints(EVENT_OF[Kind.SERIALIZE_END], "size"), timeline.row_at(serialize_end))
    kept = pick(events.ints(EVENT_OF[Kind.WRITER_HISTORY_ADD], "size"), added)
    size = np.where(size > 0, size, np.where(own, kept, NONE))
    named = pick(samples.of(EVENT_OF[Kind.WRITER_HISTORY_ADD]), added)
    process = events.processes.thread_process[publications.thread]
    by_stamp = sent_samples(events, samples, process, publications.source_timestamp)
    hooked = np.isin(process, events.process(EVENT_OF[Kind.SERIALIZE_BEGIN]))
    lent = own & (added != NONE) & hooked & (serialize_begin == NONE)
    lent &= ~touched(losses, timeline.ns[at], timeline.ns_at(added_at))
    return Writes(
        np.where(paired, timeline.ns_at(serialize_begin), NONE),
        np.where(paired, timeline.ns_at(serialize_end), NONE),
        np.where(size > 0, size, NONE),
        np.where(own & (named != NONE), named, by_stamp),
        np.where(own, timeline.ns_at(end), NONE),
        np.asarray(lent, bool),
    )


def same_message(stamp: Ints, own_stamp: Ints, address: Ints, own_address: Ints) -> Flags:
    """Tell whether two events are of one message: by source timestamps, else by addresses.

    What one side does not tell (0 or `NONE`) does not speak against it. Serialized and loaned
    messages have other addresses within the middleware.
    """
    stamped = (stamp > 0) & (own_stamp > 0)
    addressed = ~np.isin(address, (0, NONE)) & ~np.isin(own_address, (0, NONE))
    same = ~addressed | (address == own_address)
    return np.asarray(np.where(stamped, stamp == own_stamp, same))


def sent_samples(events: EventColumns, samples: Samples, process: Ints, stamp: Ints) -> Ints:
    """Return the sample that each process sent with a source timestamp; `NONE` if not just one."""
    return _by_stamp(events, samples, ("dds:send_begin", "dds:send_sample"), process, stamp)


def received_samples(events: EventColumns, samples: Samples, process: Ints, stamp: Ints) -> Ints:
    """Return the sample that each process received with a source timestamp; or `NONE`."""
    names = ("dds:receive", "dds:receive_sample", "dds:reader_history_add")
    return _by_stamp(events, samples, names, process, stamp)


def _by_stamp(
    events: EventColumns, samples: Samples, names: tuple[str, ...], process: Ints, stamp: Ints
) -> Ints:
    told = pd.DataFrame(
        {
            "process": np.concatenate([events.process(name) for name in names]),
            "stamp": np.concatenate([events.ints(name, "source_timestamp") for name in names]),
            "sample": np.concatenate([samples.of(name) for name in names]),
        }
    )
    told = told[(told["stamp"] > 0) & (told["sample"] != NONE)].drop_duplicates()
    single = told[~told.duplicated(["process", "stamp"], keep=False)]
    asked = pd.DataFrame({"process": process, "stamp": stamp})
    found = asked.merge(single, on=["process", "stamp"], how="left")["sample"]
    return filled(found)
