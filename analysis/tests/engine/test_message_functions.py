# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What connects messages: the engine's functions do what NumPy does with the same columns."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import cast

import numpy as np
import numpy_chains
import numpy_links
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages_of_model import assert_same, assert_same_ways

from strata.engine import _model as engine
from strata.layers import links
from strata.layers.chains import find_ways
from strata.layers.links import Links
from strata.layers.transfers import Transfers
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.links import NodeLink
from strata.schema.links import LINK_KINDS

THREADS, SUBSCRIPTIONS, PUBLISHERS, SPAN = 4, 3, 3, 40


class _Executions(SimpleNamespace):
    def __len__(self) -> int:
        return len(self.thread)


class Made:
    """Columns as a trace might have them, and some that none has."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance

    def ints(self, count: int, low: int, high: int) -> Ints:
        return np.asarray([self.chance.randint(low, high) for _ in range(count)], np.int64)

    def distinct(self, count: int, below: int) -> Ints:
        """Numbers below a bound of which none but `NONE` is there twice."""
        numbers = self.chance.sample(range(below), min(count, below)) + [NONE] * count
        return np.asarray(self.chance.sample(numbers[:count], count), np.int64)

    def model(self) -> Model:
        ran, made = self.chance.randint(0, 12), self.chance.randint(0, 12)
        start_ns = self.ints(ran, 0, SPAN)
        resumed = self.ints(ran, 0, 3) == 0
        executions = _Executions(
            callback=self.ints(ran, NONE, 3),
            thread=self.ints(ran, 0, THREADS - 1),
            start_ns=start_ns,
            over_ns=start_ns + self.ints(ran, 0, 9),
            suspended_ns=self.ints(ran, 0, 3),
            # Nothing was suspended where nothing goes on.
            paused_ns=self.ints(ran, NONE, 3) * resumed.any(),
            resumed=resumed,
            innermost=lambda at: at,
        )
        publications = SimpleNamespace(
            execution=self.ints(made, NONE, ran - 1),
            publisher=self.ints(made, NONE, PUBLISHERS - 1),
            thread=self.ints(made, 0, THREADS - 1),
            begin_ns=self.ints(made, 1, SPAN + 5),
            position=self.ints(made, NONE, ran - 1),
        )
        callbacks = SimpleNamespace(subscription=self.ints(4, NONE, SUBSCRIPTIONS - 1))
        processes = SimpleNamespace(thread_process=self.ints(THREADS, 0, 1))
        return cast(
            Model,
            SimpleNamespace(
                executions=executions,
                publications=publications,
                entities=SimpleNamespace(callbacks=callbacks),
                processes=processes,
            ),
        )

    def transfers(self, model: Model) -> Transfers:
        made = len(model.publications.thread)
        count = self.chance.randint(0, 12) if made else 0
        execution = self.distinct(count, len(model.executions))
        return cast(
            Transfers,
            SimpleNamespace(
                publication=self.ints(count, 0, made - 1),
                execution=execution,
                callback_start_ns=np.where(execution != NONE, self.ints(count, 0, SPAN), NONE),
            ),
        )

    def declared(self) -> list[NodeLink]:
        return [
            NodeLink(
                self.chance.choice(LINK_KINDS),
                tuple(self._some(SUBSCRIPTIONS) for _ in range(self.chance.randint(0, 2))),
                self._some(PUBLISHERS),
            )
            for _ in range(self.chance.randint(0, 3))
        ]

    def _some(self, below: int) -> Ints:
        return np.flatnonzero(self.ints(below, 0, 1)).astype(np.int64)

    def links(self, messages: int) -> Links:
        """Causes of messages, by child; most come before their effects."""
        count = self.chance.randint(0, 2 * messages)
        child = np.sort(self.ints(count, 0, messages - 1))
        back = self.chance.random() < 0.2
        parent = np.asarray(
            [self.chance.randint(0, messages - 1 if back else max(at - 1, 0)) for at in child],
            np.int64,
        )
        kept = parent != child
        none = np.full(int(kept.sum()), NONE, np.int64)
        return Links(child[kept], parent[kept], none, none, none, none, none, none == NONE)


made = st.randoms(use_true_random=False).map(Made)


@given(made)
def test_what_caused_messages(made: Made) -> None:
    model = made.model()
    arguments = (model, made.transfers(model), made.declared())
    assert_same(links.link_messages(*arguments), numpy_links.link_messages(*arguments))


@given(made)
def test_ways_of_messages(made: Made) -> None:
    count = made.chance.randint(1, 14)
    hop = made.ints(count, NONE, made.chance.randint(0, 5))
    caused = made.links(count)
    given = {
        "headless": made.ints(count, 0, 3) == 0 if made.chance.random() < 0.5 else None,
        "allowed": made.ints(len(caused), 0, 3) > 0 if made.chance.random() < 0.3 else None,
    }
    assert_same_ways(hop, caused, **given)


def test_ways_round_more_hops_than_bits() -> None:
    count = 200
    hop = np.append(np.arange(count), [0, 1, 2])
    child = np.arange(1, len(hop))
    none = np.full(len(child), NONE, np.int64)
    caused = Links(child, child - 1, none, none, none, none, none, none == NONE)
    assert_same_ways(hop, caused)


def test_ways_that_multiply_are_cut_as_by_numpy() -> None:
    # Each of a row of messages has both of the row before as its causes.
    child, parent = zip(
        *((2 * row + a, 2 * row - 2 + b) for row in range(1, 12) for a in (0, 1) for b in (0, 1)),
        strict=True,
    )
    none = np.full(len(child), NONE, np.int64)
    order = np.lexsort((parent, child))
    caused = Links(
        np.asarray(child)[order],
        np.asarray(parent)[order],
        *[none] * 5,
        critical=none == NONE,
    )
    assert_same_ways(np.arange(24) // 2, caused)


def test_links_of_messages_that_are_not_there_are_refused() -> None:
    one, none = np.zeros(1, np.int64), np.empty(0, bool)
    with pytest.raises(ValueError, match="a link names message 1 of 1"):
        engine.follow_ways(one, none, one, one + 1, none)
    with pytest.raises(ValueError, match="a way is shorter than 2 hops"):
        engine.collect_instances((one, one - 1, one - 1), one, 2)
    with pytest.raises(ValueError, match="columns of one table have 1 and 2 rows"):
        engine.link_messages([one] * 5, [one] * 5, one == 0, [one, one, np.append(one, one)], [])


def test_no_messages_have_no_ways() -> None:
    empty = np.empty(0, np.int64)
    caused = Links(*[empty] * 7, critical=empty == 0)
    found, _ = find_ways(empty, caused)
    assert len(found.message) == 0 and found.hops == []
    wanted, _ = numpy_chains.find_ways(empty, caused)
    assert len(wanted.message) == 0


@given(st.lists(st.integers(-3, 6)))
def test_distinct_values(values: list[int]) -> None:
    column = np.asarray(values, np.int64)
    found = engine.find_distinct(column)
    wanted = np.unique(column, return_index=True, return_inverse=True)
    for own, other in zip(found, wanted, strict=True):
        assert own.tolist() == other.tolist()


def test_messages_of_no_pair_are_refused() -> None:
    one, flag = np.zeros(1, np.int64), np.zeros(1, bool)
    pairs = ((one, one, one), flag, flag)
    arguments = ([one] * 5, [one, one + 1, one, one, one], ((one,) * 6, flag), pairs)
    with pytest.raises(ValueError, match="a message is of no pair"):
        engine.find_deliveries(*arguments, 1, [[one[:0]] * 2] * 4, [])
    with pytest.raises(ValueError, match="pair 0 has reader 0 and hop 0"):
        engine.find_deliveries(*arguments, 0, [[one[:0]] * 2] * 4, [])
