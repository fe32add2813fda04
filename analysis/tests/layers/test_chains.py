# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chains: linked through callbacks, with branches, cycles and cut ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.layers.chains import Ways, find_chains, find_chains_of, find_ways
from strata.layers.links import Links
from strata.schema.quality import Findings


def links_of(parents: list[int | list[int]]) -> Links:
    """Links from the causes of each message: one, several or none (-1)."""
    pairs = [
        (child, cause)
        for child, causes in enumerate(parents)
        for cause in (causes if isinstance(causes, list) else [causes])
        if cause >= 0
    ]
    child, parent = np.asarray(pairs, np.int64).reshape(-1, 2).T
    none = np.full(len(child), -1, np.int64)
    last = np.append(child[1:] != child[:-1], True)[: len(child)]
    return Links(child, parent, np.zeros_like(none), none, none, none, none + 6, last)


def ways_of(hops: list[int], parents: list[int | list[int]]) -> Ways:
    return find_ways(np.asarray(hops, np.int64), links_of(parents))[0]


def chains(
    hops: list[int], parents: list[int | list[int]], reportable: set[int] | None = None
) -> tuple[dict[tuple[int, ...], list[list[int]]], Findings]:
    """Chains by their hops, each with the messages of its instances."""
    ways, unfollowed = find_ways(np.asarray(hops, np.int64), links_of(parents))
    found, truncated = find_chains(ways, reportable or set())
    for chain in found:
        assert chain.links.shape == (len(chain.messages), len(chain.hops) - 1)
    return {chain.hops: chain.messages.tolist() for chain in found}, unfollowed + truncated


def test_messages_that_went_the_same_way_are_one_chain() -> None:
    found, findings = chains(hops=[0, 1, 2, 0, 1, 2], parents=[-1, 0, 1, -1, 3, 4])
    assert found == {(0, 1, 2): [[0, 1, 2], [3, 4, 5]]}
    assert findings.counts == {}


def test_a_message_that_stops_on_the_way_is_counted() -> None:
    found, findings = chains(hops=[0, 1, 2, 0, 1, 0], parents=[-1, 0, 1, -1, 3, -1])
    assert found == {(0, 1, 2): [[0, 1, 2]]}
    assert findings.counts == {"truncated_chains": 2}


def test_a_branch_makes_a_chain_for_each_end() -> None:
    # Message 0 leads to 1 and 2; both relays publish on.
    found, _ = chains(hops=[0, 1, 2, 3], parents=[-1, 0, 0, 2])
    assert found == {(0, 1): [[0, 1]], (0, 2, 3): [[0, 2, 3]]}


def test_a_cycle_begins_a_new_chain() -> None:
    # ping (hop 0) and pong (hop 1), for ever.
    found, findings = chains(hops=[0, 1, 0, 1, 0], parents=[-1, 0, 1, 2, 3])
    assert found == {(0, 1): [[0, 1], [2, 3]]}
    assert findings.counts == {"truncated_chains": 1}


def test_single_hops_are_chains_only_where_asked_for() -> None:
    assert chains(hops=[0, 1], parents=[-1, -1], reportable={1})[0] == {(1,): [[1]]}


def test_no_message_is_no_chain() -> None:
    assert chains(hops=[], parents=[])[0] == {}


def test_a_message_with_two_causes_ends_two_chains() -> None:
    # Hops 0 and 1 are stored; hop 2 is published from both. Message 0 is replaced before its use.
    found, findings = chains(hops=[0, 1, 0, 2], parents=[-1, -1, -1, [1, 2]])
    assert found == {(0, 2): [[2, 3]], (1, 2): [[1, 3]]}
    assert findings.counts == {"truncated_chains": 1}


def test_a_stored_message_may_be_used_more_than_once() -> None:
    found, _ = chains(hops=[0, 2, 2], parents=[-1, 0, 0])
    assert found == {(0, 2): [[0, 1], [0, 2]]}


def test_two_ways_to_one_message_are_two_chains() -> None:
    # A diamond: hop 0 goes over 1 and over 2 to 3.
    found, _ = chains(hops=[0, 1, 2, 3], parents=[-1, 0, 0, [1, 2]])
    assert found == {(0, 1, 3): [[0, 1, 3]], (0, 2, 3): [[0, 2, 3]]}


def test_a_cycle_of_hops_that_no_message_goes_round_is_followed() -> None:
    # a -> b for some messages and b -> a for others, by other nodes.
    found, _ = chains(hops=[0, 1, 1, 0], parents=[-1, 0, -1, 2])
    assert found == {(0, 1): [[0, 1]], (1, 0): [[2, 3]]}


