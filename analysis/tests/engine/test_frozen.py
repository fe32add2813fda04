# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every declared table holds what it held: of samples, odd traces, and of worlds by number."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from engine_runs import CHUNKS, engine_of, ros2_samples, told
from frozen import (
    SAMPLES,
    TRACES,
    WORLDS,
    digest,
    of_analysis,
    of_case,
    of_input,
    of_text,
    of_world,
    summary,
)
from frozen_cases import CASES, of_samples
from frozen_worlds import KINDS

from strata.analysis import Analysis
from strata.schema.rows import Rows
from strata.schema.tables import EVENT_USES, HOP_LAYER_STATS

Sample = Callable[[str], Path]


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(name: str, analysis_of: Callable[[str], Analysis]) -> None:
    assert of_analysis(analysis_of(name)) == json.loads(SAMPLES.read_text())[name]


@pytest.mark.parametrize("name", CASES)
def test_damaged_and_odd_traces(name: str, sample: Sample, tmp_path: Path) -> None:
    assert of_case(CASES[name], tmp_path, sample) == json.loads(TRACES.read_text())[name]


def test_samples_whose_tables_were_changed(sample: Sample) -> None:
    known = json.loads(TRACES.read_text())
    for name, world in of_samples(sample):
        assert of_text(repr(sorted(of_world(world()).items()))) == known[name], name


@pytest.mark.parametrize("name", KINDS)
def test_worlds(name: str) -> None:
    kind, known = KINDS[name], json.loads(WORLDS.read_text())[name]
    assert of_input(kind) == known["events"], "other worlds are made, not other results"
    worlds = [
        of_world(kind.world(number), CHUNKS[number % len(CHUNKS)]) for number in range(kind.count)
    ]
    assert summary(worlds) == {key: known[key] for key in ("tables", "worlds")}


@pytest.mark.parametrize("name", KINDS)
def test_chunks_change_nothing(name: str) -> None:
    for number in range(0, KINDS[name].count, 3):
        world = KINDS[name].world(number)
        of = {"clocks": world.clocks, "left_out": world.left_out}
        whole, *others = (
            told(engine_of(world.tables, world.losses, chunk_rows=rows, **of))  # type: ignore[arg-type]
            for rows in (1 << 20, 1, 7)
        )
        for other in others:
            np.testing.assert_equal(other, whole, err_msg=f"{name} {number}")


def _of_uses(count: int = 3, text: str = "taken", used: bool = True) -> str:
    rows = [
        {"event": "ros2:rmw_take", "used": used, "use": text, "count": count},
        {"event": "ros2:rmw_take", "used": False, "use": "nothing was taken", "count": 1},
    ]
    return digest(Rows.of_records(EVENT_USES, rows))


def test_a_digest_is_of_all_values() -> None:
    known = _of_uses()
    assert known == _of_uses()
    assert known.startswith("2 ")
    assert len({known, _of_uses(count=4), _of_uses(text="used"), _of_uses(used=False)}) == 4


def test_a_digest_is_of_nine_digits_of_fractions() -> None:
    def of(value: float) -> str:
        filler = {"int64": 1, "string": "a", "bool": True}
        row = {one.name: filler.get(one.dtype, value) for one in HOP_LAYER_STATS.columns}
        return digest(Rows.of_records(HOP_LAYER_STATS, [row]))

    assert of(0.1 + 0.2) == of(0.3)
    assert of(0.5) == of(0.49999999999999994)
    assert of(3_000_000_002.0) == of(3_000_000_001.9999995)
    assert len({of(0.3), of(0.3001), of(-0.3), of(0.0), of(0.6), of(0.15), of(0.300000003)}) == 7
