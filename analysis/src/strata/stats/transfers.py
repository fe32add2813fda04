# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The transfers of messages: how long each took, to which end, and in which layers.

A transfer has two ends. *To its callback's start* is what brought the message there; *to its
callback's end* is what the table `messages` calls its latency. Where the trace does not show one of
them, a transfer ends at its last checkpoint. The layers add up to the whole exactly; all but
`callback` and `suspended` add up to what lies before the callback's start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.fates import FATES
from strata.schema.layer import Layer
from strata.schema.layers import CALLBACK, HOP_LAYERS, SUSPENDED
from strata.schema.rows import NONE, Flags, Ints, Rows
from strata.stats.partition import partition

LAYERS_TO_START = tuple(layer for layer in HOP_LAYERS if layer not in (CALLBACK, SUSPENDED))

_UNSEEN = [fate.cause for fate in FATES if fate.unseen]


class End(Enum):
    """Up to where a transfer is measured; each value is the checkpoint's name."""

    START = "callback_start"
    END = "callback_end"

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that lie before it."""
        return HOP_LAYERS if self is End.END else LAYERS_TO_START


class Transfers:
    """All transfers of an analysis, one row a row of `messages`, in its order.

    Columns are int64, times and durations in ns, null `NONE`. `begin_ns` is the publish, or of a
    driver's message the arrival of its data.
    """

    def __init__(self, messages: Rows) -> None:
        """Take the table `messages`."""
        self._messages = messages
        self.hop_id: Ints = messages["hop_id"]
        self.publication_id: Ints = messages["publication_id"]
        self.begin_ns: Ints = messages["begin_ns"]
        self._latency: dict[End, Ints] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._messages)

    def latency_ns(self, until: End) -> Ints:
        """Return how long each took up to an end, else up to its last checkpoint; never null."""
        if not self._latency:
            whole = self._messages["latency_ns"]
            start_ns = self._messages["callback_start_ns"]
            to_start = np.where(start_ns != NONE, start_ns - self.begin_ns, whole)
            self._latency = {End.START: to_start, End.END: whole}
        return self._latency[until]

    def there(self, until: End) -> Flags:
        """Flag those of which the trace shows that end."""
        return self._messages.there(f"{until.value}_ns")

    def layer_ns(self, layer: Layer) -> Ints:
        """Return how long each was in a layer, `NONE` where it does not have it."""
        values: Ints = self._messages[layer.column]
        return values

    @cached_property
    def notified(self) -> Flags:
        """Flag those of which it is known when the reader was told."""
        return self._messages.there("notified_ns") | self._messages.there("enqueue_ns")

    @cached_property
    def unsynchronised(self) -> Flags:
        """Flag those that lie between hosts whose clocks are not synchronised."""
        return self._messages.words("confidence").are(UNSYNCHRONISED)

    def rows(self, until: End) -> Mapping[int, Ints]:
        """Return, by hop, the transfers that its statistics up to an end are over, in their order.

        Those that reach it; where none of the hop does, all. A hop without any has no entry.
        """
        own = np.flatnonzero(counted(self._messages, until))
        return {hop: own[rows] for hop, rows in partition(self.hop_id[own])}

    def by_begin(self, rows: Ints) -> Ints:
        """Return rows in order of their begin; of equals in their order."""
        return rows[np.argsort(self.begin_ns[rows], kind="stable")]

    def inexact(self, rows: Ints) -> int:
        """Count those of which layers and latency do not agree to the ns, up to either end."""
        wrong = np.zeros(len(rows), bool)
        for until in End:
            total = np.zeros(len(rows), np.int64)
            for layer in until.layers:
                ns = self.layer_ns(layer)[rows]
                total += np.where(ns == NONE, 0, ns)
            wrong |= total != self.latency_ns(until)[rows]
        return int(wrong.sum())


def counted(messages: Rows, until: End = End.END) -> Flags:
    """Flag the rows of `messages` that the statistics of their hop up to an end are over.

    Those that reach it, and where no message of a hop does (callbacks were not recorded), all.
    """
    reached, hop = messages.there(f"{until.value}_ns"), messages["hop_id"]
    some = np.zeros(int(hop.max(initial=NONE)) + 1, bool)
    some[hop[reached]] = True
    return np.asarray(reached | ~some[hop])


@dataclass(frozen=True)
class HopLosses:
    """What was not received of the messages of each hop, by its number: see `hop_losses`."""

    _rows: Mapping[int, tuple[dict[str, Any], ...]]

    @classmethod
    def of(cls, hop_losses: Rows) -> HopLosses:
        """Take the table `hop_losses`."""
        found: dict[int, list[dict[str, Any]]] = {}
        for row in hop_losses.records():
            found.setdefault(row.pop("hop_id"), []).append(row)
        return cls({hop: tuple(rows) for hop, rows in found.items()})

    def rows(self, hop_id: int) -> tuple[dict[str, Any], ...]:
        """Return the rows of one hop, a cause each, without its number."""
        return self._rows.get(hop_id, ())

    def unseen(self, hop_id: int) -> int:
        """Count those of which the trace does not show what happened to them at their reader."""
        return sum(row["count"] for row in self.rows(hop_id) if row["cause"] in _UNSEEN)


def layers_of(
    transfers: Transfers, rows: Ints, until: End = End.END
) -> Iterator[tuple[Layer, Ints]]:
    """Yield each layer up to an end that any of some transfers has, and how long each was in it."""
    for layer in until.layers:
        ns = transfers.layer_ns(layer)[rows]
        if (ns != NONE).any():
            yield layer, ns
