# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What caused a message: the messages that its publisher made it from.

* **callback**: it was published while the callback of another message ran, on the same thread.
  Always known.
* **periodic_async**: its node keeps the newest message of each input and publishes from what it
  has, as on a timer. Each input's newest message whose callback had ended is a cause.
* **partial_sync**: its node publishes when messages of several inputs are there (fan-in, as
  message_filters do). Of each input the newest message since the last publish is a cause.

The last two say what no event shows, so they must be declared: by the node itself, with the events
`message_link_periodic_async` and `message_link_partial_sync`, or by the user, in a file
(strata.read.links). The terms are those of Bedard, Lajoie, Beltrame and Dagenais, "Message Flow
Analysis with Complex Causal Links for Distributed ROS 2 Systems".

A link telescopes from the start of the cause's callback to the publish: of a callback's own link
that is the *hold*; else the cause's *callback*, then *stored* until the callback begins that
publishes, then *link hold* until the publish. Time in which a coroutine callback was suspended is
*suspended*, and no part of hold or callback.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from strata.engine import _model as engine
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.links import NodeLink
from strata.model.search import pick
from strata.schema.rows import one_if_equal

Flags = npt.NDArray[np.bool_]

KINDS = ("callback", "periodic_async", "partial_sync")
"""What links are, by the number in `Links.kind`."""


@dataclass(frozen=True)
class Links:
    """One row a cause of a message, by child; `NONE` is null.

    `child` and `parent` are rows of the messages. `critical` marks the cause of each child that was
    there last: the path back along these is the child's critical path.
    """

    child: Ints
    parent: Ints
    kind: Ints
    callback_ns: Ints
    suspended_ns: Ints
    stored_ns: Ints
    hold_ns: Ints
    critical: Flags

    def __len__(self) -> int:
        return len(self.child)


def link_messages(model: Model, transfers: Transfers, declared: Sequence[NodeLink]) -> Links:
    """Link every message to what it was made from, within the trace."""
    publications, executions = model.publications, model.executions
    process = model.processes.thread_process
    published = (
        publications.execution,
        publications.publisher,
        process[publications.thread],
        publications.begin_ns,
        _suspended_ns(model),
    )
    callbacks = (
        pick(model.entities.callbacks.subscription, executions.callback),
        process[executions.thread],
        executions.start_ns,
        executions.over_ns,
        executions.suspended_ns,
    )
    messages = (transfers.publication, transfers.execution, transfers.callback_start_ns)
    inputs = [
        (KINDS.index(link.kind), subscriptions, link.publishers)
        for link in declared
        for subscriptions in link.inputs
    ]
    found = Links(*engine.link_messages(published, callbacks, executions.resumed, messages, inputs))
    return replace(
        found,
        kind=one_if_equal(found.kind),
        suspended_ns=one_if_equal(found.suspended_ns),
        stored_ns=one_if_equal(found.stored_ns),
    )


def _suspended_ns(model: Model) -> Ints:
    """For how long the execution of each publication had been suspended; `NONE` for none."""
    executions, publications = model.executions, model.publications
    if not executions.resumed.any():
        return np.full(len(publications.execution), NONE, np.int64)
    return pick(executions.paused_ns, executions.innermost(publications.position))
