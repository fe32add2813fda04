# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers of messages cut by native code: by a formula each, and by the declared rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import numpy_cut as oracle
import pytest
from engine_runs import ros2_samples
from hypothesis import given
from hypothesis import strategies as st

from strata.engine import _model as engine
from strata.layers.transfers import cut_layers
from strata.model.columns import NONE, Ints
from strata.model.of_tables import model_of_tables
from strata.read import open_trace
from strata.schema import checkpoints as at
from strata.schema import layers as names
from strata.schema.checkpoints import CHECKPOINTS, Checkpoint
from strata.schema.layer import Route, cut


def made_message(random: Random, route: Route) -> dict[Checkpoint, int]:
    """Return what is known of a message: its checkpoints in order, some of them missing."""
    ns, out = 1_000, {}
    for point in route.checkpoints:
        ns += random.choice((0, 1, random.randrange(1_000)))
        out[point] = ns
    optional = [{at.PUBLISH}, {at.SERIALIZE_BEGIN, at.SERIALIZE_END}, {at.RECEIVE}, {at.WOKE}]
    optional += [{at.PICKED}, {at.START, at.END}, {at.END}]
    # A message from the history whose send is known has no other instant that ends the wait.
    optional += [] if route is names.FROM_HISTORY else [{at.SEND}]
    for points in optional:
        if random.random() < 0.4 or (route is names.FROM_HISTORY_UNSENT and points == {at.SEND}):
            out = {point: ns for point, ns in out.items() if point not in points}
    return out


def columns_of(messages: list[dict[Checkpoint, int]]) -> dict[Checkpoint, Ints]:
    return {
        point: np.asarray([ns.get(point, NONE) for ns in messages], np.int64)
        for point in CHECKPOINTS
    }


@given(st.randoms(use_true_random=False), st.integers(0, 40))
def test_any_messages(random: Random, count: int) -> None:
    routes = [random.randrange(len(names.ROUTES)) for _ in range(count)]
    messages = [made_message(random, names.ROUTES[route]) for route in routes]
    route, columns = np.asarray(routes, np.int64), columns_of(messages)
    found = engine.cut_layers(route, [columns[point] for point in CHECKPOINTS])
    wanted = oracle.cut_layers(route, columns)
    never = [NONE] * count
    assert {
        layer.column: never if ns is None else ns.tolist()
        for layer, ns in zip(names.HOP_LAYERS, found, strict=True)
    } == {column: ns.tolist() for column, ns in wanted.items()}
    for row, (number, ns) in enumerate(zip(routes, messages, strict=True)):
        declared = cut(names.ROUTES[number], ns, names.HOP_LAYERS)
        columns_found = zip(names.HOP_LAYERS, found, strict=True)
        own = {layer: NONE if column is None else column[row] for layer, column in columns_found}
        assert {layer: ns for layer, ns in own.items() if ns != NONE} == declared


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(name: str, sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of_tables(open_trace(sample(name)).tables())
    native, compared = engine.cut_layers, []

    def both(route: Ints, columns: list[Ints]) -> list[Ints | None]:
        none = np.full(len(route), NONE, np.int64)
        whole = [column if len(column) else none for column in columns]
        wanted = oracle.cut_layers(route, dict(zip(CHECKPOINTS, whole, strict=True)))
        found = native(route, columns)
        for layer, ns in zip(names.HOP_LAYERS, found, strict=True):
            np.testing.assert_array_equal(none if ns is None else ns, wanted[layer.column])
        compared.append(len(route))
        return found

    monkeypatch.setattr(engine, "cut_layers", both)
    transfers, _ = cut_layers(model)
    assert compared == [len(transfers)]
    layers = [np.where(ns == NONE, 0, ns) for ns in transfers.durations.values()]
    np.testing.assert_array_equal(np.sum(layers, axis=0), transfers.latency_ns)


def test_columns_of_another_length_and_unknown_routes_are_refused() -> None:
    none = np.empty(0, np.int64)
    columns = [none] * len(CHECKPOINTS)
    for route in (-1, len(names.ROUTES)):
        with pytest.raises(ValueError, match="no route"):
            engine.cut_layers(np.asarray([route]), columns)
    columns[CHECKPOINTS.index(at.TAKE)] = np.asarray([1, 2])
    with pytest.raises(ValueError, match="differ in length"):
        engine.cut_layers(np.asarray([0]), columns)
