# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a sink tells of the numbers that it received; needs no ROS."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def reception(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    from relay_chain import reception

    yield reception
    for name in [name for name in sys.modules if name.split(".")[0] == "relay_chain"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("numbers", "sent", "lost", "duplicates", "reordered"),
    [
        ([], 0, 0, 0, 0),
        ([], 3, 3, 0, 0),
        ([0, 1, 2], 3, 0, 0, 0),
        ([0, 2, 5], 7, 4, 0, 0),
        ([1, 0, 3, 2, 2], 4, 0, 1, 3),
        ([0, 1, 1, 1], 2, 0, 2, 0),
        # What came after all that were sent is no sign of what was lost.
        ([0, 9], 3, 2, 0, 0),
    ],
)
def test_the_numbers_tell_what_was_lost(
    reception: Any, numbers: list[int], sent: int, lost: int, duplicates: int, reordered: int
) -> None:
    came = reception.Reception()
    for at, number in enumerate(numbers):
        came.receive(number, at * 1_000_000_000, 8)
    found = came.as_json(sent)
    assert (found["received"], found["lost"]) == (len(numbers), lost)
    assert (found["duplicates"], found["reordered"]) == (duplicates, reordered)
    assert came.as_json(None)["lost"] is None


def test_the_first_message_only_begins_the_time_of_a_rate(reception: Any) -> None:
    flow = reception.Flow()
    flow.add(5_000_000_000, 100)
    assert flow.as_json()["bytes_per_second"] is None
    flow.add(6_000_000_000, 300)
    flow.add(7_000_000_000, 500)
    found = flow.as_json()
    assert (found["messages_per_second"], found["bytes_per_second"]) == (1.0, 400.0)
    assert (found["bytes"], found["seconds"]) == (900, 2.0)
