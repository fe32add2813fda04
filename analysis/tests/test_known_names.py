# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Names that are carried from window to window are the newest ones, and bounded."""

from __future__ import annotations

import pyarrow as pa

from strata.live.known_names import KnownNames

TIMER, NODE = "ros2:rcl_timer_init", "ros2:rcl_node_init"


def inits(
    name: str, handles: list[int], *, vpid: int = 1, first_ns: int = 0
) -> dict[str, pa.Table]:
    field = {TIMER: "timer_handle", NODE: "node_handle"}[name]
    count = len(handles)
    columns = {
        "timestamp": pa.array(range(first_ns, first_ns + count), pa.int64()),
        "host": pa.array(["a"] * count).dictionary_encode(),
        "vpid": pa.array([vpid] * count, pa.int64()),
        field: pa.array(handles, pa.uint64()),
    }
    return {name: pa.table(columns)}


def handles_of(names: KnownNames, name: str) -> list[tuple[int, int]]:
    table = names.tables[name]
    return list(zip(table["timestamp"].to_pylist(), table[1 + 2].to_pylist(), strict=True))


def test_a_later_event_about_a_handle_replaces_the_former_ones() -> None:
    names = KnownNames()
    for window in range(50):
        # As rclpy does: a timer for each call of spin_once, at one of two addresses.
        names.add(inits(TIMER, [7, 8, 7], first_ns=3 * window))
    assert len(names) == 2
    assert handles_of(names, TIMER) == [(148, 8), (149, 7)]
    assert names.forgotten == 0


def test_handles_of_two_processes_are_two() -> None:
    names = KnownNames()
    names.add(inits(TIMER, [7], vpid=1))
    names.add(inits(TIMER, [7], vpid=2, first_ns=5))
    assert [ns for ns, _ in handles_of(names, TIMER)] == [0, 5]


def test_of_what_there_is_too_much_the_older_half_goes() -> None:
    names = KnownNames(most=100)
    names.add(inits(NODE, [1, 2, 3]))
    names.add(inits(TIMER, list(range(98)), first_ns=10))
    assert [handle for _, handle in handles_of(names, TIMER)] == list(range(49, 98))
    assert len(names.tables[NODE]) == 3
    assert names.forgotten == 49


def test_then_the_process_that_was_seen_last_the_longest_ago_goes() -> None:
    names = KnownNames(most=10)
    for vpid in (1, 2, 3):
        names.saw([("a", vpid)], {1: 30, 2: 10, 3: 20}[vpid])
        names.add(inits(NODE, [1, 2], vpid=vpid))
        names.add(inits(TIMER, [1, 2], vpid=vpid))
    kept = {vpid for table in names.tables.values() for vpid in table["vpid"].to_pylist()}
    assert kept == {1, 3}
    assert (len(names), names.forgotten) == (8, 4)
