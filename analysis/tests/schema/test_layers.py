# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The declarations of checkpoints, layers and routes, and the rule by which messages are cut."""

from __future__ import annotations

from itertools import combinations

import pytest

from strata.schema import checkpoints as at
from strata.schema import layers as names
from strata.schema.checkpoints import CHECKPOINTS, Checkpoint, Side
from strata.schema.events import EVENTS
from strata.schema.layer import JOINED, Layer, Place, Route, cut
from strata.schema.layers import BETWEEN_HOSTS, BY_NAME, HOP_LAYERS, ROUTES
from strata.schema.service_layers import SERVICE_LAYERS
from strata.schema.tables import MESSAGES

_ALWAYS = {at.RMW_PUBLISH, at.TAKE}
# Of these, both or none are known; the notification is what the routes but stock are for.
_PAIRS = ({at.SERIALIZE_BEGIN, at.SERIALIZE_END}, {at.NOTIFY}, {at.SENDABLE})


def _known(route: Route) -> list[frozenset[Checkpoint]]:
    """Return every set of checkpoints that may be known of a message on a route."""
    needed = _ALWAYS | {at.NOTIFY, at.SENDABLE} & {*route.checkpoints}
    if route is names.FROM_HISTORY:
        needed.add(at.SEND)
    rest = [point for point in route.checkpoints if point not in needed]
    sets = []
    for count in range(len(rest) + 1):
        for chosen in combinations(rest, count):
            known = needed | {*chosen}
            serialized = {at.SERIALIZE_BEGIN, at.SERIALIZE_END} & known
            ended_only = at.END in known and at.START not in known
            unsent = route is names.FROM_HISTORY_UNSENT and at.SEND in known
            if len(serialized) != 1 and not ended_only and not unsent:
                sets.append(frozenset(known))
    return sets


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: str(route.name))
def test_every_time_between_checkpoints_has_a_layer(route: Route) -> None:
    for known in _known(route):
        # Powers of two: each sum says which spans are in it.
        ns = {point: 2**place for place, point in enumerate(route.checkpoints) if point in known}
        durations = cut(route, ns, HOP_LAYERS)
        alone = route.merged_only and {at.PICKED, at.TAKE} <= known
        left_out = ns[at.TAKE] - ns[at.PICKED] if alone else 0
        assert sum(durations.values()) == max(ns.values()) - min(ns.values()) - left_out


def test_missing_checkpoints_merge_layers() -> None:
    ns = {at.RMW_PUBLISH: 0, at.NOTIFY: 60, at.WOKE: 63, at.PICKED: 70, at.TAKE: 75}
    serialized = {at.SERIALIZE_BEGIN: 5, at.SERIALIZE_END: 25}

    def cut_at(extra: dict[Checkpoint, int]) -> dict[str, int]:
        found = cut(names.TRACED, ns | extra, HOP_LAYERS)
        return {layer.name: value for layer, value in found.items()}

    after = {"wake-up": 3, "executor wait": 7, "take": 5}
    assert cut_at({}) == {"middleware": 60, **after}
    # What is written before the serialization belongs to what is written after it.
    assert cut_at(serialized) == {
        "dds write + transport + dds receive": 40,
        "serialize": 20,
        **after,
    }
    assert cut_at({**serialized, at.SEND: 30}) == {
        "dds write": 10,
        "serialize": 20,
        "transport + dds receive": 30,
        **after,
    }
    assert cut_at({at.RECEIVE: 50}) == {
        "serialize + dds write + transport": 50,
        "dds receive": 10,
        **after,
    }


def test_checkpoints_are_columns_of_messages_in_the_order_of_the_way() -> None:
    columns = {column.name for column in MESSAGES.columns}
    assert {point.column for point in CHECKPOINTS if point.column} <= columns
    assert len({point.name for point in CHECKPOINTS}) == len(CHECKPOINTS)
    for route in ROUTES:
        order = [CHECKPOINTS.index(point) for point in route.checkpoints]
        assert order == sorted(order)
        assert not {*route.layers, *route.merged_only} - {*HOP_LAYERS}


def test_hooks_are_declared_events() -> None:
    events = {event.name for event in EVENTS}
    for point in CHECKPOINTS:
        assert {*point.hooks, *(point.over_iceoryx or ())} <= events


def test_layers_have_a_colour_and_columns_of_their_own() -> None:
    for layers in (tuple(BY_NAME.values()), SERVICE_LAYERS):
        assert len({layer.colour for layer in layers}) == len(layers)
        assert len({layer.column for layer in layers}) == len(layers)
        assert all(layer.colour for layer in layers)


def _by_two_clocks(layer: Layer) -> bool:
    """Tell by routes whether a layer may begin with the sender's clock and end with the reader's.

    Once more from what its parts lie between, not from its own begin and end.
    """
    sides = set()
    for route in ROUTES:
        for part, begin, end in zip(
            route.layers, route.checkpoints, route.checkpoints[1:], strict=False
        ):
            if {*part.basic} <= {*layer.basic}:
                sides |= {begin.side, end.side}
    return {Side.SENDER, Side.READER} <= sides


def test_layers_between_hosts_are_all_that_have_two_clocks() -> None:
    # Of one process there is one clock: wake-up begins there where the message was stored.
    expected = {layer for layer in HOP_LAYERS if _by_two_clocks(layer)} - {
        layer for layer in HOP_LAYERS if names.WAKE_UP in layer.basic
    }
    assert {*BETWEEN_HOSTS} == expected
    assert names.TRANSPORT in BETWEEN_HOSTS


def test_a_merged_layer_joins_its_parts() -> None:
    for layer in HOP_LAYERS:
        if JOINED in layer.name:
            assert layer.name == JOINED.join(part.name for part in layer.parts)
            places = {part.place for part in layer.parts}
            assert layer.place is (places.pop() if len(places) == 1 else Place.TOPIC)
