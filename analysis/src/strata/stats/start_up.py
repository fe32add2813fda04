# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which messages of a chain are of its start-up: published before its last node was ready.

They waited for a node to be made, found and spinning, which happens once. In a short recording they
would be the slowest 1 %, so they are a group of their own (strata.stats.groups). Where all messages
are early, so that there is nothing else, they are groups as any others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.layers.readiness import Readiness
from strata.schema.rows import NONE, Coded, Flags, Ints
from strata.stats.chain_steps import Steps


@dataclass(frozen=True)
class StartUps:
    """The start-up of all chains: `early` flags instances; of each chain see the table `chains`.

    `ready_ns` and `node` are null of chains of which no instance is early.
    """

    early: Flags
    ready_ns: Ints
    node: Coded


def find_start_ups(steps: Steps, begin_ns: Ints, ready: Readiness | None) -> StartUps:
    """Return which instances were published before all hops that they went over were ready.

    `begin_ns` has one row an instance.
    """
    none = np.full(steps.count, NONE, np.int64)
    if ready is None or not len(steps):
        return StartUps(np.zeros(len(steps), bool), none, Coded(none, ()))
    # The hop that was ready last, of equals the first, and its message.
    ready_ns = np.full(len(steps), NONE, np.int64)
    message = steps.firsts.copy()
    apart = np.zeros(len(steps), bool)
    for step in steps.steps:
        # Beyond a hop between two clocks the chain's begin is not comparable.
        apart[step.instance] |= ready.apart[step.message]
        of_hop = np.where(apart[step.instance], NONE, ready.ready_ns[step.message])
        later = of_hop > ready_ns[step.instance]
        own = step.instance[later]
        ready_ns[own], message[own] = of_hop[later], step.message[later]
    early = (ready_ns != NONE) & (begin_ns < ready_ns)
    return StartUps(early, *_slowest(steps, np.flatnonzero(early), ready_ns, message, ready))


def _slowest(
    steps: Steps, early: Ints, ready_ns: Ints, message: Ints, ready: Readiness
) -> tuple[Ints, Coded]:
    """Return of each chain when its last node was ready, and that node."""
    of_chain = np.full(steps.count, NONE, np.int64)
    names: list[str | None] = [None] * steps.count
    order = early[np.lexsort((early, -ready_ns[early], steps.chain[early]))]
    chains, first = np.unique(steps.chain[order], return_index=True)
    sides = [steps.messages.words(side) for side in ("subscription_node", "publisher_node")]
    for chain, instance in zip(chains.tolist(), order[first].tolist(), strict=True):
        row = int(message[instance])
        of_chain[chain] = ready_ns[instance]
        names[chain] = sides[int(ready.by_publisher[row])].at(row)
    return of_chain, Coded.of(names)
