# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The time of all messages, divided among executors, topics and hops.

Every nanosecond of a message's latency belongs to one layer, and every layer to one of three:

* the *executor* whose thread took the message: the time in which it waited for that executor. Of
  layers in which that wait is merged with others, what is known to have run meanwhile;
* its *topic*: from the publish to the reader, and whatever is merged with that;
* its *hop*: what the receiving node did with it (wake-up, take, suspended, callback), and sensor
  drivers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from strata.engine.groups import sums
from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.layer import Owner
from strata.schema.layers import HOP_LAYERS
from strata.schema.rows import NONE, Flags, Ints, Rows


@dataclass(frozen=True)
class Part:
    """What of one layer belongs to executors, topics or hops (`kind`); a row a message.

    `message` is a row of `messages`, `executor` the one that took it, or `NONE`.
    """

    kind: str
    layer: str
    message: Ints
    executor: Ints
    duration_ns: Ints

    def take(self, rows: Flags) -> Part:
        """Return some of the rows."""
        own = self.message[rows], self.executor[rows], self.duration_ns[rows]
        return Part(self.kind, self.layer, *own)


def finished(messages: Rows) -> Flags:
    """Return which messages are of the application and reached the end of their callback.

    Not those of the start-up, as in the verdicts of chains, and not those between hosts without a
    common clock: the difference of the clocks is in their time.
    """
    own = messages["complete"] & ~messages["start_up"]
    own &= ~messages.words("topic").are(*INTERNAL_TOPICS)
    return np.asarray(own & ~messages.words("confidence").are(UNSYNCHRONISED), bool)


def time_parts(
    messages: Rows,
    chosen: Flags,
    executor_of: Ints,
    blockers: Rows,
    layers: Collection[str] | None = None,
) -> Iterator[Part]:
    """Yield the parts of the chosen messages; those of one message add up to its latency.

    `executor_of` is the executor of each message (strata.verdict.threads). Only of `layers`, by
    name, where they are given.
    """
    waited_ns: Ints | None = None
    for layer in HOP_LAYERS:
        if layers is not None and layer.name not in layers:
            continue
        ns = messages[layer.column]
        rows = np.flatnonzero(chosen & (ns != NONE))
        if not len(rows):
            continue
        ns, executor = ns[rows], executor_of[rows]
        waited = executor != NONE
        if layer.owner is Owner.EXECUTOR:
            for kind, own in (("executor", waited), ("hop", ~waited)):
                if own.any():
                    yield Part(kind, layer.name, rows[own], executor[own], ns[own])
        elif layer.owner is Owner.UNDIVIDED:
            if waited_ns is None:
                waited_ns = sums(blockers["message_id"], blockers["duration_ns"], len(messages))
            blocked = np.where(waited, np.minimum(waited_ns[rows], ns), 0)
            yield Part("executor", layer.name, rows, executor, blocked)
            yield Part("topic", layer.name, rows, executor, ns - blocked)
        else:
            kind = "hop" if layer.owner is Owner.HOP else "topic"
            yield Part(kind, layer.name, rows, executor, ns)
