# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sources of sensor data: UDP sockets and appsinks, by process and number.

A source's number is never used again in its process, so (process, number) is its key. One whose
source_init was not recorded is known by its other events.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.model.columns import NONE, EventColumns, Ints

Objects = npt.NDArray[np.object_]

INIT = "driver:source_init"
PACKET = "driver:packet_received"
BOUNDARY = "driver:frame_boundary"
PULLED = "driver:buffer_pulled"
CLOUD = "driver:cloud_ready"
COPIED = "driver:copy_done"
EVENTS = (INIT, PACKET, BOUNDARY, PULLED, CLOUD, COPIED)
UDP, APPSINK = "udp", "appsink"


@dataclass(frozen=True)
class Sources:
    """All sources by process and number; `begin_ns` is source_init, or `NONE`.

    `kind`, `name` and `address` are None without source_init; `place` says in words where data
    come from. `of` holds the source of each event of a name.
    """

    process: Ints
    number: Ints
    begin_ns: Ints
    kind: Objects
    name: Objects
    address: Objects
    place: Objects
    of: dict[str, Ints]

    def __len__(self) -> int:
        return len(self.number)


def find_sources(events: EventColumns) -> Sources:
    """Return the sources that any event names."""
    processes = np.concatenate([events.process(name) for name in EVENTS])
    numbers = np.concatenate([events.ints(name, "source") for name in EVENTS])
    code, process, number = number_pairs(processes, numbers)
    sizes = np.cumsum([events.count(name) for name in EVENTS])[:-1]
    of = dict(zip(EVENTS, np.split(code, sizes), strict=True))
    # The first that tells of it; others are the same number again, which does not happen.
    row = np.full(len(number), NONE, np.int64)
    row[of[INIT][::-1]] = np.arange(len(of[INIT]))[::-1]
    known = row != NONE
    begin_ns = np.full(len(number), NONE, np.int64)
    begin_ns[known] = events.timestamps(INIT)[row[known]]
    columns = {}
    for name in ("kind", "name", "address"):
        columns[name] = np.full(len(number), None, object)
        columns[name][known] = events.text(INIT, name)[row[known]]
    pulled = np.isin(np.arange(len(number)), of[PULLED])
    places = [
        _place(kind or (APPSINK if is_pulled else UDP), address, name)
        for kind, address, name, is_pulled in zip(
            columns["kind"], columns["address"], columns["name"], pulled, strict=True
        )
    ]
    return Sources(
        process,
        number,
        begin_ns,
        columns["kind"],
        columns["name"],
        columns["address"],
        np.asarray(places, dtype=object),
        of,
    )


def number_pairs(dense: Ints, other: Ints) -> tuple[Ints, Ints, Ints]:
    """Number the distinct pairs of a dense number and any other; return numbers and pairs.

    They are in order of the first, then of the second.
    """
    rank, values = pd.factorize(other, sort=True)
    width = max(len(values), 1)
    codes, pairs = pd.factorize(dense * width + rank, sort=True)
    values = np.asarray(values, np.int64)
    none = np.empty(0, np.int64)
    return (
        codes.astype(np.int64, copy=False),
        np.asarray(pairs // width, np.int64),
        values[pairs % width] if len(values) else none,
    )


def _place(kind: str, address: str | None, name: str | None) -> str:
    """Say where data come from: "UDP port 7502", "appsink NAME"."""
    if kind != UDP:
        return f"{kind} {address or name or '(unnamed)'}"
    _, colon, port = (address or "").rpartition(":")
    if colon and port.isdigit():
        return f"UDP port {port}"
    return f"UDP {address or name or '(unknown socket)'}"
