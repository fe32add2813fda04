# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How the sample of each matched message came to its reader, as far as it was seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.schema import transports
from strata.schema.rows import Coded

DATA_SHARING = 65536
INTRA_PROCESS_NUMBER = -2
ICEORYX_NUMBER = -3
_TRANSPORTS = {
    1: transports.UDP_V4,
    2: transports.UDP_V6,
    4: transports.TCP_V4,
    8: transports.TCP_V6,
    16: transports.SHM,
    DATA_SHARING: transports.DATA_SHARING,
    INTRA_PROCESS_NUMBER: transports.INTRA_PROCESS,
    ICEORYX_NUMBER: transports.ICEORYX,
}


@dataclass(frozen=True)
class Way:
    """One row a matched message; `NONE` is null.

    `since_ns` is from when on its reader could be sent it, for a message that waited for that in
    the writer's history; then sends before do not count. `sent_ns` is later than the first send by
    `held_ns`, for which the sender was held up in its send calls until the arrival
    (native/model/dds/transmission.hpp). `recovered` counts fragments.
    """

    since_ns: Ints
    sent_ns: Ints
    held_ns: Ints
    received_ns: Ints
    last_ns: Ints
    fragments: Ints
    recovered: Ints
    transport: Coded


def find_way(model: Model) -> Way:
    """Return the way of every matched message."""
    if not model.facts.is_hooked:
        return nothing_of(len(model.matches.take))
    ways = model.facts.ways()
    columns = {name: column for name, column in ways.items() if name != "transport"}
    return Way(**columns, transport=_words_of(ways["transport"]))


def _words_of(transport: Ints) -> Coded:
    """Return the names of transports by their numbers; null for others."""
    numbers = np.asarray(sorted(_TRANSPORTS), np.int64)
    at = np.minimum(np.searchsorted(numbers, transport), len(numbers) - 1)
    words = tuple(_TRANSPORTS[number] for number in numbers.tolist())
    return Coded(np.where(numbers[at] == transport, at, NONE), words)


def nothing_of(messages: int) -> Way:
    """Return the ways of messages in a trace without the hooks: nothing is known of them."""
    none = np.full(messages, NONE, np.int64)
    return Way(none, none, none, none, none, none, np.zeros(messages, np.int64), Coded(none, ()))
