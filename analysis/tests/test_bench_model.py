# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The benchmark of the analysis: it leaves out no stage, and its page is as it writes it."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

Sample = Callable[[str], Path]


@pytest.fixture(scope="module")
def bench(root: Path) -> Iterator[ModuleType]:
    """The benchmark as a module."""
    place = str(root / "analysis/benchmarks")
    sys.path.insert(0, place)
    try:
        yield importlib.import_module("bench_model")
    finally:
        sys.path.remove(place)


def test_every_step_of_model_and_layers_is_in_a_stage(bench: ModuleType) -> None:
    staged: dict[ModuleType, set[str]] = {}
    for modules in bench.STAGES.values():
        for module, names in modules.items():
            staged.setdefault(module, set()).update(names)
    for module, names in staged.items():
        steps = {
            name
            for name, item in vars(module).items()
            if inspect.isfunction(item)
            and item.__module__.startswith(("strata.model.", "strata.layers."))
            and not name.endswith("_frame")
        }
        # The two of pipeline.run are the model as a whole.
        assert steps - {"build_model"} <= names
        assert all(callable(getattr(module, name)) for name in names)


def test_a_trace_is_measured_in_every_stage(bench: ModuleType, sample: Sample) -> None:
    costs = bench.measure(sample("services_kilted"))
    assert costs.events == 2250
    assert set(costs.stages) == set(bench.STAGES)
    assert all(seconds > 0 for seconds in costs.stages.values())
    text = bench.page([bench.best([costs, costs])], 2)
    assert "--rounds 2 --write" in text
    assert "Best of 2 rounds" in " ".join(text.split())


def test_the_page_is_what_the_benchmark_writes(bench: ModuleType, root: Path) -> None:
    page = (root / "docs/analysis-speed.md").read_text()
    text, _, table = page.partition("| stage |")
    options = "".join(f" --events {count}" for count in re.findall(r"--events (\d+)", text))
    (rounds,) = re.findall(r"--rounds (\d+)", text)
    assert text == bench.PAGE.format(rounds=rounds, options=options, table="")
    stages = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)[1:]
    assert stages[: len(bench.STAGES)] == list(bench.STAGES)
