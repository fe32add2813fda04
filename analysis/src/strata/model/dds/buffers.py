# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Buffers that were sent and received: one row a sample, or run of fragments, in each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.lazy import pandas as pd
from strata.model.columns import NONE, EventColumns
from strata.model.dds.samples import Samples, number_words
from strata.model.timeline import EVENT_OF, Kind, Timeline

_FURTHER = {"dds:send_begin": "dds:send_sample", "dds:receive": "dds:receive_sample"}
# Further samples of a buffer are told right after the first: later ones lost their buffer's event.
_FURTHER_WITHIN_NS = 1_000_000
_SHM = 16


@dataclass(frozen=True)
class Buffers:
    """Rows with ns, thread, sample, fragment (the first), count (of fragments), transport, port.

    `sent` has bytes, end_ns, destination (a number), destinations (how many) and result too; `NONE`
    where the end was not recorded: then the destination is one of its own. A port that is not known
    is 0 or `NONE`.
    """

    sent: pd.DataFrame
    received: pd.DataFrame


def find_buffers(events: EventColumns, timeline: Timeline, samples: Samples) -> Buffers:
    """Return what was handed to transports and what came from them."""
    sent = _rows(events, samples, "dds:send_begin")
    sent["bytes"] = events.ints("dds:send_begin", "bytes")
    sent = pd.concat([sent, _send_ends(events, timeline)], axis=1)
    received = _rows(events, samples, "dds:receive")
    received["port"] = events.ints("dds:receive", "port")
    return Buffers(
        _with_further(events, samples, "dds:send_begin", sent),
        _with_further(events, samples, "dds:receive", received),
    )


def _send_ends(events: EventColumns, timeline: Timeline) -> pd.DataFrame:
    """For each send_begin: how its send ended."""
    begin = timeline.positions(Kind.SEND_BEGIN)
    end = timeline.within(begin, timeline.after(begin, Kind.SEND_BEGIN), Kind.SEND_END)
    row, known = timeline.row_at(begin), end != NONE
    end_row = timeline.row_at(end)[known]
    name = EVENT_OF[Kind.SEND_END]
    address, _ = number_words(events.words(name, "address"))
    port = events.ints(name, "port")
    # What SHM tells is the last of several readers: all its sends go to one place.
    place = np.where(events.ints(name, "transport") == _SHM, 0, port)
    ends = {
        "end_ns": events.timestamps(name),
        "destination": address * (1 << 32) + place,
        "port": port,
        "destinations": events.ints(name, "destinations"),
        "result": events.ints(name, "result"),
    }
    out = {}
    for column, values in ends.items():
        told = np.full(events.count("dds:send_begin"), NONE, np.int64)
        if column == "destination":
            told = -2 - np.arange(len(told), dtype=np.int64)
        told[row[known]] = values[end_row]
        out[column] = told
    return pd.DataFrame(out)


def _with_further(
    events: EventColumns, samples: Samples, name: str, first: pd.DataFrame
) -> pd.DataFrame:
    """Add the samples after the first of each buffer, with its time and all that it tells."""
    first["transport"] = events.ints(name, "transport")
    further = _rows(events, samples, _FURTHER[name])
    if len(further):
        further = further.sort_values("ns", kind="stable")
        buffers = first[["ns", "thread"]].assign(row=np.arange(len(first)))
        last = pd.merge_asof(
            further[["ns", "thread"]],
            buffers.sort_values("ns", kind="stable"),
            on="ns",
            by="thread",
            tolerance=_FURTHER_WITHIN_NS,
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
            "thread": events.thread(name),
            "sample": samples.of(name),
            "fragment": events.ints(name, "fragment"),
            "count": events.ints(name, "fragment_count"),
        }
    )
