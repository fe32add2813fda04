# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a comparison of many callbacks costs: in steps, which no load of the machine changes."""

from __future__ import annotations

import numpy as np
import pytest

from strata.comparison.comparison import compare_sides
from strata.comparison.runs import CALLBACK, Measured, Run, Subject
from strata.comparison.sides import Side


def callbacks(name: str, numbers: range) -> Side:
    """A side of one run of many callbacks, too short to be tested."""
    subjects = [Subject(CALLBACK, f"on_{number}", "(/node)") for number in numbers]
    once = Measured(np.arange(2, dtype=np.int64))
    return Side(name, (Run(name, f"/{name}", dict.fromkeys(subjects, once)),))


def looked_up(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the subjects of a comparison are looked up."""
    sides = callbacks("a", range(count)), callbacks("b", range(count // 2, count + count // 2))
    looks = 0
    own = Subject.__hash__

    def counted(subject: Subject) -> int:
        nonlocal looks
        looks += 1
        return own(subject)

    with monkeypatch.context() as patch:
        patch.setattr(Subject, "__hash__", counted)
        found = compare_sides(*sides)
    assert len(found.blocks) == len(found.only_a) == len(found.only_b) == count // 2
    return looks


def test_the_cost_of_a_comparison_grows_as_its_callbacks_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few, many = looked_up(100, monkeypatch), looked_up(400, monkeypatch)
    assert many <= 5 * few
