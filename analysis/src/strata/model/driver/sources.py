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

from strata.model.columns import EventColumns, Ints
from strata.model.entities import take
from strata.model.joins import codes_of
from strata.model.search import first_rows, pick

Objects = npt.NDArray[np.object_]
Flags = npt.NDArray[np.bool_]

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
    row = first_rows(of[INIT], len(number))
    begin_ns = pick(events.timestamps(INIT), row)
    kinds, names, addresses = (
        take(events.text(INIT, column), row, None) for column in ("kind", "name", "address")
    )
    pulled = np.isin(np.arange(len(number)), of[PULLED])
    place = places(kinds, names, addresses, pulled)
    return Sources(process, number, begin_ns, kinds, names, addresses, place, of)


def places(kind: Objects, name: Objects, address: Objects, pulled: Flags) -> Objects:
    """Say in words where data of each source come from; `pulled`: buffers were pulled from it."""
    words = [
        _place(one or (APPSINK if is_pulled else UDP), at, called)
        for one, at, called, is_pulled in zip(kind, address, name, pulled, strict=True)
    ]
    return np.asarray(words, dtype=object)


def number_pairs(first: Ints, second: Ints) -> tuple[Ints, Ints, Ints]:
    """Number the distinct pairs of two numbers; return the number of each, and the pairs.

    They are in order of the first, then of the second.
    """
    (codes,) = codes_of([first, second])
    row = first_rows(codes, int(codes.max(initial=-1)) + 1)
    return codes, first[row], second[row]


def _place(kind: str, address: str | None, name: str | None) -> str:
    """Say where data come from: "UDP port 7502", "appsink NAME"."""
    if kind != UDP:
        return f"{kind} {address or name or '(unnamed)'}"
    _, colon, port = (address or "").rpartition(":")
    if colon and port.isdigit():
        return f"UDP port {port}"
    return f"UDP {address or name or '(unknown socket)'}"
