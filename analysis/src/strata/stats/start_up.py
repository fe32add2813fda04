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
import numpy.typing as npt
import pandas as pd

from strata.layers.chains import Chain
from strata.layers.readiness import Readiness
from strata.model.columns import NONE, Ints


@dataclass(frozen=True)
class StartUp:
    """The start-up of one chain: `early` flags its instances; see the table `chains`.

    `ready_ns` and `node` are null where no instance is early.
    """

    early: npt.NDArray[np.bool_]
    ready_ns: int | None
    node: str | None

    @property
    def columns(self) -> dict[str, object]:
        """Its columns of the table `chains`."""
        return {
            "start_up": int(self.early.sum()),
            "start_up_end_ns": self.ready_ns,
            "start_up_node": self.node,
        }


def find_start_up(
    chain: Chain, messages: pd.DataFrame, begin_ns: Ints, ready: Readiness | None
) -> StartUp:
    """Tell which instances were published before all hops that they went over were ready.

    `begin_ns` has one row an instance of the chain.
    """
    if ready is None or not len(begin_ns):
        return StartUp(np.zeros(len(begin_ns), bool), None, None)
    # Beyond a hop between two clocks the chain's begin is not comparable.
    apart = np.logical_or.accumulate(ready.apart[chain.messages], axis=1)
    of_hops = np.where(apart, NONE, ready.ready_ns[chain.messages])
    last = of_hops.argmax(axis=1)
    ready_ns = of_hops[np.arange(len(last)), last]
    early = (ready_ns != NONE) & (begin_ns < ready_ns)
    if not early.any():
        return StartUp(early, None, None)
    slowest = int(np.flatnonzero(early)[ready_ns[early].argmax()])
    row = int(chain.messages[slowest, last[slowest]])
    side = "publisher_node" if ready.by_publisher[row] else "subscription_node"
    return StartUp(early, int(ready_ns[slowest]), str(messages[side].iloc[row]))
