# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A live test is repeated only where its threads had no CPUs and load may be the cause."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from chain_truth import InexactError
from recorder import Recorder


@pytest.fixture
def hooks() -> ModuleType:
    """The conftest beside this file, as a module."""
    spec = importlib.util.spec_from_file_location(
        "own_hooks", Path(__file__).with_name("conftest.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Planted(Recorder):
    """A recorder of a machine that is busy, or is not."""

    busy = True

    def __init__(self) -> None:
        pass

    def was_starved(self) -> bool:
        return self.busy

    def clear(self) -> None:
        pass


def tries(hooks: ModuleType, recorder: Planted, *outcomes: BaseException | None) -> int:
    """Run a test that ends so, one outcome a try; returns how often it ran."""
    left = list(outcomes)

    def test(recorded: Recorder) -> None:
        outcome = left.pop(0)
        if outcome is not None:
            raise outcome

    item: Any = SimpleNamespace(
        funcargs={"recorded": recorder},
        obj=test,
        nodeid="a test",
        _fixtureinfo=SimpleNamespace(argnames=("recorded",)),
    )
    try:
        assert hooks.pytest_pyfunc_call(item)
    except AssertionError as error:
        assert error in outcomes
    return len(outcomes) - len(left)


def test_what_had_no_cpus_is_repeated_and_said(hooks: ModuleType) -> None:
    with pytest.warns(UserWarning, match="a test: repeated"):
        assert tries(hooks, Planted(), AssertionError("slow"), None, None) == 2
    with pytest.warns(UserWarning, match="repeated"):
        assert tries(hooks, Planted(), *[AssertionError(str(at)) for at in range(4)]) == 3


def test_what_had_them_is_not(hooks: ModuleType) -> None:
    idle = Planted()
    idle.busy = False
    assert tries(hooks, idle, AssertionError("wrong"), None) == 1


def test_what_no_load_excuses_is_not(hooks: ModuleType) -> None:
    assert tries(hooks, Planted(), InexactError("sums"), None) == 1