@pytest.mark.parametrize("input_last", [True, False])
@pytest.mark.parametrize("count", [3, 40, 50_000])
def test_feedback_is_no_part_of_the_next_round(*, input_last: bool, count: int) -> None:
    # A controller (0 -> 1) keeps the newest feedback (2) of its plant, as a cause of its output.
    rounds: list[int | list[int]] = []
    for first in range(0, 3 * count, 3):
        causes = [first - 1, first] if input_last else [first, first - 1]
        rounds += [-1, causes, first + 1]
    found, findings = chains([0, 1, 2] * count, rounds)
    assert found == {(0, 1, 2): np.arange(3 * count).reshape(-1, 3).tolist()}
    assert findings.counts == {}


def test_a_long_way_round_that_is_closed_once_is_a_cycle() -> None:
    # Of 130 hops only hop 100 sees a message again.
    hops = [(100 + step) % 130 for step in range(131)]
    found, _ = chains(hops, [-1, *range(130)])
    assert {way: len(messages) for way, messages in found.items()} == {
        tuple(range(101)): 1,
        tuple(range(100, 130)): 1,
    }


@given(st.data())
def test_links_are_left_out_only_where_a_message_comes_back_to_a_hop(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 8))
    hops = data.draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
    parents: list[int | list[int]] = [[]]
    parents += [
        sorted(data.draw(st.sets(st.integers(0, child - 1), max_size=3)))
        for child in range(1, count)
    ]
    made_of: list[set[int]] = []
    for causes in parents:
        assert isinstance(causes, list)
        made_of.append({hops[cause] for cause in causes}.union(*(made_of[at] for at in causes)))
    comes_back = any(hop in before for hop, before in zip(hops, made_of, strict=True))
    ways = ways_of(hops, parents)
    assert all(len(set(way)) == len(way) for way in ways.hops) or not comes_back
    left_out = len(links_of(parents)) - len(np.unique(ways.link[ways.link != -1]))
    assert (left_out > 0) == comes_back


def test_a_long_cycle_is_followed_in_few_steps() -> None:
    count = 200_000
    found, _ = chains(hops=[0, 1] * count, parents=[-1, *range(2 * count - 1)])
    assert len(found[(0, 1)]) == count


def test_ways_that_multiply_are_cut_and_counted() -> None:
    # Ten layers of diamonds: every message of a layer is made of both before.
    hops = [level * 2 + side for level in range(10) for side in (0, 1)]
    causes: list[int | list[int]] = [-1, -1]
    for level in range(1, 10):
        causes += [[2 * level - 2, 2 * level - 1]] * 2
    found, findings = chains(hops, causes)
    assert findings.counts["unfollowed_links"] > 0
    assert sum(map(len, found.values())) <= 32 * len(hops)


def test_chains_beyond_which_ways_go_on_say_so() -> None:
    hops = [level * 2 + side for level in range(10) for side in (0, 1)]
    causes: list[int | list[int]] = [-1, -1]
    for level in range(1, 10):
        causes += [[2 * level - 2, 2 * level - 1]] * 2
    found, _ = find_chains(ways_of(hops, causes), set())
    assert all(chain.cut_short == len(chain.messages) for chain in found)
    # What was followed to its end is whole.
    (whole,), _ = find_chains(ways_of([0, 1, 2], [-1, 0, 1]), set())
    assert whole.cut_short == 0


def test_a_message_whose_cause_is_missing_begins_no_chain() -> None:
    # The second message of hop 1 was published in a callback whose message is missing.
    hops, parents = [0, 1, 2, 1, 2], links_of([-1, 0, 1, -1, 3])
    headless = np.array([False, False, False, True, False])
    ways, _ = find_ways(np.asarray(hops, np.int64), parents, headless=headless)
    found, _ = find_chains(ways, set())
    assert {chain.hops: chain.messages.tolist() for chain in found} == {(0, 1, 2): [[0, 1, 2]]}
    # By its topics a part of the way is found all the same.
    (part,) = find_chains_of(ways, ["/a", "/b", "/c"], ["/b", "/c"])
    assert part.messages.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        (["/b", "/c"], {(1, 2): [[1, 2], [4, 5]]}),
        (["/a", "/b"], {(0, 1): [[0, 1], [3, 4], [6, 7]]}),
        (["/c"], {(2,): [[2], [5]]}),
        (["/a", "/c"], {}),
    ],
)
def test_a_chain_can_be_asked_for_by_its_topics(
    topics: list[str], expected: dict[tuple[int, ...], list[list[int]]]
) -> None:
    ways = ways_of([0, 1, 2, 0, 1, 2, 0, 1], [-1, 0, 1, -1, 3, 4, -1, 6])
    found = find_chains_of(ways, ["/a", "/b", "/c"], topics)
    assert {chain.hops: chain.messages.tolist() for chain in found} == expected


def test_a_part_that_several_ways_share_is_there_once() -> None:
    # 0 and 1 lead to 2, which leads to 3.
    ways = ways_of([0, 1, 2, 3], [-1, -1, [0, 1], 2])
    (chain,) = find_chains_of(ways, ["/a", "/b", "/c", "/d"], ["/c", "/d"])
    assert chain.messages.tolist() == [[2, 3]]
