# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes by their threads' events, in whatever parts those come."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

from strata.read.processes import ProcessCount, Threads, count_processes, count_threads

ROWS = [
    ("a", 1, 1, "python3"),
    ("a", 1, 1, "node"),
    ("a", 1, 1, "node"),
    ("a", 1, 2, "worker"),
    ("a", 1, 2, "worker"),
    ("a", 1, 2, "worker"),
    ("b", 1, 7, "late"),
    ("b", None, None, None),
]


def table(rows: list[tuple[str, int | None, int | None, str | None]]) -> pa.Table:
    names = ["host", "vpid", "vtid", "procname"]
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def test_the_name_is_the_first_threads_usual_one() -> None:
    assert count_processes(count_threads(table(ROWS))) == [
        ProcessCount("a", 1, "node", 6),
        ProcessCount("b", 1, "late", 1),
        ProcessCount("b", None, "", 1),
    ]


def test_parts_in_any_order_add_up() -> None:
    whole = count_threads(table(ROWS))
    parts: Threads = Counter()
    for row in reversed(ROWS):
        parts.update(count_threads(table([row])))
    assert parts == whole
    assert sorted(map(str, count_processes(parts))) == sorted(map(str, count_processes(whole)))


def test_a_process_may_be_named_once_and_not_with_each_event() -> None:
    named = table([("a", 1, 9, None)]).append_column("process_name", pa.array(["talker"]))
    threads = count_threads(table([("a", 1, 1, None), ("a", 1, 1, None)]))
    threads.update(count_threads(named))
    assert count_processes(threads) == [ProcessCount("a", 1, "talker", 3)]
