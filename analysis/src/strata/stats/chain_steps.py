# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The messages of all chains in columns, and the layers of each of their hops.

Instances of all chains are numbered by chain; a *step* is one hop along the chains, counted from 0,
of all instances whose chain goes so far. So what is found out of a layer is found out of all chains
at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from strata.layers.chains import Chain
from strata.layers.links import KINDS
from strata.schema.layer import Layer
from strata.schema.layers import (
    CALLBACK,
    HOLD,
    LINK_HOLD,
    STORED,
    SUSPENDED,
    TRANSFER_LAYERS,
    transfer_layers,
)
from strata.schema.rows import NONE, Flags, Ints, Rows

_LINKED = (HOLD, SUSPENDED, CALLBACK, STORED, LINK_HOLD)

LAYERS = (*TRANSFER_LAYERS, *_LINKED)
"""The layers of a hop of a chain, in order."""


@dataclass(frozen=True)
class Step:
    """One hop along the chains, in the instances of those that have it, by instance.

    `message` is a row of `messages`, that of the hop; `following` that of the next hop, and `link`
    the row of `links` between them, both `NONE` at the end of a chain.
    """

    hop: int
    instance: Ints
    message: Ints
    following: Ints
    link: Ints

    def of(self, chosen: Flags) -> Step:
        """Return the step of some instances, which keep their numbers."""
        own = chosen[self.instance]
        columns = (self.instance, self.message, self.following, self.link)
        return Step(self.hop, *(column[own] for column in columns))


@dataclass(frozen=True)
class LayerOfStep:
    """One layer of a step: `duration_ns` of each instance, `NONE` for those that lack it.

    `message` is the row of `messages` that says where the time was spent.
    """

    hop: int
    layer: Layer
    instance: Ints
    message: Ints
    duration_ns: Ints


@dataclass(frozen=True)
class Steps:
    """Instances of `count` chains: `chain` numbers that of each instance, ascending."""

    count: int
    chain: Ints
    steps: tuple[Step, ...]
    messages: Rows
    links: Rows

    def __len__(self) -> int:
        return len(self.chain)

    @property
    def firsts(self) -> Ints:
        """The first message of each instance."""
        return self.steps[0].message if self.steps else np.empty(0, np.int64)

    @property
    def lasts(self) -> Ints:
        """The last message of each instance."""
        out = np.empty(len(self), np.int64)
        for step in self.steps:
            ends = step.following == NONE
            out[step.instance[ends]] = step.message[ends]
        return out

    def layers(self, chosen: Flags | None = None) -> Iterator[LayerOfStep]:
        """Yield every layer of every step, in the order of a chain; `chosen` flags instances."""
        used = {layer for layer in TRANSFER_LAYERS if self.messages.there(layer.column).any()}
        for step in self.steps:
            own = step if chosen is None else step.of(chosen)
            for layer in transfer_layers(step.hop):
                if layer in used:
                    values = self.messages[layer.column][own.message]
                    yield LayerOfStep(step.hop, layer, own.instance, own.message, values)
            yield from self._after(own)

    def _after(self, step: Step) -> Iterator[LayerOfStep]:
        """Yield what lies behind the callback's start of a hop's message.

        That is all of the callback at the end of a chain, else what led to the next publish.
        """
        ends = step.link == NONE
        direct = self._link_kind(step) == KINDS.index("callback")
        hold = self._of_link("hold_ns", step)
        columns = {
            HOLD: np.where(direct, hold, NONE),
            SUSPENDED: self._of_either(SUSPENDED, step, ends),
            CALLBACK: self._of_either(CALLBACK, step, ends),
            STORED: self._of_link("stored_ns", step),
            LINK_HOLD: np.where(direct, NONE, hold),
        }
        for layer in _LINKED:
            rows = step.following if layer is LINK_HOLD else step.message
            yield LayerOfStep(step.hop, layer, step.instance, rows, columns[layer])

    def _link_kind(self, step: Step) -> Ints:
        kinds = self.links.words("kind")
        number = {kind: at for at, kind in enumerate(KINDS)}
        known = np.array([*(number[word] for word in kinds.words), NONE], np.int64)
        return np.asarray(known[np.append(kinds.codes, NONE)[step.link]], np.int64)

    def _of_link(self, column: str, step: Step) -> Ints:
        return np.append(self.links[column], NONE)[step.link]

    def _of_either(self, layer: Layer, step: Step, ends: Flags) -> Ints:
        whole = self.messages[layer.column][step.message]
        return np.where(ends, whole, self._of_link(layer.column, step))


def find_steps(
    chains: Sequence[Chain], messages: Rows, links: Rows, kept: Sequence[Flags]
) -> Steps:
    """Return the steps of some instances of chains: `kept` flags them, for each chain."""
    sizes = np.array([int(own.sum()) for own in kept], np.int64)
    first = np.cumsum(sizes) - sizes
    chain = np.repeat(np.arange(len(chains)), sizes)
    # Most chains keep all their instances.
    rows = [slice(None) if own.all() else own for own in kept]
    steps = []
    for hop in range(max((len(item.hops) for item in chains), default=0)):
        own = [at for at, item in enumerate(chains) if len(item.hops) > hop]
        none = {at: np.full(sizes[at], NONE, np.int64) for at in own if _ends(chains[at], hop)}
        steps.append(
            Step(
                hop,
                np.concatenate([np.arange(first[at], first[at] + sizes[at]) for at in own]),
                np.concatenate([chains[at].messages[rows[at], hop] for at in own]),
                np.concatenate(
                    [
                        none[at] if at in none else chains[at].messages[rows[at], hop + 1]
                        for at in own
                    ]
                ),
                np.concatenate(
                    [none[at] if at in none else chains[at].links[rows[at], hop] for at in own]
                ),
            )
        )
    return Steps(len(chains), chain, tuple(steps), messages, links)


def _ends(chain: Chain, hop: int) -> bool:
    return hop == len(chain.hops) - 1
