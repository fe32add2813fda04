# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chains: linked through callbacks, with branches, cycles and cut ends."""

from __future__ import annotations

import numpy as np

from strata.layers.chains import Links, find_chains
from strata.schema.quality import Ledger


def chains(
    hops: list[int], parents: list[int], reportable: set[int] | None = None
) -> tuple[dict[tuple[int, ...], list[list[int]]], Ledger]:
    """Chains by their hops, each with the messages of its instances."""
    ledger = Ledger()
    parent = np.asarray(parents, np.int64)
    links = Links(parent, np.where(parent >= 0, 5, -1).astype(np.int64))
    found = find_chains(np.asarray(hops, np.int64), links, reportable or set(), ledger)
    return {chain.hops: chain.messages.tolist() for chain in found}, ledger


def test_messages_that_went_the_same_way_are_one_chain() -> None:
    found, ledger = chains(hops=[0, 1, 2, 0, 1, 2], parents=[-1, 0, 1, -1, 3, 4])
    assert found == {(0, 1, 2): [[0, 1, 2], [3, 4, 5]]}
    assert ledger.counts == {}


def test_a_message_that_stops_on_the_way_is_counted() -> None:
    found, ledger = chains(hops=[0, 1, 2, 0, 1, 0], parents=[-1, 0, 1, -1, 3, -1])
    assert found == {(0, 1, 2): [[0, 1, 2]]}
    assert ledger.counts == {"truncated_chains": 2}


def test_a_branch_makes_a_chain_for_each_end() -> None:
    # Message 0 leads to 1 and 2; both relays publish on.
    found, _ = chains(hops=[0, 1, 2, 3], parents=[-1, 0, 0, 2])
    assert found == {(0, 1): [[0, 1]], (0, 2, 3): [[0, 2, 3]]}


def test_a_cycle_begins_a_new_chain() -> None:
    # ping (hop 0) and pong (hop 1), for ever.
    found, ledger = chains(hops=[0, 1, 0, 1, 0], parents=[-1, 0, 1, 2, 3])
    assert found == {(0, 1): [[0, 1], [2, 3]]}
    assert ledger.counts == {"truncated_chains": 1}


def test_single_hops_are_chains_only_where_asked_for() -> None:
    assert chains(hops=[0, 1], parents=[-1, -1], reportable={1})[0] == {(1,): [[1]]}


def test_no_message_is_no_chain() -> None:
    assert chains(hops=[], parents=[])[0] == {}
