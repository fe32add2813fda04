# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The finest cut that two sides have in common: nothing is lost, and like is compared."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from strata.comparison.parts import Part, common_cut
from strata.schema.layers import HOP_LAYERS

STOCK = [Part("client publish"), Part("middleware", notified=False)]
STOCK += [Part("executor wait", notified=False), Part("take"), Part("callback")]
HOOKED = [Part("client publish"), Part("serialize"), Part("dds write"), Part("transport")]
HOOKED += [Part("dds receive"), Part("wake-up"), Part("executor wait"), Part("take")]
HOOKED += [Part("callback")]


def names(first: list[Part], second: list[Part], rare: tuple[Part, ...] = ()) -> list[str]:
    counts = [dict.fromkeys(side, 1_000) | dict.fromkeys(rare, 3) for side in (first, second)]
    return [cut.layer for cut in common_cut(counts[0], counts[1], (1_000, 1_000))]


def test_the_same_cut_stays_as_it_is() -> None:
    assert names(STOCK, STOCK) == [part.layer for part in STOCK]
    assert names(HOOKED, HOOKED) == [part.layer for part in HOOKED]


def test_what_stock_events_divide_otherwise_is_put_together() -> None:
    # The executor may be busy while a message is on the wire: by stock events that is its wait.
    merged = ["client publish", "middleware + executor wait", "take", "callback"]
    assert names(STOCK, HOOKED) == names(HOOKED, STOCK) == merged


def test_a_checkpoint_that_one_side_lacks_merges_only_its_neighbours() -> None:
    lacking = [part for part in HOOKED if part.layer not in ("transport", "dds receive")]
    lacking.append(Part("transport + dds receive"))
    assert names(HOOKED, lacking) == [
        "client publish",
        "serialize",
        "dds write",
        "transport + dds receive",
        "wake-up",
        "executor wait",
        "take",
        "callback",
    ]


def test_what_only_one_side_has_is_a_row_of_its_own() -> None:
    assert names(STOCK, [part for part in STOCK if part.layer != "take"])[3] == "take"


def test_a_rare_part_puts_nothing_together() -> None:
    rare = Part("transport + dds receive")
    found = names(HOOKED, HOOKED, (rare,))
    assert {part.layer for part in HOOKED} | {rare.layer} == set(found)


def test_what_two_nodes_held_stays_apart() -> None:
    held = [Part("hold", place="/a"), Part("hold", place="/b")]
    cuts = common_cut(dict.fromkeys(held, 9), dict.fromkeys(held, 9), (9, 9))
    assert [cut.place for cut in cuts] == ["/a", "/b"]


PARTS = st.builds(Part, st.sampled_from([layer.name for layer in HOP_LAYERS]), st.booleans())
SIDES = st.dictionaries(PARTS, st.integers(1, 500), min_size=1, max_size=8)


@given(SIDES, SIDES)
def test_any_two_cuts_have_one_in_common_that_holds_every_part_once(
    first: dict[Part, int], second: dict[Part, int]
) -> None:
    cuts = common_cut(first, second, (500, 500))
    parts = [part for cut in cuts for part in cut.parts]
    assert sorted(parts) == sorted({*first, *second})
    turned = common_cut(second, first, (500, 500))
    assert {(cut.layer, cut.parts) for cut in cuts} == {(cut.layer, cut.parts) for cut in turned}
    frequent = {part for part in parts if max(first.get(part, 0), second.get(part, 0)) >= 5}
    group = {part: cut.parts for cut in cuts for part in cut.parts}
    for one in frequent:
        for other in frequent:
            if one.shares_time_with(other):
                assert group[one] == group[other]


def test_every_layer_covers_something() -> None:
    assert all(Part(layer.name, told).covers for layer in HOP_LAYERS for told in (True, False))
    assert np.all([Part(layer.name).shares_time_with(Part(layer.name)) for layer in HOP_LAYERS])
