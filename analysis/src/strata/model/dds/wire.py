# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples on their way: what was sent, what arrived where, what had to be sent again.

A large sample travels in fragments; a whole one counts as a single fragment of number 0. The first
time that a fragment goes to a destination is its *first transmission*; each further time is a
*resend* (RTPS: a repair). A fragment that a process got only after a resend of it was *recovered*,
unless all its copies arrived: then none was lost, and the first to come was the first transmission.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from strata.model.columns import NONE, EventColumns
from strata.model.dds.samples import Samples, number_words
from strata.model.timeline import EVENT_OF, Kind, Timeline

DATA_SHARING = 65536
SHM = 16
_IN_BUFFER = {"dds:send_begin": "dds:send_sample", "dds:receive": "dds:receive_sample"}


@dataclass(frozen=True)
class Wire:
    """Sends by sample (the index), and arrivals by (process, sample).

    `sends`: first_send_ns, first_sent_ns (end of the last first transmission; -1 if no end was
    recorded), transport, fragments, resends. `arrivals`: received_ns (last fragment that came by a
    first transmission; null when none did), last_ns (last fragment of all), recovered (fragments).
    `added`: added_ns, the first reader_history_add. All columns are nullable: looked up by an index
    with gaps, int64 would go through floats, which have no nanoseconds since the epoch.
    """

    sends: pd.DataFrame
    arrivals: pd.DataFrame
    added: pd.DataFrame


def find_wire(events: EventColumns, timeline: Timeline, samples: Samples) -> Wire:
    """Return what was sent and what arrived."""
    sent = _fragments(_buffers(events, samples, "dds:send_begin", _send_ends(events, timeline)))
    came = _fragments(_buffers(events, samples, "dds:receive", None))
    key = ["sample", "fragment", "destination"]
    sent = sent.sort_values("ns", kind="stable")
    again = sent.duplicated(key)
    sends = _sends(sent, again)
    return Wire(sends, _arrivals(came, _resent(sent, again)), _added(events, samples))


def _resent(sent: pd.DataFrame, again: pd.Series[bool]) -> pd.DataFrame:
    """Fragments that were sent again: when first, and how often they went to one destination."""
    copies = sent.groupby(["sample", "fragment", "destination"]).size()
    fragment = ["sample", "fragment"]
    resent = sent[again].groupby(fragment)["ns"].min().astype("Int64").to_frame("resent_ns")
    resent["sent"] = copies.groupby(fragment).max()
    return resent.reset_index()


def _sends(sent: pd.DataFrame, again: pd.Series[bool]) -> pd.DataFrame:
    first = sent[~again].groupby("sample")
    out = pd.DataFrame(
        {
            "first_send_ns": first["ns"].min(),
            "first_sent_ns": first["end_ns"].max(),
            "transport": first["transport"].first(),
            "fragments": sent.groupby("sample")["fragment"].nunique(),
        }
    )
    out["resends"] = sent[again].groupby("sample").size().reindex(out.index, fill_value=0)
    return out.astype("Int64")


def _arrivals(came: pd.DataFrame, resent: pd.DataFrame) -> pd.DataFrame:
    copies = came.groupby(["process", "sample", "fragment"])["ns"]
    first = copies.agg(["min", "size"]).reset_index().rename(columns={"min": "ns"})
    first = first.merge(resent, on=["sample", "fragment"], how="left")
    late = (first["ns"] > first["resent_ns"]).fillna(value=False).astype(bool)
    recovered = late & ~(first["size"] >= first["sent"])
    key = ["process", "sample"]
    every = first.groupby(key)
    out = pd.DataFrame({"last_ns": every["ns"].max()})
    by_first = first[~recovered].groupby(key)["ns"].max()
    out["received_ns"] = by_first.astype("Int64").reindex(out.index)
    out["recovered"] = first[recovered].groupby(key).size().reindex(out.index, fill_value=0)
    return out.astype("Int64")


def _added(events: EventColumns, samples: Samples) -> pd.DataFrame:
    name = "dds:reader_history_add"
    frame = pd.DataFrame(
        {
            "process": events.process(name),
            "sample": samples.of(name),
            "added_ns": events.timestamps(name),
        }
    )
    first = frame[frame["sample"] != NONE].groupby(["process", "sample"])[["added_ns"]].min()
    return first.astype("Int64")


def _send_ends(events: EventColumns, timeline: Timeline) -> pd.DataFrame:
    """For each send_begin: when its send ended, and where to; a number for each destination."""
    count = events.count("dds:send_begin")
    begin = timeline.positions(Kind.SEND_BEGIN)
    end = timeline.within(begin, timeline.after(begin, Kind.SEND_BEGIN), Kind.SEND_END)
    row, end_row = timeline.row_at(begin), timeline.row_at(end)
    name = EVENT_OF[Kind.SEND_END]
    address, _ = number_words(events.words(name, "address"))
    port = events.ints(name, "port")
    # What SHM tells is the last of several readers: all its sends go to one place.
    port = np.where(events.ints(name, "transport") == SHM, 0, port)
    destination = np.full(count, NONE, np.int64)
    end_ns = np.full(count, NONE, np.int64)
    known = end_row != NONE
    destination[row[known]] = (address * (1 << 32) + port)[end_row[known]]
    end_ns[row[known]] = timeline.ns[end[known]]
    return pd.DataFrame({"destination": destination, "end_ns": end_ns})


def _buffers(
    events: EventColumns, samples: Samples, name: str, ends: pd.DataFrame | None
) -> pd.DataFrame:
    """One row a sample in a buffer; those after the first have its time, end and destination."""
    first = _rows(events, samples, name)
    first["transport"] = events.ints(name, "transport")
    if ends is not None:
        first = pd.concat([first, ends], axis=1)
    further = _rows(events, samples, _IN_BUFFER[name])
    if len(further):
        further = further.sort_values("ns", kind="stable")
        buffers = first[["ns", "thread"]].assign(row=np.arange(len(first)))
        last = pd.merge_asof(
            further[["ns", "thread"]],
            buffers.sort_values("ns", kind="stable"),
            on="ns",
            by="thread",
        )["row"]
        # Row numbers, not times, go through floats here.
        known = last.notna().to_numpy()
        rows = last[known].to_numpy(np.int64)
        further = further[known].reset_index(drop=True)
        for column in first.columns.difference(further.columns).union(["ns"]):
            further[column] = first[column].to_numpy(np.int64)[rows]
        first = pd.concat([first, further[first.columns]], ignore_index=True)
    return first[first["sample"] != NONE].reset_index(drop=True)


def _rows(events: EventColumns, samples: Samples, name: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "ns": events.timestamps(name),
            "process": events.process(name),
            "thread": events.thread(name),
            "sample": samples.of(name),
            "fragment": events.ints(name, "fragment"),
            "count": events.ints(name, "fragment_count"),
        }
    )


def _fragments(buffers: pd.DataFrame) -> pd.DataFrame:
    """One row a fragment."""
    count = np.maximum(buffers["count"].to_numpy(np.int64), 1)
    row = np.repeat(np.arange(len(buffers)), count)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    out = buffers.iloc[row].reset_index(drop=True)
    out["fragment"] += offset
    return out
